"""MemoryOS: the queue, chains, segments by F, heat, capacity, long-term memory, and what an answer is shown."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from hashlib import sha256
from math import exp
from typing import Any

import numpy as np
import pytest

from memgauge.errors import InputError
from memgauge.memory.base import Query, Tools
from memgauge.memory.memoryos import Memoryos
from memgauge.memory.memoryos_pages import Chain, make_pages
from memgauge.memory.memoryos_search import Search, Tiers
from memgauge.memory.memoryos_segments import Filed, Heat, MidTerm, Segment, fold, keyword_overlap, survivors
from memgauge.memory.memoryos_store import Shelf, fitted, read_segment, segment_text
from memgauge.protocol.conditions import write_store
from memgauge.records import Entry, History, Result, Session, Store, Turn, Usage
from memgauge.solvers.extractive.fact_lists import profile_users
from memgauge.solvers.extractive.pages import describe_chains, judge_continuities, name_themes, pick_keywords
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.language_model import LanguageModelSolver
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.describe_chain import DescribeChain
from memgauge.tasks.judge_continuity import JudgeContinuity
from memgauge.tasks.list_facts import SourcedFact
from memgauge.tasks.name_themes import NameThemes, Theme
from memgauge.tasks.pick_keywords import PickKeywords
from memgauge.tasks.profile_user import Portrait, ProfileUser
from memgauge.text.render import entry_tokens
from memgauge.text.tokens import count_tokens
from memgauge.text.words import words

from .scripted_writers import Parrot

SUBJECTS = ["harbour boats in winter", "plum cake for Zoe", "bicycle brakes and chains", "the choir of Porto"]
NEEDLE = "The locker code is 4417 and Zoe keeps the spare key."


class HashEncoder:
    """Unit vectors of hashed words: alike where words are shared."""

    def encode(self, texts: Sequence[str]) -> Any:
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, int.from_bytes(sha256(word.encode()).digest()[:2], "big") % 512] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


def last_words(task: NameThemes) -> tuple[Theme, ...]:
    """A page is about what its first speaker says after "about"."""
    subject = task.turns[0][1].rpartition("about ")[2]
    return (Theme(subject, tuple(subject.split()[:2])),)


def quoted(task: ProfileUser) -> Portrait:
    """The profile counts its revisions; the first turn is a fact of the user, the last one of the other side."""
    facts = [SourcedFact(at, text) for at, (_, _, text) in enumerate(task.turns)]
    return Portrait(f"{task.profile}I".strip(), (facts[0],), (facts[-1],))


class Scripted:
    """Answers every kind of task by a function; None is an unreadable reply."""

    def __init__(self, **answers: Callable[[Any], Any]) -> None:
        defaults: dict[str, Callable[[Any], Any]] = {
            "judge_continuity": lambda task: False,
            "describe_chain": lambda task: f"{task.so_far or 'On'} {len(task.turns)}",
            "name_themes": last_words,
            "profile_user": quoted,
            "pick_keywords": lambda task: tuple(task.question.split()[:1]),
        }
        self.answers = defaults | answers
        self.calls: list[list[Any]] = []

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        self.calls.append(list(tasks))
        outputs = [self.answers[task.name](task) for task in tasks]
        return [Result(each, "ok" if each is not None else "parse_error", Usage(9, 3, 1)) for each in outputs]

    def asked(self, name: str) -> list[Any]:
        return [task for call in self.calls for task in call if task.name == name]


def tools(solver: Any = None) -> Tools:
    return Tools(solver or Scripted(), HashEncoder())


def history(*sessions: tuple[str | None, Sequence[str]], speakers: Sequence[str] = ("Ann", "Bo")) -> History:
    return History(
        "h",
        "g",
        "test",
        tuple(
            Session(
                f"s{s}",
                date,
                tuple(Turn(f"t{s}.{t}", speakers[t % len(speakers)], text) for t, text in enumerate(texts)),
            )
            for s, (date, texts) in enumerate(sessions)
        ),
    )


def talks(days: int, subjects: Sequence[str] = SUBJECTS) -> History:
    """A page a day, each about one of the subjects in turn."""
    said = [[f"On day {day} I speak about {subjects[day % len(subjects)]}", f"Reply {day}."] for day in range(days)]
    return history(*((f"2023-01-{day + 1:02}", texts) for day, texts in enumerate(said)))


def stored(of: History, budget: int = 10**6, solver: Any = None, **options: Any) -> Store:
    return write_store(Memoryos(**options), of, budget, tools(solver))


def tier(store: Store, name: str) -> list[Entry]:
    return [entry for entry in store.entries if entry.id.partition("-")[0] == name]


# --- heat, F, capacity by hand


def segment(number: int, visits: int = 0, length: int = 0, day: float = 0.0, pages: Sequence[int] = ()) -> Segment:
    return Segment(number, Theme(f"theme {number}"), list(pages), visits, length, day)


def test_heat_by_hand() -> None:
    assert Heat().of(segment(0, length=4, day=3.0), 3.0) == 5.0  # 0 + 4 + exp(0)
    assert Heat().of(segment(0, visits=2, length=1, day=3.0), 4.0) == pytest.approx(3 + exp(-1))
    evaluation = Heat(0.8, 0.8, 0.0001, 3600 / 86400)
    assert evaluation.of(segment(0, visits=1, length=5), 1.0) == pytest.approx(4.8 + 0.0001 * exp(-24))
    assert Heat().of(segment(0, day=9.0), 3.0) == 1.0  # nothing cools before it was touched


def test_keyword_overlap_by_hand() -> None:
    assert keyword_overlap(fold(["a", "b"]), fold(["B", "c", "d", "e"])) == (1 / 2 + 1 / 4) / 2
    assert keyword_overlap(fold(["a"]), fold(["A"])) == 1
    assert keyword_overlap(fold([]), fold(["a"])) == keyword_overlap(fold(["a"]), fold(["b"])) == 0


def filed(themes: Sequence[Sequence[Theme]], vectors: Sequence[Sequence[float]], **rules: Any) -> Filed:
    settings = {"similarity": 0.6, "keyword_weight": 1.0, "heat": Heat(), "hot": 5.0, "capacity": 2000} | rules
    days = [float(day) for day in range(len(themes))]
    return MidTerm(**settings).file(themes, np.array(vectors, dtype=np.float32), days)


def test_a_page_goes_to_the_segment_of_the_highest_f_and_else_to_a_new_one() -> None:
    themes = [[Theme("a", ("x", "y"))], [Theme("b", ("z",))], [Theme("c", ("z", "v"))]]
    # Third page: with the first .5 + 0, with the second 0 + (1/1 + 1/2) / 2 = .75.
    vectors = [[1, 0, 0], [0, 1, 0], [0.5, 0, 0.866]]
    assert [one.pages for one in filed(themes, vectors).segments] == [[0], [1, 2]]
    assert [one.pages for one in filed(themes, vectors, similarity=0.76).segments] == [[0], [1], [2]]
    assert [one.pages for one in filed(themes, vectors, keyword_weight=0.5, similarity=0.5).segments] == [[0, 2], [1]]


def test_a_page_of_two_themes_is_in_two_segments_and_once_in_one() -> None:
    themes = [[Theme("a"), Theme("b")], [Theme("b"), Theme("b")]]
    made = filed(themes, [[1, 0], [0, 1], [0, 1], [0, 1]])
    assert [(one.pages, one.length) for one in made.segments] == [([0], 1), ([0, 1], 3)]


def test_a_hot_segment_is_analysed_once_a_page_and_cools() -> None:
    themes = [[Theme("a")]] * 9
    made = filed(themes, [[1, 0]] * 9)
    # Heat is pages + 1: 5 at the fourth, 0 after it, 5 again at the eighth.
    assert made.analyses == [[0, 1, 2, 3], [4, 5, 6, 7]]
    (only,) = made.segments
    assert (only.length, only.visits, only.heat, only.day) == (1, 0, 2.0, 8.0)


def test_the_hottest_is_analysed_first() -> None:
    themes = [[Theme("a")], [Theme("b")], [Theme("b")], [Theme("a")], [Theme("b")]]
    made = filed(themes, [[1, 0], [0, 1], [0, 1], [1, 0], [0, 1]], hot=3.0)
    assert made.analyses == [[1, 2], [0, 3]]


def test_what_goes_last() -> None:
    visited, long, old, new = segment(0, visits=1), segment(1, length=9), segment(2, length=2), segment(3, length=2)
    assert [one.number for one in survivors([old, long, new, visited], Heat(), 50.0)] == [0, 1, 3, 2]
    fresh = segment(4, length=2, day=49.5)
    assert [one.number for one in survivors([fresh, new], Heat(), 50.0)] == [4, 3]


def test_capacity_evicts_the_coolest_but_never_the_newest() -> None:
    themes = [[Theme("a")], [Theme("a")], [Theme("b")], [Theme("c")]]
    made = filed(themes, [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], capacity=2)
    assert [(one.number, one.pages) for one in made.segments] == [(0, [0, 1]), (2, [3])]
    assert made.evicted == 1
    assert [one.pages for one in filed(themes, [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], capacity=1).segments] == [
        [3]
    ]


# --- pages, queue, chains


def test_a_page_is_a_turn_and_its_answer_and_never_crosses_a_session() -> None:
    pages = make_pages(history(("2023-01-01", ["a b", "c d", "e f"]), (None, ["g h"])), 200)
    assert [(page.entry.text, page.entry.date, page.session) for page in pages] == [
        ("Ann: a b\nBo: c d", "2023-01-01", 0),
        ("Ann: e f", "2023-01-01", 0),
        ("Ann: g h", None, 1),
    ]
    assert [page.one_sided for page in pages] == [False, True, True]
    pieces = make_pages(history((None, ["I like tea. " * 60, "Ok."])), 20)
    assert len(pieces) > 5
    assert all(page.entry.text.startswith(("Ann: I like", "Bo: Ok")) for page in pieces)


def test_the_newest_pages_wait_in_the_queue_and_the_rest_is_filed() -> None:
    store = stored(talks(10), short_term=3, hot=99.0)
    assert [entry.sources[0] for entry in tier(store, "short")] == ["t7.0", "t8.0", "t9.0"]
    assert [entry.sources[0] for entry in tier(store, "page")] == [f"t{day}.0" for day in range(7)]
    assert len(tier(store, "segment")) == store.counts["segments"] == 4
    assert read_segment(tier(store, "segment")[1].text) == (SUBJECTS[1], ("plum", "cake"))


def test_pages_that_carry_on_are_chained_and_every_link_rewrites_the_description() -> None:
    solver = Scripted(judge_continuity=lambda task: "day 3" not in task.page[1][0][1])
    store = stored(talks(7), solver=solver, short_term=1, hot=99.0)
    assert len(solver.asked("judge_continuity")) == 5
    rewritings = solver.asked("describe_chain")
    # Chains of pages 0-2 and 3-5: both pages at the first link, the new one at every other, both chains in one call.
    assert [(task.so_far, len(task.turns)) for task in rewritings] == [(None, 4), (None, 4), ("On 4", 2), ("On 4", 2)]
    assert [(entry.text, len(entry.sources), entry.date) for entry in tier(store, "chain")] == [("On 4 2", 6, None)] * 2
    assert store.counts["chains"] == 2


def test_a_failed_link_breaks_the_chain_and_a_failed_rewriting_changes_nothing() -> None:
    asked: list[Any] = []

    def describe(task: DescribeChain) -> str | None:
        asked.append(task)
        return None if len(asked) == 2 else f"{len(task.turns)} turns"

    links = iter([True, True, True, None])
    solver = Scripted(judge_continuity=lambda task: next(links), describe_chain=describe)
    store = stored(talks(6), solver=solver, short_term=1, hot=99.0)
    assert [len(task.turns) for task in asked] == [4, 2, 4]  # what failed is told again
    assert [entry.text for entry in tier(store, "chain")] == ["4 turns"]
    assert (store.counts["continuities_failed"], store.counts["descriptions_failed"]) == (1, 1)


def test_as_released_a_page_of_one_side_is_lost() -> None:
    of = history(*((f"2023-01-0{day}", [f"About {NEEDLE}"]) for day in range(1, 6)), ("2023-01-09", ["a b", "c d"] * 2))
    assert len(tier(stored(of, short_term=1), "page")) == 6
    store = stored(of, short_term=1, as_released=True)
    assert len(tier(store, "page")) == 1
    assert store.counts["pages_lost_as_released"] == 5


# --- long-term memory


def test_profile_and_facts_of_hot_segments_one_call_after_the_other() -> None:
    solver = Scripted()
    store = stored(talks(10, SUBJECTS[:1]), solver=solver, short_term=1)
    asked = solver.asked("profile_user")
    assert [(task.user, task.profile, len(task.turns)) for task in asked] == [("Ann", "", 8), ("Ann", "I", 8)]
    (profile,) = tier(store, "profile")
    assert (profile.text, len(profile.sources), profile.date) == ("II", 16, None)
    assert [(entry.sources, entry.date) for entry in tier(store, "user")] == [
        (("t0.0",), "2023-01-01"),
        (("t4.0",), "2023-01-05"),
    ]
    assert [entry.text for entry in tier(store, "agent")] == ["Reply 3.", "Reply 7."]


def test_a_failed_portrait_leaves_what_was_known() -> None:
    solver = Scripted(profile_user=lambda task: None if task.profile else Portrait("Rows."))
    store = stored(talks(10, SUBJECTS[:1]), solver=solver, short_term=1)
    assert [entry.text for entry in tier(store, "profile")] == ["Rows."]
    assert store.counts["portraits_failed"] == 1


def test_each_list_of_facts_drops_its_oldest() -> None:
    store = stored(talks(10, SUBJECTS[:1]), short_term=1, facts=1)
    assert [entry.sources for entry in (*tier(store, "user"), *tier(store, "agent"))] == [("t4.0",), ("t7.1",)]
    assert store.counts["facts_evicted"] == 2


def test_the_user_is_the_one_called_user_else_the_first_to_speak() -> None:
    solver = Scripted()
    of = history(*((None, ["Hello there.", "I speak about boats"]) for _ in range(9)), speakers=("assistant", "user"))
    stored(of, solver=solver, short_term=1)
    assert solver.asked("profile_user")[0].user == "user"


# --- budget


@pytest.mark.parametrize("budget", [1, 15, 40, 100, 333, 1000, 2000])
def test_the_budget_and_its_shares_hold(budget: int) -> None:
    store = stored(talks(28), budget, Scripted(judge_continuity=lambda task: True))
    assert store.tokens <= budget
    assert store.counts["dropped_over_budget"] == 0
    assert sum(map(entry_tokens, tier(store, "short"))) <= 0.15 * budget
    long_term = [*tier(store, "profile"), *tier(store, "user"), *tier(store, "agent")]
    assert sum(map(entry_tokens, long_term)) <= 0.5 * budget
    assert store.counts["pages_evicted"] + len(tier(store, "page")) + len(tier(store, "short")) == 28


def test_a_shelf_keeps_whole_segments_then_the_newest_pages_of_the_next() -> None:
    pages = make_pages(talks(6), 200)
    chains = [Chain((at,)) for at in range(6)]
    first, second, third = segment(0, pages=[0, 1]), segment(1, pages=[2, 3, 4]), segment(2, pages=[5])
    cost = [entry_tokens(page.entry) for page in pages]
    title = entry_tokens(Entry("", segment_text(first), (), "2023-01-01"))
    shelf = Shelf(pages, chains, 2 * title + cost[0] + cost[1] + cost[3] + cost[4])
    shelf.fill([first, second, third])
    assert [entry.id for entry in shelf.entries] == ["segment-0", "segment-1", "page-0", "page-1", "page-3", "page-4"]
    # A summary comes from the page that founded the segment even where that page is gone.
    assert shelf.entries[1].sources == ("t2.0", "t2.1", "t3.0", "t3.1", "t4.0", "t4.1")
    assert shelf.left >= 0


def test_a_text_is_cut_to_fit_or_left_out() -> None:
    entry = Entry("profile", "Ann likes rowing and tea and cakes.", (), None)
    assert fitted(entry, 99) == entry
    short = fitted(entry, 9)
    assert short is not None
    assert entry.text.startswith(short.text)
    assert 0 < entry_tokens(short) <= 9
    assert fitted(entry, 3) is None


@pytest.mark.parametrize("place", [0, 10, 20])
def test_injected_evidence_survives_an_unlimited_budget(place: int) -> None:
    sayings = [f"Nothing new about {SUBJECTS[at % 4]} {at}." for at in range(20)]
    sayings.insert(place, NEEDLE)
    store = stored(history(("2023-01-01", sayings)))
    assert any(NEEDLE in entry.text for entry in store.entries)
    assert store.counts["turns_covered"] == store.counts["turns_total"] == 21
    assert store.warnings == ()


def test_failed_themes_file_each_page_by_its_own_text() -> None:
    solver = Scripted(name_themes=lambda task: None)
    store = stored(talks(6), solver=solver, short_term=1, similarity=1.1)
    assert store.counts["themes_failed"] == 5
    assert [entry.text for entry in tier(store, "segment")] == [entry.text for entry in tier(store, "page")]


# --- retrieval


def shown(store: Store, question: str, solver: Any = None, **options: Any) -> list[str]:
    (ranking,) = Memoryos(**options).retrieve(store, [Query(question)], tools(solver))
    assert list(ranking.hits) == sorted(ranking.hits, key=lambda hit: (-hit.score, hit.position))
    return [store.entries[hit.position].id for hit in ranking.hits]


def test_an_answer_is_shown_the_profile_the_queue_and_what_fits_the_question() -> None:
    store = stored(talks(12), solver=Scripted(judge_continuity=lambda task: False), short_term=2, hot=3.0)
    ids = shown(store, "plum cake for Zoe")
    assert ids[0] == "profile"
    assert "user-2" in ids
    assert "agent-3" not in ids  # its fact is not like the question
    assert {"short-10", "short-11"} <= set(ids)
    assert {"page-1", "page-5", "page-9"} <= set(ids)
    assert not any(name.startswith("segment") for name in ids)


def test_pages_come_from_the_best_segments_alone_with_their_chains() -> None:
    solver = Scripted(judge_continuity=lambda task: "day 1 " in task.page[1][0][1])
    store = stored(talks(12), solver=solver, short_term=1, hot=99.0)
    ids = shown(store, "plum cake for Zoe", segments_searched=1, page_floor=0.2)
    assert set(ids) == {"short-11", "page-1", "page-5", "page-9", "chain-0"}
    one = shown(store, "plum cake for Zoe", segments_searched=1, pages_shown=1)
    assert set(one) == {"short-11", "page-1", "chain-0"}


def test_keywords_can_decide_the_segment_and_fail_without_harm() -> None:
    entries = (
        Entry("segment-0", "boats\nFiled under sea.", ("a",)),
        Entry("page-0", "Ann: boats", ("a",)),
        Entry("segment-1", "cakes\nFiled under plum.", ("b",)),
        Entry("page-1", "Ann: boats", ("b",)),
    )
    tiers = Tiers(entries)
    assert tiers.texts == ["boats", "Ann: boats", "cakes", "Ann: boats"]
    search = Search(1, 0.1, 1.0, 10, 0.1, 10, 0.1)
    cosines = np.array([0.4, 0.5, 0.0, 0.5])
    assert [hit.position for hit in search.hits(tiers, cosines, ())] == [1]
    assert [hit.position for hit in search.hits(tiers, cosines, ("Plum",))] == [3]  # F = 0 + 1 against .4
    store = Store("h", "memoryos", entries, 99, 99)
    (ranking,) = Memoryos().retrieve(store, [Query("boats")], tools(Scripted(pick_keywords=lambda task: None)))
    assert (ranking.counts["keywords_failed"], ranking.counts["status_parse_error"]) == (1, 1)
    assert ranking.hits


def test_facts_are_shown_by_side_up_to_their_number_and_floor() -> None:
    entries = tuple(Entry(f"{side}-{at}", f"{side} {at}", (str(at),)) for side in ("user", "agent") for at in range(3))
    cosines = np.array([0.3, 0.05, 0.2, 0.5, 0.4, 0.3])
    hits = Search(5, 0.1, 1.0, 10, 0.1, 2, 0.1).hits(Tiers(entries), cosines, ())
    assert [(hit.position, hit.score) for hit in hits] == [(3, 0.5), (4, 0.4), (0, 0.3), (2, 0.2)]


def test_a_page_without_a_segment_is_its_own_and_unknown_ids_are_pages() -> None:
    tiers = Tiers((Entry("x7", "Ann: boats", ("a",)), Entry("page-3", "Ann: cakes", ("b",))))
    assert [folder.pages for folder in tiers.folders] == [(0,), (1,)]


def test_asking_does_not_change_a_store_and_order_of_questions_does_not_matter() -> None:
    store = stored(talks(12), short_term=2)
    queries = [Query("plum cake"), Query("harbour boats"), Query("plum cake")]
    first, second, third = Memoryos().retrieve(store, queries, tools())
    assert first == third
    assert Memoryos().retrieve(store, queries[::-1], tools()) == [third, second, first]


def test_an_empty_store_asks_nothing() -> None:
    solver = Scripted()
    store = stored(history((None, ["", " "])), solver=solver)
    assert (store.entries, Memoryos().retrieve(store, [Query("?")], tools(solver))[0].hits) == ((), ())
    assert solver.calls == []


# --- tasks


def test_tasks_keep_the_contract_and_show_their_inputs() -> None:
    page = ("2023-05-08", (("Ann", "I {moved}."),))
    tasks: list[Any] = [
        JudgeContinuity(page, (None, (("Bo", "Where?"),))),
        DescribeChain("So.", page[1], 40),
        DescribeChain(None, page[1], 40),
        NameThemes(page[1]),
        ProfileUser("Ann", "", (("2023-05-08", "Ann", "I {moved}."),), 50),
    ]
    for task in tasks:
        assert isinstance(task, Task)
        content = task.messages()[1]["content"]
        assert "Ann: I {moved}." in content
        assert "None" not in content
    assert "So far: So." in tasks[1].messages()[1]["content"]
    assert "So far" not in tasks[2].messages()[1]["content"]
    assert "Question: Who?" in PickKeywords("Who?").messages()[1]["content"]


@pytest.mark.parametrize(
    ("task", "reply"),
    [
        (JudgeContinuity((None, ()), (None, ())), reply) for reply in ("", "yes, but", "maybe", "yes no", "1", "はい")
    ]
    + [(DescribeChain(None, (), 9), reply) for reply in ("", " \n…")]
    + [
        (NameThemes(()), reply)
        for reply in (
            "", "cakes", "{}", '{"themes": []}', '{"themes": [{"summary": "a"}]}', '{"themes": ["a"]}',
            '{"themes": [{"summary": "", "keywords": []}]}', '{"themes": [{"summary": "a", "keywords": [1]}]}',
            '{"themes": [' + ", ".join(['{"summary": "a", "keywords": []}'] * 3) + "]}",
        )
    ]
    + [
        (ProfileUser("Ann", "", ((None, "Ann", "a"),), 9), reply)
        for reply in (
            "", '{"profile": "a"}', '{"profile": 1, "user_facts": [], "assistant_facts": []}',
            '{"profile": "a", "user_facts": [{"message": 2, "fact": "x"}], "assistant_facts": []}',
            '{"profile": "a", "user_facts": [], "assistant_facts": null}',
        )
    ]
    + [(PickKeywords("Who?"), reply) for reply in ("", "a, b, c, d", "a,,b", "x" * 50, "...")],
)  # fmt: skip
def test_replies_are_read_strictly(task: Any, reply: str) -> None:
    assert isinstance(task.parse(reply), ParseFailure)


@pytest.mark.parametrize("reply", ["", "Sure!", "yes", '{"themes": [{"summary": "x"', "とても", "{" * 10_000])
def test_garbage_of_a_language_model_never_crashes_and_shows_in_counts(reply: str) -> None:
    solver = LanguageModelSolver(Parrot(reply))
    store = stored(talks(12), 600, solver)
    assert store.tokens <= 600
    assert store.counts["themes_failed"] == 12 - len(tier(store, "short"))
    assert store.counts["continuities_failed"] == (0 if reply == "yes" else store.counts["themes_failed"] - 1)
    (ranking,) = Memoryos().retrieve(store, [Query("plum cake")], tools(solver))
    assert ranking.hits
    assert ranking.counts.get("keywords_failed", 0) == (1 if not reply else ranking.counts.get("status_parse_error", 0))


# --- without a language model


def solve(method: Any, *tasks: Any) -> Any:
    return method(tasks, Vectors(HashEncoder()), Weights())


def test_pages_alike_carry_on_and_more_so_within_a_session() -> None:
    boats = (("Ann", "The harbour has old boats."),)
    more = (("Bo", "Old boats need paint."),)
    cake = (("Bo", "Zoe bakes plum cake."),)
    same = JudgeContinuity(("2023-01-01", boats), ("2023-01-01", more))
    later = JudgeContinuity(("2023-01-01", boats), ("2023-02-01", more))
    other = JudgeContinuity(("2023-01-01", boats), ("2023-01-01", cake))
    assert solve(judge_continuities, same, later, other) == [True, False, False]


def test_a_chain_is_described_within_its_budget_from_what_was_told_before_too() -> None:
    turns = (("Ann", "I moved to Lisbon in March."), ("Bo", "I will visit you in June."))
    (first,) = solve(describe_chains, DescribeChain(None, turns[:1], 60))
    assert first == "Ann: I moved to Lisbon in March."
    (second,) = solve(describe_chains, DescribeChain(first, turns[1:], 60))
    assert second == f"{first}\nBo: I will visit you in June."
    assert count_tokens(solve(describe_chains, DescribeChain(first, turns * 9, 20))[0]) <= 20


def test_a_theme_is_the_telling_sentence_with_names_first_among_its_keywords() -> None:
    ((theme,), (empty,)) = solve(
        name_themes, NameThemes((("Ann", "Hi! I moved to Lisbon with Zoe."),)), NameThemes((("Ann", "Really?"),))
    )
    assert theme.summary == "Ann: I moved to Lisbon with Zoe."
    assert theme.keywords[:2] in (("lisbon", "zoe"), ("zoe", "lisbon"))
    assert empty.summary == "Ann: Really?"


def test_keywords_of_a_question_are_its_names_and_rare_words() -> None:
    (keywords,) = solve(pick_keywords, PickKeywords("When did Zoe repaint the old harbour boat?"))
    assert keywords[0] == "zoe"
    assert len(keywords) == 3
    assert solve(pick_keywords, PickKeywords("")) == [()]


def test_a_portrait_holds_likes_and_the_facts_of_both_sides() -> None:
    turns = (
        ("2023-05-08", "Ann", "I love rowing. I moved to Lisbon in 2021."),
        ("2023-05-08", "Bo", "In Porto I bought two boats."),
        ("2023-05-08", "Ann", "Nice for you."),
    )
    (portrait,) = solve(profile_users, ProfileUser("Ann", "Ann: I like tea.", turns, 99))
    assert portrait.profile.splitlines()[:2] == ["Ann: I like tea.", "Ann: I love rowing."]
    assert SourcedFact(0, "Ann: I moved to Lisbon in 2021.") in portrait.user_facts
    assert [fact.turn for fact in portrait.assistant_facts] == [1]
    (short,) = solve(profile_users, ProfileUser("Ann", "Ann: I like tea.", turns, 10))
    assert short.profile == "Ann: I love rowing."


# --- bad values


@pytest.mark.parametrize(
    ("options", "message"),
    [({"short_term_share": 0.8, "long_term_share": 0.3}, "at most 1 together"), ({"tau_days": 0.0}, "above 0")],
)
def test_values_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stored(talks(3), **options)


def test_every_hyperparameter_has_its_source_on_the_card() -> None:
    assert list(Memoryos.card) == [field.name for field in fields(Memoryos)]
