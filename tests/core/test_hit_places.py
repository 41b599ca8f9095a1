"""A hit that stands for places in several documents stands for all of them, whoever asks."""

from __future__ import annotations

import json
from pathlib import Path

from chunkwise.answering.cited_answer import passages_of
from chunkwise.chunkers.write_chunks import hit_row
from chunkwise.core import Document, Hit, HitPlace, Label, Passage, Query, Reference, Span
from chunkwise.evaluation.evaluate_system import missed
from chunkwise.evaluation.run_file import read_hits
from chunkwise.integrations import hit_id, hit_metadata
from chunkwise.labels.pool import pooled
from chunkwise.mcp_server.search_tools import described_passage, found_passages
from chunkwise.metrics.judges.relevance_judges import LabelJudge, SpanJudge, says_something
from tables import cases

SEA = Document("sea.md", "The sea is wide. Nobody knows its end.", "Sea")
HILL = Document("hill.md", "The hill is high. Its end is known.", "Hill")
PLACES = (Passage("sea.md", 0, 16), Passage("hill.md", 0, 17), Passage("hill.md", 18, 35))
SUMMARY = Hit(
    SEA, 0, 16, 1.0, 1, 6, summary="Seas and hills.", summarized=(Span(0, 16),),
    summarized_tokens=(5,), level=2, elsewhere=(HitPlace(HILL, 0, 17, 5), HitPlace(HILL, 18, 35, 5)),
)  # fmt: skip
QUERY = Query(
    "q", "how high?", (Reference("hill.md", 0, 17),), labels=(Label("hill.md", 0, 17, True),)
)


def test_its_places_are_those_of_every_document() -> None:
    assert [(each.doc_id, each.start, each.end) for each in SUMMARY.places] == list(PLACES)
    assert [each.text for each in SUMMARY.places][1] == "The hill is high."
    assert not SUMMARY.places[1].touches("sea.md", 0, 17)


@cases(
    "start, end, touches",
    [(0, 18, False), (35, 40, False), (0, 19, True), (34, 40, True), (20, 21, True)],
)
def test_a_place_touches_what_shares_a_character_with_it(
    start: int, end: int, touches: bool
) -> None:
    assert HitPlace(HILL, 18, 35, 5).touches("hill.md", start, end) == touches


def test_every_place_can_be_cited() -> None:
    found = passages_of([SUMMARY])
    assert [each.id for each in found] == ["sea.md@0-16", "hill.md@0-17", "hill.md@18-35"]
    assert [each.text for each in found][1:] == ["The hill is high.", "Its end is known."]


def test_of_a_summary_of_everything_as_much_is_read_as_a_model_can_read() -> None:
    """The beginnings of all documents, rather than one of them whole."""
    documents = [Document(f"{at}.md", "word " * 2_000) for at in range(30)]
    starts = range(0, 10_000, 1_000)
    places = [HitPlace(each, low, low + 1_000, 200) for each in documents for low in starts]
    spans = tuple(Span(each.start, each.end) for each in places[:10])
    hit = Hit(
        documents[0], 0, 10_000, 1.0, 1, 6, summary="Words.", summarized=spans,
        summarized_tokens=(200,) * 10, level=3, elsewhere=tuple(places[10:]),
    )  # fmt: skip
    found = passages_of([hit])
    assert len(found) == 20
    assert len({each.doc_id for each in found}) == 20
    assert {each.start for each in found} == {0}


def test_people_and_references_judge_it_by_every_place() -> None:
    for judge in (LabelJudge(), SpanJudge()):
        assert judge.judge([QUERY], [[SUMMARY]])[0][0].value == 1.0
    assert says_something(Passage("hill.md", 18, 35), SUMMARY)
    assert not says_something(Passage("hill.md", 17, 18), SUMMARY)
    assert missed(QUERY, [SUMMARY], [SUMMARY], {"hill.md": HILL}) == ()
    (left,) = missed(QUERY, [], [SUMMARY], {"hill.md": HILL})
    assert left.rank == 1


def test_people_label_every_place() -> None:
    found = pooled(QUERY, {"communities": [SUMMARY], "bm25": []}, 5).passages
    assert {each.doc_id for each in found} == {"sea.md", "hill.md"}


def test_frameworks_and_assistants_are_told_every_place() -> None:
    assert hit_metadata(SUMMARY)["spans"] == [[0, 16]]
    assert hit_metadata(SUMMARY)["elsewhere"] == [["hill.md", 0, 17], ["hill.md", 18, 35]]
    assert hit_id(SUMMARY) == "sea.md::0-16@2"
    (passage,) = found_passages([SUMMARY])
    assert "summary of: sea.md 0 to 16; hill.md 0 to 17; hill.md 18 to 35" in described_passage(
        passage
    )


def test_it_comes_back_from_a_file_of_hits(tmp_path: Path) -> None:
    file = tmp_path / "hits.jsonl"
    file.write_text(json.dumps(hit_row(QUERY, SUMMARY)) + "\n", encoding="utf-8")
    ((again,),) = read_hits(str(file), [QUERY], [SEA, HILL], lambda line: None)
    assert [each[:3] for each in again.places] == [each[:3] for each in SUMMARY.places]
    hostile = [{"doc_id": "hill.md", "start": 0, "end": 99}, {"doc_id": 1}, 7, None]
    row = {**hit_row(QUERY, SUMMARY), "elsewhere": hostile}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    ((again,),) = read_hits(str(file), [QUERY], [SEA, HILL], lambda line: None)
    assert again.elsewhere == ()
