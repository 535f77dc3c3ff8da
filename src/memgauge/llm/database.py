"""A SQLite file that processes and threads of one machine share; every fault of it is one clear error.

Write-ahead log, so not on a network drive. A killed process loses nothing that was committed; a machine without
power loses at most the last second of writing (a flush to disk for each reply would slow a local model down).
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memgauge.errors import InputError

WAIT_SECONDS = 120.0  # for another process that is writing
_FLUSH_SECONDS = 1.0
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_CURES = {
    sqlite3.SQLITE_FULL: "free space and run again; what was committed before is kept",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable, or choose another folder",
    sqlite3.SQLITE_CANTOPEN: "make its folder writable, or choose another folder",
    sqlite3.SQLITE_PERM: "make the file and its folder writable, or choose another folder",
    sqlite3.SQLITE_BUSY: "another process has been writing for too long; wait for it or stop it, then run again",
}


@dataclass(slots=True, eq=False)
class Database:
    """A SQLite file of ours: opened at first use, in each process anew; every fault is one clear error.

    `number` marks the file as ours (SQLite's application id), `what` names it in errors, `cure` says what to do
    with a damaged one.
    """

    file: Path
    what: str
    cure: str
    number: int
    schema: tuple[str, ...]
    wait_seconds: float = WAIT_SECONDS
    beside_damaged: bool = False  # whether to begin anew while a damaged file of this name lies beside
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _connection: sqlite3.Connection | None = None
    _inode: int = 0
    _process: int = 0
    _flushed: float = 0.0
    _inherited: list[sqlite3.Connection] = field(default_factory=list)

    @contextmanager
    def transaction(self, write: bool = True) -> Iterator[sqlite3.Connection]:
        """The connection; what is written is committed on leaving, or rolled back with an exception."""
        with self._lock:
            try:
                connection = self._open()
                with connection:
                    if write:
                        connection.execute("BEGIN IMMEDIATE")
                    yield connection
                if write and time.monotonic() > self._flushed + _FLUSH_SECONDS:
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                    self._flushed = time.monotonic()
            except sqlite3.Error as error:
                raise self._fault(error) from error
            except UnicodeDecodeError as error:  # SQLite's own message quotes the bytes it cannot read
                raise self.damaged("its table of contents cannot be read") from error

    def damaged(self, reason: str) -> InputError:
        """Set the file aside, once, and say where it lies."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        try:
            if self._in_place():  # else another process has set it aside already
                number = 1 + max((int(p.suffix[9:]) for p in self._aside()), default=0)
                aside = self.file.with_name(f"{self.file.name}.damaged-{number}")
                self.file.rename(aside)
                for tail in ("-wal", "-shm"):
                    side = self.file.with_name(self.file.name + tail)
                    if side.exists():
                        side.rename(aside.with_name(aside.name + tail))
        except OSError as error:
            return InputError(
                f"the {self.what} {self.file} is damaged ({reason}) and cannot be moved: {error.strerror}"
            )
        return self._set_aside(reason)

    def _aside(self) -> list[Path]:
        found = self.file.parent.glob(f"{self.file.name}.damaged-*")
        return sorted(path for path in found if path.suffix[9:].isdecimal())

    def _set_aside(self, reason: str) -> InputError:
        last = max(self._aside(), key=lambda path: int(path.suffix[9:]), default=self.file)
        return InputError(f"the {self.what} {self.file} is damaged ({reason}); it now lies in {last}: {self.cure}")

    def _fault(self, error: sqlite3.Error) -> Exception:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:  # the module's own complaint: a bug of ours
            return error
        primary = code & 0xFF
        if primary in _DAMAGE:
            return self.damaged(str(error))
        cure = _CURES.get(primary, "check the disk and run again")
        return InputError(f"the {self.what} {self.file} cannot be used: {error}; {cure}")

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process != os.getpid():
            self._inherited.append(self._connection)  # closing a parent's connection in a fork would harm it
            self._connection = None
        if self._connection is None:
            self._connection = self._connect()
            self._process = os.getpid()
        elif not self._in_place():
            raise InputError(f"the {self.what} {self.file} was moved, replaced or deleted while in use; run again")
        return self._connection

    def _in_place(self) -> bool:
        return self.file.exists() and self.file.stat().st_ino == self._inode

    def _connect(self) -> sqlite3.Connection:
        if not self.beside_damaged and not self.file.exists() and self._aside():
            raise self._set_aside("found at an earlier run")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make {self.file.parent} for the {self.what}: {error.strerror}") from error
        connection = sqlite3.connect(self.file, self.wait_seconds, isolation_level=None, check_same_thread=False)
        self._inode = self.file.stat().st_ino
        connection.text_factory = lambda text: text.decode("utf-8", "replace")  # what is damaged fails its checksum
        self._log_ahead(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        if connection.execute("PRAGMA application_id").fetchone()[0] != self.number:
            self._create(connection)
        return connection

    def _log_ahead(self, connection: sqlite3.Connection) -> None:
        """Switch to the write-ahead log; SQLite itself does not wait when two processes do so at once."""
        end = time.monotonic() + self.wait_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def _create(self, connection: sqlite3.Connection) -> None:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            found = connection.execute("PRAGMA application_id").fetchone()[0]
            if found == self.number:  # another process was first
                return
            if found or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise InputError(f"{self.file} is a database, but no {self.what} of this version; choose another path")
            for statement in (*self.schema, f"PRAGMA application_id = {self.number}"):
                connection.execute(statement)
