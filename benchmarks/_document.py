"""The trust score of the document on human oversight, as it stands there: a baseline, and unsafe.

Five rejections divide by zero; from the sixth on the quotient is negative, so that an agent that was
always rejected is free; ten approvals free every action for ever. Nothing but benchmarks and tests
uses it.
"""

from __future__ import annotations


class DocumentTrust:
    """`risk / (1 + trust) > 0.5` asks; +0.1 for an approval, -0.2 for a rejection."""

    def __init__(self) -> None:
        self.trust = 0.0

    def asks(self, risk: float) -> bool:
        """Whether an action of this risk is put before a person."""
        return risk / (1 + self.trust) > 0.5

    def decided(self, *, approved: bool) -> None:
        """Take a decision in."""
        self.trust += 0.1 if approved else -0.2
