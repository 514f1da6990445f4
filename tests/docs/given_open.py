"""What a reader of the pages of the service has already: two asks that wait."""

import sayso

with sayso.Desk() as waiting:
    waiting.open("refund", {"order": 7, "amount": 40})
    waiting.open("refund", {"order": 8, "amount": 12})
