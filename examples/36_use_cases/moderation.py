"""Content moderation: clear spam is hidden at once, whatever needs judgement waits for people.

Runs by itself, in databases of its own; the people here are played by the program. Who may do
what is in moderation.toml.
"""

import sqlite3
import tempfile
from pathlib import Path

import sayso
from sayso.errors import Denied

POLICY = Path(__file__).with_suffix(".toml")
POSTS = [  # id, author, text
    (1, "bot", "Cheap pills!!!"),
    (2, "troll", "You are all idiots"),
    (3, "joker", "Buy my book, it is terrible"),
    (4, "mayor", "Vote for me"),
    (5, "grump", "What a silly idea"),
]
# What the model says to each: a reason, and how sure it is.
FLAGS = [("spam", 0.99), ("insult", 0.95), ("spam", 0.6), ("spam", 0.92), ("insult", None)]


def main(desk: sayso.Desk, site: sqlite3.Connection) -> None:
    for name in ("mia", "mo"):
        desk.people.add(name)  # their roles are in the policy

    def hide(ask: sayso.Ask) -> None:
        call = desk.begin(ask)  # spends the approval, or raises
        with site:
            site.execute("update posts set hidden = 1 where id = ?", [call.args["post"]])
        desk.finish(call, result="hidden")

    waiting = {}
    for (post, author, text), (reason, sure) in zip(POSTS, FLAGS, strict=True):
        try:
            ask = desk.open(
                "hide",
                {"post": post, "reason": reason},
                confidence=sure,
                facts={"text": text},
                tags=["official"] if author == "mayor" else [],
            )
        except Denied as error:
            print(f"post {post}: {error.sentence}")
            continue
        if ask.open:
            waiting[post] = ask
            print(f"post {post}: waits for {ask.content.needs}")
        else:
            hide(ask)
            print(f"post {post}: hidden, as the policy allows")

    hide(desk.approve(waiting[2], by="mo"))
    desk.reject(waiting[3], "That is a joke", kind="taste", by="mia")
    late = desk.sweep(now=waiting[5].due_at).expired  # six hours later
    print(f"nobody looked at {len(late)} within 6 hours: not hidden")

    for row in site.execute("select id, case hidden when 1 then 'hidden' else text end from posts"):
        print(*row)


if __name__ == "__main__":
    site = sqlite3.connect(":memory:")
    site.execute("create table posts (id, author, text, hidden default 0)")
    site.executemany("insert into posts (id, author, text) values (?, ?, ?)", POSTS)
    with (
        tempfile.TemporaryDirectory() as folder,
        sayso.Desk(f"sqlite:///{folder}/desk.db", policy=POLICY) as desk,
    ):
        main(desk, site)
