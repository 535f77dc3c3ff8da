"""Stage `score_passages`: score one reader's answers from passages, and the evidence each budget showed it."""

from memgauge.datasets.prepared import stream_prepared
from memgauge.experiments.passage_reading import PassageAnswer
from memgauge.experiments.passage_scores import join_scores
from memgauge.experiments.passage_shown import Ranked
from memgauge.files import read_jsonl, write_jsonl
from memgauge.params import Params
from memgauge.protocol.rubric_scoring import Answered, score_answers
from memgauge.stages.layout import PREPARED
from memgauge.stages.passage_paths import answers_file, ranked_file, scores_file
from memgauge.stages.solving import by_subject, role_solver


def main(params: Params, benchmark: str, source: str, reader: str) -> None:
    """Write `data/passages/scores/BENCHMARK-SOURCE-READER.jsonl`, one score an answer; rubrics go to the judge."""
    folder = PREPARED / benchmark
    answers = list(read_jsonl(answers_file(benchmark, source, reader), PassageAnswer))
    questions = {question.id: question for _, asked in stream_prepared(folder) for question in asked}
    given = [Answered(answer.question_id, answer.text, answer.status) for answer in answers]
    judge, show_question = role_solver("judge", params["role.judge"]), params["passages.judge_sees_question"]
    histories = by_subject(given, lambda answer: questions[answer.question_id].history_id)
    scores = [score for some in histories for score in score_answers(questions, some, judge, show_question)]
    ranked = {each.question_id: each for each in read_jsonl(ranked_file(benchmark, source), Ranked)}
    write_jsonl(scores_file(benchmark, source, reader), join_scores(stream_prepared(folder), ranked, answers, scores))
