"""Results on disk: back as they were, the same bytes again, and a word for every way a file can be wrong."""

import dataclasses
import json
import math
import re
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import made_results
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import Document, Hit, HitPlace, Passage, Span
from chunkwise.evaluation.evaluate_system import _found_span
from chunkwise.evaluation.results import (
    FORMAT,
    Agreement,
    Figure,
    FoundSpan,
    MetricAdvice,
    Missed,
    QuestionResult,
    Results,
    read_results,
    results_text,
)
from chunkwise.metrics.metric import CutCounts, CutIssue
from chunkwise.records.json import json_text
from how_many import examples
from tables import cases

NUMBER = st.floats(allow_nan=False, allow_infinity=False)
# A half of a character alone, as broken decoders leave them.
TEXT = st.one_of(st.text(max_size=8), st.sampled_from(["\ud800", "a\udfffb", "\x00\u2028", '"\\']))
WHOLE = st.integers(-(2**60), 2**60)


def by_name(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(TEXT, values, max_size=3)


def several(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=2).map(tuple)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), WHOLE, NUMBER, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=2), by_name(inner)),
    max_leaves=4,
)
MAYBE = st.one_of(st.none(), NUMBER)
FIGURES = by_name(st.builds(Figure, MAYBE, MAYBE, MAYBE, WHOLE, by_name(WHOLE), TEXT))
HIT = st.builds(
    FoundSpan, TEXT, WHOLE, WHOLE, WHOLE, NUMBER, WHOLE, by_name(st.one_of(st.none(), st.booleans())), TEXT,
    several(st.tuples(TEXT, WHOLE, WHOLE)),
)  # fmt: skip
MISSED = st.builds(Missed, TEXT, WHOLE, WHOLE, TEXT, st.one_of(st.none(), WHOLE))
QUESTION = st.builds(
    QuestionResult, TEXT, TEXT, several(TEXT), several(TEXT), by_name(MAYBE), by_name(TEXT), several(HIT),
    several(MISSED), WHOLE,
)  # fmt: skip
CUTS = st.builds(
    CutCounts, WHOLE, WHOLE, by_name(WHOLE), several(st.builds(CutIssue, TEXT, TEXT, WHOLE, WHOLE, TEXT, TEXT))
)  # fmt: skip
RESULTS = st.builds(
    Results,
    configuration=by_name(JSON), versions=by_name(TEXT), data=by_name(JSON), summary=FIGURES,
    by_type=by_name(FIGURES), by_document=by_name(FIGURES), cuts=st.one_of(st.none(), CUTS), cost=by_name(JSON),
    agreement=several(st.builds(Agreement, TEXT, TEXT, MAYBE, MAYBE, WHOLE)),
    advice=several(st.builds(MetricAdvice, TEXT, TEXT)), worst=several(TEXT), objective=TEXT,
    detectable=by_name(NUMBER), questions=several(QUESTION), timing=by_name(NUMBER),
)  # fmt: skip


@settings(max_examples=examples(20))
@given(RESULTS)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, found: Results) -> None:
    path = tmp_path_factory.mktemp("results") / "results.json"
    found.save(path)
    again = read_results(path)
    assert again == found
    assert again.timing == found.timing
    assert results_text(again).encode() == path.read_bytes()


def test_a_file_has_a_head_one_question_a_line_and_timing_last(tmp_path: Path) -> None:
    found = made_results.results()
    path = tmp_path / "new" / "results.json"
    found.save(path)
    text = path.read_text()
    value = json.loads(text)
    assert list(value) == [
        "format",
        "version",
        *(field.name for field in dataclasses.fields(found)),
    ]
    assert (value["format"], value["version"], list(value)[-1]) == (FORMAT, 1, "timing")
    assert sum(line.startswith('{"id": ') for line in text.splitlines()) == 40
    missed = value["questions"][0]["missed"][0]
    assert (missed["doc_id"], missed["start"], missed["end"]) == ("leave.md", 70, 80)
    assert [name.name for name in path.parent.iterdir()] == ["results.json"]
    assert read_results(str(path)) == found


def test_but_for_timing_the_bytes_are_the_same(tmp_path: Path) -> None:
    one, other = tmp_path / "1.json", tmp_path / "2.json"
    made_results.results().save(one)
    dataclasses.replace(made_results.results(), timing={"search": 9.75}).save(other)
    first, second = (path.read_bytes().partition(b'"timing"') for path in (one, other))
    assert first[0] == second[0]
    assert first[2] != second[2]


def test_texts_stay_legible_and_halves_of_characters_are_spelled_out(tmp_path: Path) -> None:
    question = made_results.question(1, {"recall@5": 1.0}, text="Grüße 灯 \ud800?")
    path = tmp_path / "results.json"
    made_results.of_questions((question,)).save(path)
    assert "Grüße 灯 \\ud800?" in path.read_text(encoding="utf-8")
    assert read_results(path).questions == (question,)


@cases("number", [math.nan, math.inf, -math.inf])
def test_no_number_that_is_none_is_written(tmp_path: Path, number: float) -> None:
    path = tmp_path / "results.json"
    path.write_text("before")
    bad = made_results.of_questions((made_results.question(7, {"recall@5": 0.5}),))
    bad = dataclasses.replace(bad, questions=(made_results.question(7, {"recall@5": number}),))
    with pytest.raises(InvalidParameter, match="NaN"):
        bad.save(path)
    with pytest.raises(InvalidParameter, match="NaN"):
        dataclasses.replace(made_results.results(), cost={"x": number}).save(path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@cases(
    "content, told",
    [
        (b"", "not valid JSON"),
        (b"PK\x03\x04rubbish", "not valid JSON"),
        (b"[1, 2]", "is not a chunkwise results file"),
        (b'{"format": "chunkwise results"}', "has version None"),
        (b'{"format": "chunkwise results", "version": 2}', "has version 2"),
        (b'{"format": "chunkwise results", "version": 1}', "is damaged: .*configuration"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_files_that_are_no_results(tmp_path: Path, content: bytes, told: str) -> None:
    path = write(tmp_path / "results.json", content)
    with pytest.raises(ChunkwiseError, match=f"^{re.escape(str(path))}.*{told}"):
        read_results(path)


def test_a_folder_and_nothing(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(ChunkwiseError, match="cannot read"):
            read_results(path)


def test_a_value_that_does_not_fit_is_named(tmp_path: Path) -> None:
    text = results_text(made_results.results(count=3))
    for find, put, place in (
        ('"rank": 1', '"rank": "1"', r"questions\[0\].hits\[0\].rank"),
        ('"missed": [', '"missed": null, "": [', r"questions\[0\].missed"),
        ('"worst": [', '"worse": [', "worst"),
    ):
        assert find in text
        path = write(tmp_path / "results.json", text.replace(find, put, 1))
        with pytest.raises(ChunkwiseError, match=f"is damaged: .*{place}"):
            read_results(path)


def test_more_than_is_known_does_no_harm_and_whole_numbers_are_numbers(tmp_path: Path) -> None:
    found = made_results.results(count=2)
    text = results_text(found).replace('"objective"', '"note": [1], "objective"')
    path = write(
        tmp_path / "results.json", "\ufeff" + text.replace('"search": 0.25', '"search": 2')
    )
    assert read_results(path) == found
    assert read_results(path).timing == {"search": 2.0}


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    with pytest.raises(ChunkwiseError, match=r"cannot read .*loop.json"):
        read_results(loop)


def test_mappings_of_any_kind_are_objects() -> None:
    found = made_results.results(count=2)
    frozen = dataclasses.replace(found, versions=MappingProxyType(dict(found.versions)))
    assert results_text(frozen) == results_text(found)


def test_values_of_other_kinds() -> None:
    with pytest.raises(TypeError, match="set is not JSON"):
        json_text({1, 2})


def test_a_figure_as_plain_values_is_what_the_file_has() -> None:
    figure = Figure(0.5, 0.25, 0.75, 4, MappingProxyType({"no gold": 2}), "good")
    plain = figure.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["mean"] == 0.5
    assert plain["unscored"] == {"no gold": 2}
    assert msgspec.convert(plain, Figure) == dataclasses.replace(figure, unscored={"no gold": 2})


def test_a_summary_is_kept_with_all_its_places() -> None:
    sea, hill = Document("sea", "The sea is wide."), Document("hill", "The hill is high.")
    hit = Hit(
        sea, 0, 16, 0.5, 1, 4, summary="Nature.", summarized=(Span(0, 7), Span(8, 16)),
        summarized_tokens=(2, 2), level=1, elsewhere=(HitPlace(hill, 4, 8, 1),),
    )  # fmt: skip
    found = _found_span(hit, {})
    assert found.places == (Passage("sea", 0, 7), Passage("sea", 8, 16), Passage("hill", 4, 8))
    plain = Hit(sea, 4, 7, 0.5, 1, 1)
    assert _found_span(plain, {}).summarized == ()
    assert _found_span(plain, {}).places == (Passage("sea", 4, 7),)
