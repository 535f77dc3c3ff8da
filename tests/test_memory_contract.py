"""Every memory system keeps the same promises, whatever it does inside."""

import re
import time
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.memory import catalogue, shared
from memgauge.memory.base import Query, Ranking, Tools
from memgauge.memory.catalogue import SYSTEMS, make_system
from memgauge.memory.shared import session_shares, split_text
from memgauge.memory.summary import Summary
from memgauge.memory.verbatim import Verbatim
from memgauge.protocol import conditions
from memgauge.protocol.conditions import complete, write_store
from memgauge.records import History, Question, Result, Session, Turn, Usage
from memgauge.report.card import baseline_card
from memgauge.retrieval.dense import SentenceEncoder
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.tasks.summarise_session import SummaryLine
from memgauge.text.render import entry_tokens
from memgauge.text.tokens import count_tokens
from memgauge.text.words import words

from .scripted_writers import SAYINGS, FirstWords, HashEncoder, history

KEEPS_TEXT = ["verbatim", "extractive"]
CHOOSES = ["memwalker", "readagent", "memoryos", "memorycpt"]  # ranks what it chose to look at, not the whole store
SLOW = {"memoryos": "about 10 s: three tasks of whole pages for each of 1,400 messages"}
WHOLE = {"lightmem": {"rate": 1.0}}  # options under which a system itself leaves out no word
MARKS_IDS = ["memorybank", "memoryos", "memorycpt"]  # writes into its entries' ids what it needs to rank them
QUERIES = [Query("Where did Ann move?"), Query("What is Bob allergic to?", "2023-09-01"), Query("")]


class Scripted:
    """A writer with one given result per session."""

    def __init__(self, *results) -> None:
        self.results = results

    def solve(self, tasks):
        return list(self.results)


def tools(solver=None) -> Tools:
    return Tools(solver or FirstWords(), HashEncoder())


def one_session(*texts: str) -> History:
    turns = tuple(Turn(f"t{at}", "Ann", text) for at, text in enumerate(texts))
    return History("h", "g", "test", (Session("s", "2023-05-08", turns),))


@pytest.fixture(params=list(SYSTEMS))
def system(request):
    return make_system(request.param, {})


@pytest.mark.parametrize("budget", [1, 15, 40, 100, 333, 2000])
def test_the_system_itself_keeps_the_write_budget(system, budget):
    written = system.write(history(), budget, tools())
    assert sum(map(entry_tokens, written.entries)) <= budget
    store = write_store(system, history(), budget, tools())
    assert store.counts["dropped_over_budget"] == 0
    assert complete(Question("q", "h", "?", "t"), store).tokens <= budget


def test_sources_exist_ids_differ_and_dates_are_their_sessions(system):
    dates = {turn.id: session.date for session, turn in history().turns()}
    store = write_store(system, history(), 400, tools())
    assert store.counts["sources_unknown"] == 0
    assert store.entries
    for entry in store.entries:
        assert entry.text.strip()
        spanned = {dates[source] for source in entry.sources}
        assert spanned == {entry.date} or (len(spanned) > 1 and entry.date is None)


def test_entries_stand_in_history_order(system):
    order = {turn.id: at for at, (_, turn) in enumerate(history().turns())}
    firsts = [order[entry.sources[0]] for entry in write_store(system, history(), 400, tools()).entries]
    assert firsts == sorted(firsts)


def test_writing_and_ranking_twice_give_the_same(system):
    first, second = (write_store(system, history(), 300, tools()) for _ in range(2))
    assert first == second
    assert system.retrieve(first, QUERIES, tools()) == system.retrieve(second, QUERIES, tools())


def test_every_query_gets_a_ranking_of_distinct_entries_in_decided_order(system):
    store = write_store(system, history(), 300, tools())
    rankings = system.retrieve(store, QUERIES, tools())
    assert len(rankings) == len(QUERIES)
    for ranking in rankings:
        hits = list(ranking.hits)
        positions = {hit.position for hit in hits}
        assert len(positions) == len(hits) > 0
        assert positions <= set(range(len(store.entries)))
        assert len(hits) == len(store.entries) or system.name in CHOOSES
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.position))
    if system.name not in CHOOSES:  # a query without words
        assert [hit.position for hit in rankings[2].hits] == list(range(len(store.entries)))


def test_an_empty_history_gives_an_empty_store_with_a_warning(system):
    for empty in (History("h", "g", "test", ()), History("h", "g", "test", (Session("s", None, ()),))):
        store = write_store(system, empty, 100, tools())
        assert (store.entries, store.warnings) == ((), (conditions.EMPTY_STORE,))
        assert system.retrieve(store, QUERIES, tools()) == [Ranking(())] * 3


def test_a_one_turn_history_is_kept(system):
    store = write_store(system, one_session("I moved to Lisbon."), 100, tools())
    assert "Lisbon" in store.entries[0].text
    assert store.entries[0].sources == ("t0",)
    assert store.warnings == ()


def test_a_turn_without_text_makes_no_entry_of_its_own(system):
    store = write_store(system, one_session("", "  ", "I moved to Lisbon."), 100, tools())
    assert len(store.entries) == 1


@pytest.fixture(scope="module")
def long() -> History:
    turns = [f"{SAYINGS[at % 6]} {at} " + "and so on we talked " * 20 for at in range(1400)]
    made = one_session(*turns, "One huge message. " * 20_000)
    assert sum(count_tokens(turn.text) for _, turn in made.turns()) > 200_000
    return made


def test_a_session_of_two_hundred_thousand_tokens_is_written_in_bounded_time(system, long):
    start = time.process_time()
    store = write_store(system, long, 2000, tools())
    assert time.process_time() - start < 20
    assert 1500 < store.tokens <= 2000


def test_without_a_model_two_hundred_thousand_tokens_are_written_in_ten_seconds(system, long):
    if system.name in SLOW:
        pytest.skip(SLOW[system.name])
    encoder = HashEncoder()
    start = time.process_time()
    store = write_store(system, long, 2000, Tools(ExtractiveSolver(encoder), encoder))
    assert time.process_time() - start < 10
    assert 0 < store.tokens <= 2000


def test_renaming_every_id_leaves_texts_ranks_and_scores_unchanged(system):
    plain = write_store(system, history(), 300, tools())
    renamed = write_store(system, history(prefix="zz9-"), 300, tools())
    assert [entry.text for entry in renamed.entries] == [entry.text for entry in plain.entries]
    ids = renamed
    if system.name not in MARKS_IDS:
        entries = tuple(replace(each, id=f"x{99 - at}") for at, each in enumerate(renamed.entries))
        ids = replace(renamed, entries=entries)
    assert system.retrieve(ids, QUERIES, tools()) == system.retrieve(plain, QUERIES, tools())


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_an_unlimited_budget_keeps_injected_evidence_and_counts_what_is_covered(system, place):
    """Of a writer that leaves out nothing: what is lost then is lost by the system."""
    needle = "The locker code is 4417 and Zoe keeps the spare key."
    sayings = [*SAYINGS] * 8
    sayings.insert(at := {"first": 0, "middle": 20, "last": 48}[place], needle)
    whole = make_system(system.name, WHOLE.get(system.name, {}))
    store = write_store(whole, one_session(*sayings), 10**6, tools(FirstWords(most=None)))
    assert any(needle in entry.text and f"t{at}" in entry.sources for entry in store.entries)
    assert store.counts["turns_total"] == store.counts["turns_covered"] == 49
    assert {source for entry in store.entries for source in entry.sources} == {f"t{number}" for number in range(49)}
    assert store.warnings == ()


@pytest.mark.parametrize("budget", [40, 400])
def test_the_solver_without_a_model_writes_within_the_budget(system, budget):
    encoder = HashEncoder()
    store = write_store(system, history(), budget, Tools(ExtractiveSolver(encoder), encoder))
    assert store.counts["dropped_over_budget"] == store.counts.get("sources_unknown", 0) == 0
    assert store.tokens <= budget
    if budget == 400:
        assert store.entries
        assert not any(count for name, count in store.counts.items() if name.startswith("status_"))
    said = set(words(" ".join(f"{turn.speaker} {turn.text}" for _, turn in history().turns())))
    assert all(said & set(words(entry.text)) for entry in store.entries)
    assert write_store(system, history(), budget, Tools(ExtractiveSolver(encoder), encoder)) == store


@pytest.mark.parametrize("name", KEEPS_TEXT)
def test_an_unlimited_budget_keeps_every_word_of_a_long_turn(name):
    text = " ".join(f"word{at}{'.' if at % 9 == 0 else ''}" for at in range(900))
    store = write_store(make_system(name, {}), one_session(text), 10**6, tools())
    kept = set(words(" ".join(entry.text for entry in store.entries)))
    assert {f"word{at}" for at in range(900)} <= kept


def test_no_system_reads_a_clock_or_an_unnamed_generator():
    for module in sorted((Path(catalogue.__file__).parent).glob("*.py")):
        assert not re.search(r"\b(?:time|datetime|random)\b(?!\w)", "\n".join(_imports(module))), module.name


def _imports(module: Path) -> list[str]:
    return [line for line in module.read_text().splitlines() if re.match(r"\s*(?:from|import) ", line)]


def test_systems_import_neither_datasets_nor_metrics_nor_each_other():
    for name in SYSTEMS:
        lines = "\n".join(_imports(Path(catalogue.__file__).parent / f"{name}.py"))
        others = "|".join(other for other in SYSTEMS if other != name)
        assert not re.search(rf"memgauge\.(?:datasets|metrics|protocol|memory\.(?:{others}|catalogue))", lines)


@pytest.fixture(scope="module")
def encoder(models):
    if not (models / "minilm" / "model.safetensors").is_file():
        pytest.skip("the sentence encoder is not in models/minilm")
    return SentenceEncoder(models / "minilm")


@pytest.mark.models
def test_the_real_encoder_finds_a_paraphrase(system, encoder):
    texts = ["I repaired the old tractor.", "My daughter was born in spring.", "The soup was too salty."]
    sessions = tuple(Session(str(at), None, (Turn(str(at), "Ann", text),)) for at, text in enumerate(texts))
    store = write_store(system, History("h", "g", "test", sessions), 200, Tools(FirstWords(), encoder))
    real = Tools(ExtractiveSolver(encoder), encoder)
    (ranking,) = system.retrieve(store, [Query("When did she have a baby girl?")], real)
    assert "daughter" in store.entries[ranking.hits[0].position].text


# --- one system's own promises


def test_verbatim_evicts_the_oldest_and_never_crosses_a_session():
    everything = Verbatim().write(history(), 10**6, tools())
    cut = Verbatim().write(history(), 200, tools())
    assert cut.entries == everything.entries[-len(cut.entries) :]
    assert cut.counts == {"passages_evicted": len(everything.entries) - len(cut.entries)}
    assert sum(map(entry_tokens, everything.entries[-len(cut.entries) - 1 :])) > 200
    for entry in everything.entries:
        assert len({source.split(".")[0] for source in entry.sources}) == 1


def test_verbatim_passages_hold_whole_turns_up_to_their_size():
    entries = Verbatim(passage_tokens=60).write(history(2, 12), 10**6, tools()).entries
    assert all(count_tokens(entry.text) <= 60 for entry in entries)
    lines = [line for entry in entries for line in entry.text.splitlines()]
    assert lines == [f"{turn.speaker}: {turn.text}" for _, turn in history(2, 12).turns()]
    assert [source for entry in entries for source in entry.sources] == [turn.id for _, turn in history(2, 12).turns()]


def test_extractive_prefers_statements_with_cues():
    store = write_store(
        make_system("extractive", {}),
        one_session("Haha that is so true.", "I will fly to Porto with Zoe on 3 March.", "Sounds good to me."),
        32,
        tools(),
    )
    assert [entry.text for entry in store.entries] == ["Ann: I will fly to Porto with Zoe on 3 March."]


def test_extractive_does_not_count_the_name_of_a_speaker():
    extractive = make_system("extractive", {})
    assert extractive.value("Bob: Wow, Ann, so kind!", {"ann", "bob"}) == 0
    assert extractive.value("Bob: Wow, Zoe, so kind!", {"ann", "bob"}) == 1


def test_extractive_repeats_the_speaker_on_pieces_of_a_long_turn():
    text = "I like tea. " * 60
    entries = make_system("extractive", {"piece_tokens": 20}).write(one_session(text), 10**6, tools()).entries
    assert len(entries) > 5
    assert all(entry.text.startswith("Ann: I like tea.") and entry.sources == ("t0",) for entry in entries)


def test_summary_asks_for_all_sessions_in_one_call_within_shares_that_fit():
    solver = FirstWords()
    Summary().write(history(), 600, tools(solver))
    assert len(solver.calls) == 1
    assert len(solver.calls[0]) == 6
    assert sum(task.budget_tokens for task in solver.calls[0]) <= 600
    assert solver.calls[0][0].turns[0] == ("Bob", f"{SAYINGS[0]} 0 0")


def test_summary_makes_one_entry_a_session_from_the_lines_that_fit():
    lines = tuple(SummaryLine(f"Fact number {at} about the trip.", (at,)) for at in range(3))
    entry_cost = 9 + 8  # the heading and the first line; the second line no longer fits
    (entry,), counts = _written(Scripted(Result(lines, "ok")), one_session("a trip", "b", "c"), entry_cost)
    assert (entry.text, entry.sources) == ("Fact number 0 about the trip.", ("t0",))
    assert counts["lines_dropped"] == 2


def test_summary_cuts_a_first_line_that_is_too_long():
    (entry,), counts = _written(Scripted(Result((SummaryLine("word " * 99),), "ok")), one_session("a word"), 30)
    assert entry_tokens(entry) <= 30
    assert counts["lines_cut"] == 1


def test_summary_without_named_turns_comes_from_the_whole_session():
    (entry,), _ = _written(Scripted(Result((SummaryLine("Ann"),), "ok")), one_session("a", "b"), 99)
    assert entry.sources == ("t0", "t1")


def test_summary_counts_positions_that_name_no_turn_and_keeps_the_rest():
    (entry,), counts = _written(Scripted(Result((SummaryLine("Ann", (1, 7, -1)),), "ok")), one_session("a", "b"), 99)
    assert (entry.sources, counts["sources_out_of_range"]) == (("t1",), 2)


def test_summary_counts_what_failed_and_keeps_the_other_sessions():
    failed = Result(None, "parse_error", Usage(7, 3, 1))
    fine = Result((SummaryLine("Ann"),), "ok", Usage(10, 5, 1))
    entries, counts = _written(Scripted(failed, fine), history(2, 2), 200)
    assert [entry.date for entry in entries] == ["2023-02-05T10:00"]
    assert (counts["sessions_failed"], counts["status_parse_error"]) == (1, 1)
    assert (counts["writer_calls"], counts["writer_input_tokens"], counts["writer_output_tokens"]) == (
        2,
        17,
        8,
    )


def test_summary_counts_sessions_whose_share_holds_no_word():
    solver = FirstWords()
    written = Summary().write(history(), 30, tools(solver))
    assert (written.entries, solver.calls) == ((), [])
    assert written.counts["sessions_without_share"] == 6


def _written(solver, of, budget):
    written = Summary().write(of, budget, tools(solver))
    return written.entries, written.counts


# --- shared helpers and the catalogue


def test_shares_go_by_the_square_root():
    assert session_shares([100, 400, 0], 90) == [30, 60, 0]
    assert session_shares([2, 2, 2], 9) == [3, 3, 3]
    assert session_shares([], 9) == session_shares([], 0) == []
    assert session_shares([0, 0], 9) == [0, 0]


@given(st.lists(st.integers(0, 10**6), max_size=40), st.integers(0, 10**5))
def test_shares_are_whole_sum_within_the_budget_and_are_monotone(lengths, budget):
    shares = session_shares(lengths, budget)
    assert all(isinstance(share, int) and share >= 0 for share in shares)
    assert budget - len(lengths) < sum(shares) <= budget or not any(lengths)
    ordered = [share for _, share in sorted(zip(lengths, shares, strict=True))]
    assert ordered == sorted(ordered)
    assert all(more >= share for more, share in zip(session_shares(lengths, budget + 1), shares, strict=True))


@given(st.text(alphabet="ab c.!\n字é", max_size=200), st.integers(1, 30))
def test_pieces_are_the_text_and_keep_their_limit(text, limit):
    pieces = split_text(text, limit)
    assert "".join(pieces) == text
    assert all(piece and count_tokens(piece) <= max(limit, 3) for piece in pieces)  # one character: up to 3


def test_the_store_is_encoded_once_for_all_queries():
    class Counting(HashEncoder):
        calls = 0

        def encode(self, texts):
            self.calls += 1
            return super().encode(texts)

    encoder = Counting()
    store = write_store(Verbatim(), history(), 300, tools())
    shared.dense_hits(store, QUERIES * 5, encoder)
    assert encoder.calls == 2


def test_defaults_and_options_reach_the_system():
    assert make_system("verbatim", {}) == Verbatim(200)
    assert make_system("verbatim", {"passage_tokens": 50}) == Verbatim(50)
    assert make_system("extractive", {"negation": 2}).negation == 2


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("foo", {}, f"unknown memory system 'foo'; choose from {', '.join(SYSTEMS)}"),
        ("verbatim", {"size": 1}, "'size'; choose from passage_tokens"),
        ("verbatim", {"passage_tokens": 0}, "memory.verbatim.passage_tokens is 0; it must be at least 1"),
        ("verbatim", {"passage_tokens": "9"}, "must be a whole number"),
        ("verbatim", {"passage_tokens": True}, "must be a whole number"),
        ("extractive", {"date": -1.0}, "finite number of at least 0"),
        ("extractive", {"date": float("nan")}, "finite number of at least 0"),
    ],
)
def test_unknown_names_and_wrong_values_are_refused(name, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        make_system(name, options)


def test_every_hyperparameter_has_its_source_on_the_card(system):
    """And the card shows the value of this run beside the default."""
    assert list(system.card) == [field.name for field in fields(system)]
    page = baseline_card([system.name], {system.name: {}})
    assert all(f"| {system.name} | {name} |" in page for name in system.card)
    assert f"## {system.name}" in page


def test_the_card_shows_the_runs_own_values():
    page = baseline_card(["verbatim"], {"verbatim": {"passage_tokens": 64}})
    assert "| verbatim | passage_tokens | 64 | 200 | paper A, section 4: 200 |" in page
