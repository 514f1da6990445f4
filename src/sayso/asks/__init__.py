"""Everything that happens to an ask and its effect: opening, deciding, spending, waiting.

Functions here read a standing (the ask, the time, the people, all from one
statement), work out the next event, and append it. If somebody was faster the
append is refused and they look again; there are no locks to hold.
"""
