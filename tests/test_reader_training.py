"""The tuned reader: what it learns from, that it learns, that nothing leaks and that every byte repeats."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.errors import AssetError, InputError
from memgauge.llm.chat import ChatReply, ChatRequest
from memgauge.llm.local import LocalChatModel
from memgauge.records import Benchmark
from memgauge.stages import tune_reader
from memgauge.text.render import render_turn
from memgauge.training.lora import attach, save
from memgauge.training.reader_check import check_reader, held_out
from memgauge.training.reader_pairs import (
    MOST_DISTRACTORS,
    REFUSAL,
    STORE_TURNS,
    ReaderTraining,
    check_leaks,
    reader_pairs,
    training_histories,
)
from memgauge.training.sft import Row, Schedule, _step, reply_loss, train

from .tiny_model import build_tiny

PAIRS = 24


def evaluated() -> Benchmark:
    """The test split of a benchmark like the pipeline's."""
    some = [pair for pair in generate(SyntheticOptions(histories=8), 17) if pair[0].split == "test"]
    return Benchmark("synthetic", tuple(h for h, _ in some), tuple(q for _, asked in some for q in asked))


@pytest.fixture(scope="module")
def histories() -> Any:
    return training_histories(PAIRS, 6, 3)


@pytest.fixture(scope="module")
def pairs(histories: Any) -> Any:
    return reader_pairs(histories, PAIRS, 3, evaluated())


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, pairs: Any) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    build_tiny(folder, [message["content"] for pair in pairs for message in pair.task.messages()], vocabulary=700)
    return folder


@pytest.fixture(scope="module")
def rows(base: Path, pairs: Any) -> list[Row]:
    return tune_reader.encode_pairs(LocalChatModel(base), pairs, 2000)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_pairs_are_of_train_histories_and_show_the_evidence_or_teach_to_decline() -> None:
    made = training_histories(200, 6, 3)
    assert made == training_histories(200, 6, 3)
    many = reader_pairs(made, 200, 3, evaluated())
    assert many == reader_pairs(made, 200, 3, evaluated())
    few = [pair.target for pair in reader_pairs(made, 200, 3, evaluated(), declining=0.05)]
    assert (len(few), few.count(REFUSAL)) == (200, 10)
    known = {q.text + str(q.date): (h, q) for h, asked in made for q in asked}
    sizes: Counter[int] = Counter()
    for pair in many:
        history, question = known[pair.task.question + str(pair.task.question_date)]
        assert history.split == "train"
        lines = {render_turn(turn): turn.id for _, turn in history.turns()}
        shown = [lines[line] for line in pair.task.context.splitlines() if line in lines]
        assert len(shown) == len(pair.turns)
        present = set(question.evidence) & set(shown)
        if pair.target == REFUSAL:
            assert not present
        else:
            assert pair.target == question.golds[0]
            assert present == set(question.evidence)
        sizes[len(shown) - len(present)] += 1
    declined = [pair for pair in many if pair.target == REFUSAL]
    assert 0.1 < len(declined) / len(many) < 0.4
    assert any(pair.golds for pair in declined), "evidence taken away"
    assert any(not pair.golds for pair in declined), "never told"
    assert (
        set(range(MOST_DISTRACTORS + 1))
        < set(sizes)
        <= {*range(MOST_DISTRACTORS + 1), *range(STORE_TURNS[0], STORE_TURNS[1] + 1)}
    )


def test_what_the_benchmark_evaluates_is_never_trained_on(histories: Any, pairs: Any) -> None:
    check_leaks(pairs, evaluated())
    train = [pair for pair in histories if pair[0].split == "train"]
    same = Benchmark("synthetic", tuple(h for h, _ in train), tuple(q for _, asked in train for q in asked))
    with pytest.raises(InputError, match="synthetic evaluates"):
        check_leaks(pairs, same)
    with pytest.raises(InputError, match="histories of another seed"):
        reader_pairs(histories, PAIRS, 3, same)


def test_one_evidence_turn_or_one_question_with_its_gold_is_a_leak(pairs: Any) -> None:
    other = evaluated()
    question = next(q for q in other.questions if q.golds)
    texts = {turn.id: turn.text for h in other.histories for _, turn in h.turns()}
    plain = pairs[0]
    told = replace(plain, turns=(*plain.turns, f"  {texts[question.evidence[0]].upper()}\n"))
    asked = replace(plain, task=replace(plain.task, question=question.text), golds=("else", question.golds[-1]))
    other_gold = replace(asked, golds=("something else",))
    check_leaks([other_gold], other)
    with pytest.raises(InputError, match="the evidence"):
        check_leaks([told], other)
    with pytest.raises(InputError, match="the question"):
        check_leaks([asked], other)


def test_the_loss_is_that_of_the_whole_rows_and_so_is_its_gradient(base: Path, rows: list[Row]) -> None:
    """The oracle: transformers' own labelled loss, one row at a time, nothing shared."""
    import torch

    model = LocalChatModel(base).model
    some = rows[:5]
    plain = torch.zeros(())
    for row in some:
        ids = torch.tensor([[*row.prompt, *row.reply]])
        labels = torch.tensor([[*[-100] * len(row.prompt), *row.reply]])
        plain = plain + model(input_ids=ids, labels=labels).loss * len(row.reply)
    plain.backward()
    expected = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    shared = 60
    assert len({row.prompt[:shared] for row in rows}) == 1
    for start in (shared, 0):
        model.zero_grad()
        loss = reply_loss(model, some, start)
        loss.backward()
        assert loss.item() == pytest.approx(plain.item(), rel=1e-5)
        for name, weight in model.named_parameters():
            assert torch.allclose(weight.grad, expected[name], atol=2e-4, rtol=1e-3), name


def test_a_batch_in_parts_has_the_gradient_of_the_whole(
    base: Path, rows: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    model = LocalChatModel(base).model
    whole_loss = _step(model, rows[:6], 50)
    whole = [weight.grad.clone() for weight in model.parameters()]
    model.zero_grad()
    monkeypatch.setattr("memgauge.training.sft.LONGEST_PASS", 1)
    assert _step(model, rows[:6], 50) == pytest.approx(whole_loss, rel=1e-5)
    assert all(torch.allclose(w.grad, g, atol=1e-5) for w, g in zip(model.parameters(), whole, strict=True))


def trained(base: Path, rows: list[Row], folder: Path, seed: int = 7, epochs: int = 2) -> tuple[Any, list[float]]:
    model = attach(LocalChatModel(base).model, rank=4, layers=1, seed=seed)
    losses = train(model, rows, Schedule(epochs, batch=4, learning_rate=2e-2), seed)
    save(model, folder, "tiny")
    return model, losses


def test_training_moves_every_trainable_parameter_and_no_other_and_the_loss_falls(
    base: Path, rows: list[Row], tmp_path: Path
) -> None:
    import torch

    start = attach(LocalChatModel(base).model, rank=4, layers=1, seed=7)
    some = rows[:12]
    model, losses = trained(base, some, tmp_path, epochs=8)
    moved = 0
    for (name, old), (_, new) in zip(start.named_parameters(), model.named_parameters(), strict=True):
        assert new.requires_grad == (not torch.equal(old, new)), name
        moved += new.requires_grad
    assert moved == 2 * 4, "A and B of four projections of the top layer"
    assert len(losses) == 8 * len(some) // 4
    assert sum(losses[-6:]) < 0.9 * sum(losses[:6])


def test_the_adapter_is_the_same_bytes_again_and_other_bytes_with_another_seed(
    base: Path, rows: list[Row], tmp_path: Path
) -> None:
    for name, seed in (("one", 7), ("two", 7), ("other", 8)):
        trained(base, rows[:8], tmp_path / name, seed)
    for file in ("adapter_model.safetensors", "adapter_config.json"):
        assert digest(tmp_path / "one" / file) == digest(tmp_path / "two" / file)
    weights = "adapter_model.safetensors"
    assert digest(tmp_path / "one" / weights) != digest(tmp_path / "other" / weights)
    settings = json.loads((tmp_path / "one" / "adapter_config.json").read_text())
    assert settings["target_modules"] == ["k_proj", "o_proj", "q_proj", "v_proj"]
    assert settings["base_model_name_or_path"] == "tiny", "no path of this machine"


def test_a_loaded_adapter_gives_the_logits_of_the_trained_model(base: Path, rows: list[Row], tmp_path: Path) -> None:
    import torch

    model, _ = trained(base, rows[:8], tmp_path)
    ids = torch.tensor([rows[0].prompt])
    with torch.inference_mode():
        mine = model.eval()(input_ids=ids).logits
        loaded = LocalChatModel(base, adapter=tmp_path).model(input_ids=ids).logits
        plain = LocalChatModel(base).model(input_ids=ids).logits
    assert float((mine - loaded).abs().max()) < 1e-4
    assert float((mine - plain).abs().max()) > 1e-2
    asked = ChatRequest(({"role": "user", "content": "Who?"},), 5)
    hashes = {LocalChatModel(base, adapter=adapter).payload(asked)["adapter"] for adapter in (None, tmp_path)}
    assert len(hashes) == 2
    (tmp_path / "adapter_model.safetensors").rename(tmp_path / "adapter_model.bin")
    with pytest.raises(AssetError, match=r"no adapter_model\.safetensors in"):
        LocalChatModel(base, adapter=tmp_path).payload(asked)


def test_every_row_teaches_to_end(base: Path, rows: list[Row], pairs: Any) -> None:
    model = LocalChatModel(base)
    for row, pair in zip(rows, pairs, strict=True):
        assert row.reply[-1] in model.stops
        assert row.reply.count(row.reply[-1]) == 1
        assert model.tokenizer.decode(row.reply[:-1]) == pair.target
    assert len(tune_reader.encode_pairs(model, pairs, min(row.size for row in rows))) == 1
    with pytest.raises(InputError, match="no reply"):
        Row((1, 2), ())


@pytest.mark.parametrize(
    "option",
    [{"pairs": 0}, {"epochs": 1.5}, {"learning_rate": 0}, {"rank": True}, {"max_tokens": -1}, {"declining": 1.5}],
)
def test_an_impossible_option_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(option))):
        ReaderTraining(**option)


class Oracle:
    """Answers with the context's last word where there is one, else declines."""

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        return {}

    def generate(self, requests: Sequence[ChatRequest], on_reply: Any = None) -> list[ChatReply]:
        return [
            ChatReply(REFUSAL if "(nothing)" in text else text.split("Today is")[0].split("\n\n")[0], "length")
            for text in (request.messages[-1]["content"] for request in requests)
        ]


def test_the_check_scores_each_condition_apart(histories: Any) -> None:
    val = [pair for pair in histories if pair[0].split == "val"]
    held = held_out(val, 15, 200)
    assert [each.context.condition for each in held[:3]] == ["OE", "TFC", "NM"]
    scores = check_reader(Oracle(), held, 5)
    golds = [each.question for each in held if each.context.condition == "OE" and each.question.golds]
    assert scores["OE"]["questions"] == len(golds) == 15 - (scores["OE"]["unanswerable"] or 0)
    assert scores["NM"] | {"words": None} == scores["NM"] | {"refused": 1.0, "declined": 1.0, "f1": 0.0, "words": None}
    told = sum(any(gold in each.context.text for gold in each.question.golds) for each in held[::3])
    assert (scores["OE"]["contains_match"] or 0) * len(golds) >= told > 0


def test_the_stage_writes_the_same_adapter_and_metrics_again(
    base: Path, histories: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"pairs": 8, "rank": 2, "layers": 1, "batch": 4, "held_out": 3, "recent_tokens": 60, "max_tokens": 2000}
    source = {"histories": 4, "sessions_per_history": 4, "questions_per_history": 4}
    params = {
        "seed": 3,
        "benchmark.synthetic.source": source,
        "tune_reader": {"model": str(base), **options},
    }
    files = ["models/tuned/adapter_model.safetensors", "models/tuned/adapter_config.json", "metrics/tune_reader.json"]
    tune_reader.main(params)
    first = {name: digest(tmp_path / name) for name in files}
    tune_reader.main(params)
    assert {name: digest(tmp_path / name) for name in files} == first
    metrics = json.loads((tmp_path / "metrics/tune_reader.json").read_text())
    assert metrics["pairs"] == 8
    assert len(metrics["loss"]) == 1
    assert metrics["after"]["OE"].keys() == metrics["before"]["NM"].keys()
    assert "Apache-2.0" in (tmp_path / "models/tuned/NOTICE.txt").read_text()
    params["tune_reader"]["ranks"] = 4
    with pytest.raises(InputError, match="unknown option of tune_reader 'ranks'"):
        tune_reader.main(params)
