"""A new memory system: one file, one row of the catalogue, one subtree of params.yaml, one name in `systems`."""

from pathlib import Path
from typing import Any

import pytest

from memgauge.errors import InputError
from memgauge.memory.base import Tools
from memgauge.memory.catalogue import SYSTEMS, make_system
from memgauge.params import load
from memgauge.protocol.conditions import write_store
from memgauge.records import History, Session, Turn
from memgauge.stages.table import check_name, check_params

REPOSITORY = Path(__file__).resolve().parent.parent
FILE = '''
from dataclasses import dataclass
from typing import ClassVar

from memgauge.memory.base import Written
from memgauge.memory.shared import dense_hits
from memgauge.records import Entry
from memgauge.text.render import render_turn


@dataclass(frozen=True, slots=True)
class LastTurns:
    """Keeps the last turns."""

    name: ClassVar[str] = "last_turns"
    card: ClassVar[dict[str, str]] = {"turns": "ours"}

    turns: int = 1

    def write(self, history, budget_tokens, tools):
        kept = list(history.turns())[-self.turns :]
        return Written(tuple(Entry(turn.id, render_turn(turn), (turn.id,), session.date) for session, turn in kept))

    def retrieve(self, store, queries, tools):
        return dense_hits(store, queries, tools.encoder)
'''


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The repository's parameters with the system added, its file on the path and its row in the catalogue."""
    (tmp_path / "last_turns.py").write_text(FILE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(SYSTEMS, "last_turns", "last_turns:LastTurns")
    tree = load(REPOSITORY / "params.yaml")
    tree["memory"]["last_turns"] = {"turns": 2}
    tree["systems"].append("last_turns")
    return tree


def test_a_new_system_is_known_to_the_pipeline_and_held_to_the_contract(added: dict[str, Any]) -> None:
    check_params(added)
    check_name("system", "last_turns", added)
    system = make_system("last_turns", added["memory"]["last_turns"])
    turns = tuple(Turn(f"t{at}", "Ann", f"word {at}") for at in range(9))
    store = write_store(
        system,
        History("h", "g", "test", (Session("s", None, turns),)),
        100,
        Tools(None, None),  # type: ignore[arg-type]
    )
    assert [entry.text for entry in store.entries] == ["Ann: word 7", "Ann: word 8"]
    assert (store.counts["turns_covered"], store.counts["turns_total"]) == (2, 9)


@pytest.mark.parametrize(
    ("options", "words"), [({"turn": 2}, "choose from turns"), ({"turns": 0}, "must be at least 1")]
)
def test_its_options_are_checked_like_those_of_the_others(
    added: dict[str, Any], options: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        make_system("last_turns", options)


def test_without_its_row_or_its_subtree_it_is_refused_by_name(added: dict[str, Any]) -> None:
    del added["memory"]["last_turns"]
    with pytest.raises(InputError, match="unknown memory system 'last_turns'"):
        check_params(added)
    added["memory"]["last_turns"] = {}
    del SYSTEMS["last_turns"]
    with pytest.raises(InputError, match="unknown memory system 'last_turns'"):
        check_params(added)
