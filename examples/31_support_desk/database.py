"""A database that matters: to make it, to copy it, to delete it.

python database.py      puts three customers into data/customers.db
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import sayso

DATA, BACKUPS = Path("data"), Path("backups")
NAMES = [("Rosa",), ("Emil",), ("Ida",)]


def make(name: str = "customers") -> None:
    """Put a database with rows into the folder."""
    DATA.mkdir(exist_ok=True)
    with closing(sqlite3.connect(DATA / f"{name}.db")) as file, file:
        file.execute("CREATE TABLE customers (name TEXT)")
        file.executemany("INSERT INTO customers VALUES (?)", NAMES)


@sayso.tool(idempotent=True)  # one key, one file: after a crash it may be done again
def backup(name: str) -> dict[str, str | int]:
    """Copy a database, and say what is in the copy."""
    if name not in [file.stem for file in DATA.glob("*.db")]:  # a model's word is no path
        raise ValueError(f"There is no database {name!r}.")
    copy = BACKUPS / f"{name}-{sayso.current_call().key}.db"
    BACKUPS.mkdir(exist_ok=True)
    shutil.copy(DATA / f"{name}.db", copy)
    with closing(sqlite3.connect(copy)) as file:
        rows = file.execute("SELECT count(*) FROM customers").fetchone()[0]
    return {"backup": str(copy), "rows": rows}


def drop(name: str) -> str:
    """Delete a database. It must not happen twice: after a crash a person is asked."""
    (DATA / f"{name}.db").unlink()
    return f"The database {name} is deleted."


if __name__ == "__main__":
    make()
