"""Pages are drawn from what the desk says, which is tested on both databases elsewhere."""

from __future__ import annotations

from tests.web.one_place import shared_place

__all__ = ["shared_place"]
