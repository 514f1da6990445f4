"""An email assistant as a LangGraph graph: triage, notices, mails and meetings that a person decides.

LangGraph runs a node again after each pause. What its handler does after an answer it does
by `sayso.effect`; without that, two calls in one message would send the first one twice. Runs by
itself: the person is played by the program, the models are functions of what they are shown.
"""

import tempfile
from collections.abc import Callable

from mail_graph import assistant
from mail_models import SENT

import sayso


def main(folder: str) -> None:
    with sayso.Desk(f"sqlite:///{folder}/desk.db", account="anna") as desk:
        graph = assistant(folder)

        def arrives(email: str, *decisions: Callable[[sayso.Ask], object]) -> None:
            run = desk.run(graph, {"email": email}, wait=False)
            for decide in decisions:
                (ask,) = run.state.pending
                print(f"  {ask.tool}: {', '.join(ask.allow)}")
                decide(ask)
                desk.resume(run, wait=False)
            print(f"{email}: {run.status}, {SENT}")

        arrives("unsubscribe here")
        arrives("build failed", desk.reject)
        arrives(
            "tax planning?",
            lambda ask: desk.edit(ask, {"duration_minutes": 30}),
            lambda ask: desk.respond(ask, "shorter, please"),
            desk.approve,
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(folder)
