"""Stage `read_passages`: one reader's answers from the passages of every budget."""

from tqdm import tqdm

from memgauge.datasets.prepared import stream_prepared
from memgauge.experiments.passage_reading import PassageAnswer, read_passages
from memgauge.experiments.passage_shown import Ranked
from memgauge.files import read_jsonl, write_jsonl
from memgauge.params import Params
from memgauge.stages.layout import PREPARED
from memgauge.stages.passage_paths import answers_file, ranked_file
from memgauge.stages.rank_passages import budgets_of
from memgauge.stages.shared import asked
from memgauge.stages.solving import SUBJECT, role_solver


def main(params: Params, benchmark: str, source: str, reader: str) -> None:
    """Write `data/passages/answers/BENCHMARK-SOURCE-READER.jsonl`, one answer a question and budget."""
    options = params[f"role.reader.{reader}"]
    solver, budgets = role_solver(f"reader.{reader}", options), budgets_of(params)
    ranked = {each.question_id: each for each in read_jsonl(ranked_file(benchmark, source), Ranked)}
    answers: list[PassageAnswer] = []
    pairs = stream_prepared(PREPARED / benchmark)  # histories are long: one at a time
    groups = asked(options, tuple(question for _, own in pairs for question in own))
    for history_id, questions in tqdm(groups.items(), desc=f"read_passages {benchmark} {source} {reader}", delay=2):
        SUBJECT.set(history_id)
        answers += read_passages(questions, ranked, budgets, solver)
    write_jsonl(answers_file(benchmark, source, reader), answers)
