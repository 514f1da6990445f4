"""Where a link of an agent goes: said in full before anybody follows it."""

from __future__ import annotations

from sayso.channels.urls import url_of
from sayso.web.look.prose import outside
from sayso.web.look.views import Away


def away(address: str) -> Away:
    """Return what a page says of an address; only one on the web can be gone to."""
    found, goes = url_of(address), outside(address)
    if found is None:
        return Away(address=address, host="", href=None)
    href = None if goes is None else goes.url
    return Away(address=address, host=found.host, href=href, beware=found.warnings)
