"""Copies what can still be read of a damaged response store into a new one.

python -m memgauge.llm.salvage .dvc/tmp/memgauge/replies.sqlite.damaged-1
"""

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memgauge.errors import MemgaugeError
from memgauge.llm.database import Database
from memgauge.llm.store import NUMBER, SCHEMA, checksum

_CHECKED = ("replies", "failures")
_TABLES = (*_CHECKED, "adaptations", "used")


def salvage(damaged: Path, file: Path) -> dict[str, int]:
    """Rows copied of each table, `file` being made where it is absent; rows that are there already stay.

    Replies are copied only with their right checksum. Raises InputError when `file` itself cannot be used.
    """
    source = sqlite3.connect(f"file:{damaged}?mode=ro", uri=True, isolation_level=None)
    source.text_factory = lambda text: text.decode("utf-8", "replace")
    database = Database(file, "response store", "", NUMBER, SCHEMA, beside_damaged=True)
    copied = dict.fromkeys(_TABLES, 0)
    with database.transaction() as target:
        for table in _TABLES:
            for row in _readable(source, table):
                if table in _CHECKED and checksum(row[0], row[1]) != row[2]:
                    continue
                marks = ",".join("?" * len(row))
                copied[table] += target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row).rowcount
    source.close()
    return copied


def _readable(source: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """Every row that is read from either end before damage ends the reading, then row by row what lies between."""
    order = "cell, run, key" if table == "used" else "rowid"
    for direction in ("ASC", "DESC"):
        ended = True
        try:
            columns = ", ".join(f"{name} {direction}" for name in order.split(", "))
            yield from source.execute(f"SELECT * FROM {table} ORDER BY {columns}")
        except (sqlite3.Error, UnicodeDecodeError):
            ended = False
        if ended:
            return
    if table == "used":
        return
    for number in range(1, _last(source, table) + 1):
        try:
            yield from source.execute(f"SELECT * FROM {table} WHERE rowid = ?", (number,))
        except (sqlite3.Error, UnicodeDecodeError):
            continue


def _last(source: sqlite3.Connection, table: str) -> int:
    try:
        return int(source.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0)
    except (sqlite3.Error, UnicodeDecodeError):
        return 0


def main() -> int:
    """Copy the store named on the command line to the name it had before it was set aside."""
    if len(sys.argv) != 2 or ".damaged-" not in sys.argv[1]:
        print("usage: python -m memgauge.llm.salvage NAME.damaged-N", file=sys.stderr)
        return 2
    damaged = Path(sys.argv[1])
    file = damaged.with_name(damaged.name.partition(".damaged-")[0])
    try:
        copied = salvage(damaged, file)
    except MemgaugeError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"copied into {file}: " + ", ".join(f"{count} {table}" for table, count in copied.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
