"""What a reader of the page on backups has already: runs, one of them approved, calls that wait, a token."""

import sayso

with sayso.Desk() as shop:

    @shop.gate
    def refund(order: int) -> str:
        return "paid"

    @shop.workflow
    def settle(run: sayso.Running, order: int) -> str:
        return run.call(refund, order)

    shop.approve(shop.run(settle, 7, wait=False).state.pending[0])
    shop.run(settle, 8, wait=False)
    shop.open("refund", {"order": 9})
    shop.open("refund", {"order": 10})
    shop.tokens.make("bot")
