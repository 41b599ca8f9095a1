"""Passages whose relevance is known, drawn fairly; judges asked about them once, and measured."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Hit, Label, Passage, Query, Reference, Score
from chunkwise.evaluation.calibrate import KnownPairs, calibrate, known_pairs, steps
from chunkwise.evaluation.judge_calibrations import keep_calibration
from chunkwise.metrics.judges.llm_judge import LlmJudge
from chunkwise.metrics.judges.relevance_judges import SimilarityJudge
from chunkwise.models.cache import ModelCache
from chunkwise.models.home_folder import HOME_VARIABLE
from chunkwise.models.http_client import EndpointError
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.options import CalibrationOptions
from chunkwise.report.calibration_report import warning_of
from hash_embedder import PlainHashEmbedder

_THINGS = ("crane", "ferry", "lamp", "pier", "rope", "buoy", "anchor", "ledger", "winch", "barge")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))


def answer(thing: str) -> str:
    return f"In the harbour the {thing} is kept by the warden until the boats are back."


TEXT = " ".join(
    f"{answer(thing)} Nobody may paint the {thing} in June, when the harbour is full of guests."
    for thing in _THINGS
)
DOCUMENT = Document("harbour", TEXT)


def asked(thing: str, *, labels: tuple[Label, ...] = ()) -> Query:
    start = TEXT.index(answer(thing))
    place = Reference("harbour", start, start + len(answer(thing)))
    return Query(thing, f"By whom is the {thing} kept in the harbour?", (place,), labels=labels)


QUERIES = [asked(thing) for thing in _THINGS]


class Rule:
    """Relevant is what names a keeper of the very thing."""

    name = "rule"
    identity = "rule:1"

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        return [
            [Score(float(answer(query.id) in hit.text)) for hit in own]
            for query, own in zip(queries, hits, strict=True)
        ]


def places(pairs: KnownPairs) -> set[tuple[str, Passage, bool]]:
    return {
        (query.id, Passage(hit.doc_id, hit.start, hit.end), truth)
        for query, hits, truths in zip(pairs.queries, pairs.hits, pairs.is_relevant, strict=True)
        for hit, truth in zip(hits, truths, strict=True)
    }


def test_references_are_relevant_and_what_touches_none_is_not() -> None:
    pairs = known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=20))
    assert (pairs.against, len(pairs), len(pairs.queries)) == ("spans", 20, 10)
    by_id = {query.id: query.references[0] for query in QUERIES}
    for id, place, is_relevant in places(pairs):
        own = by_id[id]
        touches = place.start < own.end and own.start < place.end
        assert touches == is_relevant
        if is_relevant:
            assert place == own.places[0]
        else:
            # Near to the question by its words: hard to tell from an answer.
            assert "harbour" in TEXT[place.start : place.end]
    assert pairs.strategy.startswith("sentences(")


def test_no_alternative_and_no_label_is_taken_for_irrelevant() -> None:
    start = TEXT.index("Nobody may paint the crane")
    other = Passage("harbour", start, start + 30)
    label = Label(
        "harbour",
        TEXT.index("Nobody may paint the ferry"),
        TEXT.index("In the harbour the lamp"),
        True,
    )
    query = asked("crane", labels=(label,))
    reference = Reference(*query.references[0].places[0], alternatives=(other,))
    queries = [Query("crane", query.text, (reference,), labels=(label,))]
    pairs = known_pairs(queries, [DOCUMENT], CalibrationOptions(against="spans", count=20))
    (irrelevant,) = [place for _, place, truth in places(pairs) if not truth]
    for known in (other, Passage(*label[:3])):
        assert not (irrelevant.start < known.end and known.start < irrelevant.end)


def test_they_are_balanced_spread_and_the_same_again() -> None:
    pairs = known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=9))
    truths = Counter(truth for _, _, truth in places(pairs))
    assert truths == {True: 5, False: 4}
    assert len(pairs.queries) == 5
    assert pairs == known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=9))
    assert places(pairs) < places(known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=14)))
    assert pairs != known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=9, seed=1))


def test_the_order_of_passages_does_not_tell_which_is_which() -> None:
    pairs = known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=20))
    assert len(set(pairs.is_relevant)) == 2
    assert all([hit.rank for hit in hits] == [1, 2] for hits in pairs.hits)


def test_labels_come_first_and_the_majority_decides() -> None:
    labels = (
        Label("harbour", 0, 10, True), Label("harbour", 0, 10, True), Label("harbour", 0, 10, False),
        Label("harbour", 20, 30, False), Label("harbour", 40, 50, True), Label("harbour", 40, 50, False),
    )  # fmt: skip
    queries = [*QUERIES, Query("l", "Who?", labels=labels)]
    pairs = known_pairs(queries, [DOCUMENT])
    assert pairs.against == "labels"
    assert pairs.disagreed == 1
    assert places(pairs) == {
        ("l", Passage("harbour", 0, 10), True),
        ("l", Passage("harbour", 20, 30), False),
    }


def test_where_one_class_is_rare_the_other_fills_up() -> None:
    labels = [Label("harbour", at, at + 1, at == 0) for at in range(30)]
    pairs = known_pairs(
        [Query("l", "Who?", labels=tuple(labels))], [DOCUMENT], CalibrationOptions(count=10)
    )
    assert Counter(truth for _, _, truth in places(pairs)) == {True: 1, False: 9}


def test_nothing_to_hold_a_judge_against_is_an_error() -> None:
    with pytest.raises(ChunkwiseError, match=r"no question has a labeled passage.*--against spans"):
        known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(against="labels"))
    with pytest.raises(ChunkwiseError, match=r"no question has a reference"):
        known_pairs([Query("q", "Who?")], [DOCUMENT])


def test_a_judge_that_knows_is_always_right_and_one_that_says_the_contrary_never() -> None:
    pairs = known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=20))

    class Contrary(Rule):
        def judge(
            self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]
        ) -> list[list[Score]]:
            found = super().judge(queries, hits)
            return [[Score(1 - (score.value or 0.0)) for score in own] for own in found]

    right, wrong = calibrate(Rule(), pairs), calibrate(Contrary(), pairs)
    assert right.calibration.kappa is not None
    assert right.calibration.kappa.mean == 1.0
    assert right.calibration.judge == "rule:1"
    assert right.disagreements == ()
    assert wrong.calibration.kappa is not None
    assert wrong.calibration.kappa.mean == -1.0
    # Missed ones and false alarms in turn.
    assert [each.is_relevant for each in wrong.disagreements] == [True, False] * 10


def test_the_clearest_errors_of_similarity_come_first_and_its_threshold_is_told() -> None:
    pairs = known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=20))
    embedder = PlainHashEmbedder()
    found = calibrate(SimilarityJudge(embedder, -1.0), pairs, identity="s", embedder=embedder)
    cosines = [each.cosine or 0.0 for each in found.disagreements]
    assert len(cosines) == 10
    assert cosines == sorted(cosines, reverse=True)
    assert found.threshold is not None
    better = calibrate(SimilarityJudge(embedder, found.threshold.value), pairs, embedder=embedder)
    assert better.calibration.kappa is not None
    assert better.calibration.kappa.mean == pytest.approx(found.threshold.kappa)
    assert found.calibration.cost is not None
    assert found.calibration.cost.calls == 0


class Scripted:
    """A language model of a simple kind: it calls passages relevant that name a keeper."""

    price_name = "scripted"
    window = None
    concurrency = 2
    identity = "scripted:1"

    def __init__(self, fails_at: int = -1) -> None:
        self.calls = 0
        self._fails_at = fails_at

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        self.calls += 1
        if self.calls == self._fails_at:
            raise KeyboardInterrupt
        assert request.schema is not None
        names = request.schema["required"]
        parts = request.user.split("<passage ")[1:]
        said = {
            name: "relevant" if "is kept by" in parts[int(name) - 1] else "irrelevant"
            for name in names
        }
        return Completion(json.dumps(said), 100, 10)


def llm_judge(model: Scripted, cache: Path) -> LlmJudge:
    from chunkwise.models.llm.cost import Price

    kept = ModelCache(cache)
    client = LlmClient(model, cache=kept, price=Price(1.0, 2.0), concurrency=1)
    return LlmJudge(client, cache=kept)


def test_what_a_language_model_takes_is_told_per_1000_verdicts_also_when_all_is_kept(
    tmp_path: Path,
) -> None:
    pairs, model = known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=20)), Scripted()
    first = calibrate(llm_judge(model, tmp_path / "kept"), pairs)
    assert model.calls == 10
    cost = first.calibration.cost
    assert cost is not None
    assert (cost.calls, cost.prompt_tokens, cost.output_tokens) == (500, 50_000, 5_000)
    assert cost.money == pytest.approx(0.05 + 0.01)
    keep_calibration(first.calibration)
    again = calibrate(llm_judge(model, tmp_path / "kept"), pairs)
    assert model.calls == 10
    assert (again.kept, again.calibration.cost) == (20, cost)
    assert again.calibration.confusion == first.calibration.confusion


def test_a_run_that_was_interrupted_asks_for_the_rest_alone(tmp_path: Path) -> None:
    pairs = known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=20))
    first, second, whole = Scripted(fails_at=5), Scripted(), Scripted()
    with pytest.raises(KeyboardInterrupt):
        calibrate(llm_judge(first, tmp_path / "kept"), pairs)
    found = calibrate(llm_judge(second, tmp_path / "kept"), pairs)
    assert second.calls == 6
    assert found.kept == 8
    other = calibrate(llm_judge(whole, tmp_path / "other"), pairs)
    assert whole.calls == 10
    assert found.calibration.kappa == other.calibration.kappa
    cost, all_cost = found.calibration.cost, other.calibration.cost
    assert cost is not None
    assert all_cost is not None
    assert cost.calls == all_cost.calls == 500


def test_more_verdicts_ask_only_for_those_that_are_new(tmp_path: Path) -> None:
    model = Scripted()
    calibrate(
        llm_judge(model, tmp_path / "kept"),
        known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=8)),
    )
    assert model.calls == 4
    calibrate(
        llm_judge(model, tmp_path / "kept"),
        known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=12)),
    )
    assert model.calls == 6


def test_what_says_the_same_elsewhere_is_not_taken_for_irrelevant() -> None:
    fee = "The fee for a boat in the harbour is five florins a day."
    other = "THE FEE for a boat, in the harbour, is five florins a day"
    soup = "The cook sells soup for five florins in the harbour."
    texts = {
        "a": f"{fee}\n\n{soup}\n\n{fee}\n",
        "b": f"Posted in May. {other} and a night. {soup}\n",
    }
    documents = [Document(id, text) for id, text in texts.items()]
    query = Query("1", "What is the fee for a boat in the harbour?", (Reference("a", 0, len(fee)),))
    for size in (8, 12, 20, 40):  # also where a cut runs through the copy
        strategy = f"sentences(max_tokens={size}, overlap=0)"
        pairs = known_pairs([query], documents, CalibrationOptions(count=4, strategy=strategy))
        wrong = [place for _, place, truth in places(pairs) if not truth]
        assert not any("fee" in texts[each.doc_id][each.start : each.end].lower() for each in wrong)
    assert wrong == []


def test_the_steps_that_are_told_are_all_there_are(tmp_path: Path) -> None:
    """Also where a question needs several calls."""

    class Narrow(Scripted):
        window = 500

    labels = tuple(Label("harbour", at, at + 60, at % 2 == 0) for at in range(0, 1200, 40))
    pairs = known_pairs(
        [asked("crane", labels=labels), *QUERIES[1:]], [DOCUMENT], CalibrationOptions(count=30)
    )
    for judge in (llm_judge(Narrow(), tmp_path / "kept"), Rule()):
        told: list[int] = []
        total = steps(judge, pairs)
        calibrate(judge, pairs, advance=lambda amount, note, told=told: told.append(amount))  # type: ignore[misc]
        assert sum(told) == total > 0
    assert len(pairs.queries) == 1


def test_a_model_that_is_gone_half_way_is_not_blamed_for_the_rest(tmp_path: Path) -> None:
    class Gone(Scripted):
        def complete(self, request: Request, stop: Event | None = None) -> Completion:
            if self.calls == 4:
                raise EndpointError("http://host/v1", "is not there", status=401)
            return super().complete(request, stop)

    pairs = known_pairs(QUERIES, [DOCUMENT], CalibrationOptions(count=20))
    found = calibrate(llm_judge(Gone(), tmp_path / "kept"), pairs)
    assert found.calibration.confusion.scored == 8
    assert "is not there" in found.error
    assert "12 of 20" in found.calibration.weakness
    assert (found.of_the_judge.weakness, found.of_the_judge.verdicts) == ("", 8)
    assert warning_of(found).startswith("incomplete, scores are from")
