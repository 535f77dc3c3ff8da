"""The response store: every finished reply by everything that was sent for it, in one file that runs share.

Each reply is committed at once: a killed process loses nothing that it finished.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol
from zlib import crc32

import msgspec
import zstandard

from memgauge.errors import InputError
from memgauge.llm.chat import ChatReply, Origin
from memgauge.llm.database import WAIT_SECONDS, Database

NUMBER = 0x6D67_0001  # marks the file as a response store of this version
_LOOKUP = 500  # keys per query, below SQLite's limit of variables
_LEVEL = 3  # of zstandard: a prompt shrinks three to four times in some 50 microseconds
_CURE = (
    "copy its readable replies into a new store with `python -m memgauge.llm.salvage` and its name,"
    " or move it elsewhere to start empty; every call in it would then be made, and paid, again"
)
SCHEMA = (
    "CREATE TABLE replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL, sum INTEGER NOT NULL,"
    " sample INTEGER NOT NULL, payload BLOB NOT NULL)",
    "CREATE TABLE failures (key TEXT PRIMARY KEY, reply TEXT NOT NULL, sum INTEGER NOT NULL,"
    " sample INTEGER NOT NULL, payload BLOB NOT NULL)",
    "CREATE TABLE adaptations (model TEXT PRIMARY KEY, change TEXT NOT NULL)",
    "CREATE TABLE used (cell TEXT, run TEXT, key TEXT, PRIMARY KEY (cell, run, key)) WITHOUT ROWID",
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it is kept: what was sent, which sample of it, what came back."""

    key: str
    sample: int
    payload: dict[str, Any]
    reply: ChatReply


class Replies(Protocol):
    """What the stored model needs of a response store or a tape."""

    def find(self, keys: Iterable[str]) -> dict[str, ChatReply]:
        """The replies that are there, by key."""
        ...

    def add(self, key: str, payload: Mapping[str, Any], sample: int, reply: ChatReply, readable: bool = True) -> None:
        """Keep a reply; one that its asker cannot read is not to be found again."""
        ...

    def use(self, run: str, cell: str, keys: Iterable[str]) -> None:
        """Note that a stage cell's present results rest on these calls."""
        ...


def canonical(value: Any) -> str:
    """The one JSON text of a value: keys sorted, no spaces, ASCII; 1.0 is 1, as it is in JSON.

    Raises InputError for a number that JSON does not know.

    >>> canonical({"top_p": 1.0, "messages": ["é"]})
    '{"messages":["\\\\u00e9"],"top_p":1}'
    """
    try:
        return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise InputError(
            f"a request holds a number that is not finite ({error}); correct its decoding options"
        ) from error


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def key(payload: Mapping[str, Any], sample: int) -> str:
    """SHA-256 of all that was sent and of the sample's index, as hex.

    An absent field differs from 0; the order of keys does not matter.

    >>> key({"model": "m", "top_p": 1}, 0) == key({"top_p": 1.0, "model": "m"}, 0) != key({"model": "m"}, 0)
    True
    """
    return sha256(canonical({"payload": dict(payload), "sample": sample}).encode()).hexdigest()


def usable(reply: ChatReply) -> bool:
    """Whether a reply may be kept for later, as far as it shows itself: finished by itself, and not blank.

    >>> usable(ChatReply("Oslo", "stop")), usable(ChatReply("The city of", "length"))
    (True, False)
    """
    return reply.status == "ok" and reply.finish_reason == "stop" and bool(reply.text.strip())


def write_reply(reply: ChatReply) -> str:
    """A reply as JSON; lone surrogates, which UTF-8 has no bytes for, stay as escapes."""
    return canonical(asdict(reply))


def read_reply(text: str, origin: Origin) -> ChatReply:
    """A reply from JSON; raises msgspec.ValidationError or ValueError when it is none."""
    return replace(msgspec.convert(json.loads(text), ChatReply), origin=origin)


def checksum(call_key: str, text: str) -> int:
    """What a reply's row is checked with when it is read."""
    return crc32(f"{call_key} {text}".encode())


@dataclass(frozen=True, slots=True, eq=False)
class ResponseStore:
    """Finished replies by key in one file; see the module. Errors: InputError for every fault of the file."""

    file: Path
    wait_seconds: float = WAIT_SECONDS
    _database: Database = field(init=False, repr=False)

    def __post_init__(self) -> None:
        database = Database(self.file, "response store", _CURE, NUMBER, SCHEMA, self.wait_seconds)
        object.__setattr__(self, "_database", database)

    def __reduce__(self) -> tuple[type["ResponseStore"], tuple[Path, float]]:
        return ResponseStore, (self.file, self.wait_seconds)  # a worker opens the file itself

    def __str__(self) -> str:
        return f"the response store {self.file}"

    def find(self, keys: Iterable[str]) -> dict[str, ChatReply]:
        """The usable replies that are there, by key, with origin "store"."""
        return {call_key: self._read(call_key, reply, total) for call_key, reply, total in self._rows(keys, "replies")}

    def add(self, key: str, payload: Mapping[str, Any], sample: int, reply: ChatReply, readable: bool = True) -> None:
        """Commit a reply. A key that is there already stays as it is.

        A reply that is not usable, or that its asker cannot read, is never found again; the last one of a key is
        kept beside, for the tape of results that rest on it. One that was found and proved unreadable moves there.
        """
        good = usable(reply) and readable
        table, otherwise = ("replies", "IGNORE") if good else ("failures", "REPLACE")
        text = write_reply(replace(reply, origin="model"))  # the same text for a reply that this store gave
        blob = zstandard.compress(canonical(dict(payload)).encode(), _LEVEL)
        row = (key, text, checksum(key, text), sample, blob)
        with self._database.transaction() as connection:
            if not good:
                connection.execute("DELETE FROM replies WHERE key = ? AND sum = ?", (key, row[2]))
            connection.execute(f"INSERT OR {otherwise} INTO {table} VALUES (?, ?, ?, ?, ?)", row)

    def calls(self, keys: Iterable[str]) -> Iterator[Call]:
        """Whole calls in key order, failed ones where there is no usable reply; unknown keys are left out."""
        wanted = sorted(set(keys))
        for start in range(0, len(wanted), _LOOKUP):
            part = wanted[start : start + _LOOKUP]
            rows = {
                row[0]: row for table in ("failures", "replies") for row in self._rows(part, table, "sample, payload")
            }
            for call_key, reply, total, sample, blob in (rows[name] for name in part if name in rows):
                payload = json.loads(zstandard.decompress(blob))
                yield Call(call_key, sample, payload, self._read(call_key, reply, total))

    def remembered(self, model_id: str) -> dict[str, Any]:
        """How requests to a model were adapted to what its endpoint accepts; empty when nothing is known."""
        with self._database.transaction(write=False) as connection:
            row = connection.execute("SELECT change FROM adaptations WHERE model = ?", (model_id,)).fetchone()
        return dict(json.loads(row[0])) if row else {}

    def remember(self, model_id: str, change: Mapping[str, Any]) -> None:
        """Add to a model's adaptations, so that every process sends, and keys, the same payload."""
        with self._database.transaction() as connection:
            row = connection.execute("SELECT change FROM adaptations WHERE model = ?", (model_id,)).fetchone()
            merged = canonical({**(json.loads(row[0]) if row else {}), **change})
            connection.execute("INSERT OR REPLACE INTO adaptations VALUES (?, ?)", (model_id, merged))

    def adaptations(self) -> dict[str, dict[str, Any]]:
        """All that is remembered, by model."""
        with self._database.transaction(write=False) as connection:
            rows = connection.execute("SELECT model, change FROM adaptations ORDER BY model").fetchall()
        return {model: json.loads(change) for model, change in rows}

    def start_use(self, run: str, cell: str) -> None:
        """Forget what a cell used in this run: it is about to run again."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM used WHERE cell = ? AND run = ?", (cell, run))

    def use(self, run: str, cell: str, keys: Iterable[str]) -> None:
        """Note that a cell's results of this run rest on these calls."""
        with self._database.transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO used VALUES (?, ?, ?)", ((cell, run, name) for name in keys))

    def used(self, run: str, cells: Iterable[str] | None = None) -> dict[str, list[str]]:
        """The keys a run used, by cell, both in order; of the given cells only, where given."""
        wanted = None if cells is None else set(cells)
        with self._database.transaction(write=False) as connection:
            rows = connection.execute("SELECT cell, key FROM used WHERE run = ? ORDER BY cell, key", (run,)).fetchall()
        found: dict[str, list[str]] = {}
        for cell, name in rows:
            if wanted is None or cell in wanted:
                found.setdefault(cell, []).append(name)
        return found

    def _rows(self, keys: Iterable[str], table: str, more: str = "") -> list[tuple[Any, ...]]:
        wanted = sorted(set(keys))
        columns = "key, reply, sum" + (f", {more}" if more else "")
        rows: list[tuple[Any, ...]] = []
        with self._database.transaction(write=False) as connection:
            for start in range(0, len(wanted), _LOOKUP):
                part = wanted[start : start + _LOOKUP]
                marks = ",".join("?" * len(part))
                rows += connection.execute(f"SELECT {columns} FROM {table} WHERE key IN ({marks})", part).fetchall()
        return rows

    def _read(self, call_key: str, text: str, total: int) -> ChatReply:
        if checksum(call_key, text) != total:
            raise self._database.damaged(f"the reply of key {call_key[:12]} has another checksum")
        return read_reply(text, "store")
