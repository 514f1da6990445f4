"""Review a draft: approve it, edit it, or send it back with a word; every version is kept.

At a terminal you decide, and may kill the program at any pause: `sayso runs resume ID` goes on.
Without a terminal, a scripted reviewer sends it back twice and then puts a hand to it.
"""

import sys
from itertools import pairwise

import sayso
from sayso.testing import scripted

desk = sayso.Desk()
FAULT = "Your order is late, and that is our fault."
CURE = "From Monday on every parcel leaves within a day."


def write(guidance: str | None) -> str:
    """Stand in for a model: it heeds what the reviewer says."""
    wanted = guidance or ""
    lines = ["Dear customer,", "we regret any inconvenience that may have been caused."]
    if "plain" in wanted:
        lines[1] = FAULT
    if "what we do" in wanted:
        lines.append("Our logistics will be optimised going forward.")
    return "\n".join([*lines, "Your shop"])


@desk.workflow
def letter(run: sayso.Running) -> str | None:
    text: str | None = run.draft(write, title="Letter to customers who wait")
    return text  # None if it was dropped


def main() -> None:
    run = desk.run(letter)
    versions = desk.versions(run.asks[-1])
    for before, after in pairwise(versions):
        print(f"sent back: {after.guidance}" if after.guidance else "changed by hand")
        print(after.diff(before))
    print(f"{len(versions)} versions; the last one:")
    print(run.result() or "(dropped)")


if __name__ == "__main__":
    if sys.stdin.isatty():
        main()
    else:
        with scripted() as reviewer:
            reviewer.respond("draft", "in plain words")
            reviewer.respond(
                lambda ask: FAULT in ask.args["text"], "in plain words, and say what we do about it"
            )
            reviewer.edit(
                lambda ask: "logistics" in ask.args["text"],
                f"Dear customer,\n{FAULT}\n{CURE}\nYour shop",
            )
            main()
