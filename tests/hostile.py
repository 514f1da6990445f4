"""Text made to deceive the person who reads it, and what must not come of it."""

from __future__ import annotations

BIDI = "pay\u202e001\u202c"
ANSI = "safe\x1b[2K\x1b[1A\x1b[31mred"
ZERO_WIDTH = "ad\u200bmin"
MARKUP = "[bold red]approved[/bold red] [link=http://x]y[/link] :warning:"
FAKED = "nothing to see\nDecision  approved by root\n\nChoose an option:\n1. Approve"

# Everything at once, as an agent would send it.
ALL = f"{BIDI} {ANSI} {ZERO_WIDTH} {MARKUP}"

LABELS = ("[U+202E RIGHT-TO-LEFT OVERRIDE]", "[U+001B ESCAPE]", "[U+200B ZERO WIDTH SPACE]")


def raw_in(text: str) -> list[str]:
    """The characters of a text that should never reach a screen as they are."""
    return [char for char in text if char in "\u202e\u202c\u200b\x1b\x07\x08"]
