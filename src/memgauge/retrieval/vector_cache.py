"""Vectors of texts already encoded, in memory and optionally in a file that several processes share."""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import InputError

Vector = NDArray[np.float32]
_WAIT_SECONDS = 120.0  # for another process that is writing
_LOOKUP = 500  # keys per query, below SQLite's limit of variables


def text_key(text: str) -> bytes:
    """SHA-256 of a text; lone surrogates, which no encoding knows, count as they are.

    >>> text_key("a").hex()[:8]
    'ca978112'
    """
    return sha256(text.encode("utf-8", errors="surrogatepass")).digest()


@dataclass(slots=True)
class VectorCache:
    """Vectors of one model by text key. `file`: a SQLite database, or None to keep them in memory only."""

    model: str
    file: Path | None = None
    _known: dict[bytes, Vector] = field(default_factory=dict)
    _database: sqlite3.Connection | None = None

    def find(self, keys: Iterable[bytes]) -> Mapping[bytes, Vector]:
        """What is known, by key, after looking the rest up in the file."""
        missing = sorted({key for key in keys if key not in self._known})
        if missing and self.file is not None:
            try:
                self._read(self._open(self.file), missing)
            except sqlite3.Error as error:
                raise self._unusable(error) from error
        return self._known

    def add(self, vectors: Mapping[bytes, Vector]) -> None:
        """Keep new vectors; a key that another process has added meanwhile stays as it is."""
        self._known.update(vectors)
        if vectors and self.file is not None:
            rows = [(self.model, key, vector.astype("<f4").tobytes()) for key, vector in vectors.items()]
            try:
                with self._open(self.file) as database:
                    database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
            except sqlite3.Error as error:
                raise self._unusable(error) from error

    def _read(self, database: sqlite3.Connection, keys: list[bytes]) -> None:
        for start in range(0, len(keys), _LOOKUP):
            part = keys[start : start + _LOOKUP]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, vector FROM vectors WHERE model = ? AND key IN ({marks})"
            for key, blob in database.execute(query, (self.model, *part)):
                self._known[key] = np.frombuffer(blob, dtype="<f4").astype(np.float32)

    def _open(self, file: Path) -> sqlite3.Connection:
        if self._database is None:
            file.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(file, timeout=_WAIT_SECONDS)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute(
                "CREATE TABLE IF NOT EXISTS vectors"
                " (model TEXT, key BLOB, vector BLOB, PRIMARY KEY (model, key)) WITHOUT ROWID"
            )
            self._database = database
        return self._database

    def _unusable(self, error: sqlite3.Error) -> InputError:
        return InputError(f"the vector cache {self.file} cannot be used: {error}; delete it and run again")
