"""Workflows that belong to no desk: every desk of the process they live in serves them.

They are held weakly: an agent that its program forgot is served no more.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

AMBIENT: WeakValueDictionary[str, Any] = WeakValueDictionary()  # of `Workflow`, by name
