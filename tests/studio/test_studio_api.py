"""The API says what it declares: every answer fits its description, every refusal is a sentence, offsets are exact."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import fastjsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from chunkwise.base.recently_used import RecentlyUsed
from chunkwise.chunkers import get_strategy
from chunkwise.metrics.cuts.boundary_issues import count_issues, find_issues
from chunkwise.retrieval import index
from chunkwise.studio.api import ENDPOINTS, endpoint_at
from chunkwise.studio.corpus import BAND, LONGEST_BAND, band_edges
from chunkwise.studio.documents import MOST_BANDS
from chunkwise.studio.project import Project
from chunkwise.studio.project_sources import ProjectSources
from chunkwise.studio.questions import layered
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import language_of
from hash_embedder import HashEmbedder
from studio.made_studio import HOSTILE, LEAVE, client, number_of, project
from tables import cases

__all__ = ["client", "project"]  # fixtures

ASKED = {
    "/api/documents": "sort=issues&backwards=true&find=e",
    "/api/documents/{number}/cuts": "strategy=sentences(max_tokens=20)&count=3",
    "/api/search": "q=who decides on leave%3F&retriever=multiscale&retriever=bm25&budget=60",
    "/api/compare": "first=0&second=1",
    "/api/question": "id=q01",
    "/api/labeling": "who=ada&depth=3",
    "/api/documents/{number}/sentences": "start=5&end=40",
    "/api/edit": "id=q01",
    "/api/evidence": "q=who decides on leave%3F",
}
READ = [each for each in ENDPOINTS if each.method == "GET"]

BODIES = {
    "/api/chunk": {"text": LEAVE},
    "/api/evaluate": {
        "questions": [
            {"query": "How is leave asked for?", "relevant_text": "asked for in writing"}
        ],
        "metrics": ["recall"],
    },
}
DESCRIBED = [each for each in ENDPOINTS if each.method == "GET" or each.path in BODIES]
"""Those that change something are asked where their changes are looked at."""


def answer(client: TestClient, path: str, **values: Any) -> Any:
    found = client.get(path, params=values or None)
    assert found.status_code == 200, found.text
    return found.json()


def refused(client: TestClient, path: str, status: int = 400, **values: Any) -> str:
    found = client.get(path, params=values or None)
    assert found.status_code == status, found.text
    said: str = found.json()["error"]
    return said


@cases("endpoint", DESCRIBED)
def test_every_answer_fits_its_description(client: TestClient, endpoint: Any) -> None:
    description = answer(client, "/api/openapi.json")
    operation = description["paths"][endpoint.path][endpoint.method.lower()]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    path = endpoint.path.replace("{number}", "0")
    if endpoint.method == "POST":
        found = client.post(path, json=BODIES[endpoint.path]).json()
    else:
        found = answer(client, f"{path}?{ASKED.get(endpoint.path, '')}")
    fastjsonschema.compile({**schema, "components": description["components"]})(found)


def test_the_description_names_every_parameter_with_its_bounds(client: TestClient) -> None:
    paths = answer(client, "/api/openapi.json")["paths"]
    assert list(paths) == [each.path for each in ENDPOINTS]
    told = {
        each["name"]: each for each in paths["/api/documents/{number}/cuts"]["get"]["parameters"]
    }
    assert told["number"]["in"] == "path"
    assert told["count"]["schema"] == {
        "type": "integer",
        "minimum": 0,
        "maximum": MOST_BANDS,
        "default": 1,
    }
    operations = [each for path in paths.values() for each in path.values()]
    assert all(each["description"] for own in operations for each in own.get("parameters", ()))


@cases(
    "path, query, said",
    [
        ("/api/documents", "cuont=3", "cuont"),
        ("/api/documents", "count=many", "count: "),
        ("/api/documents", "count=501", "count: "),
        ("/api/documents", "count=1_0", "count: "),
        ("/api/documents", "count=1&count=2", "'count'"),
        ("/api/documents", "sort=color", "sort: "),
        ("/api/documents", "backwards=maybe", "backwards: "),
        ("/api/documents/0/cuts", "strategy=structur", "did you mean structure"),
        ("/api/documents/0/cuts", "strategy=structure(max_tokens=0)", "the minimum is 1"),
        ("/api/documents/0/cuts", "strategy=structure(", "cannot read"),
        ("/api/documents/0/cuts", "strategy=raptor", "raptor"),
        ("/api/search", "q=lamp&budget=0", "budget: "),
        ("/api/search", "q=" + "x" * 4001, "q: "),
        ("/api/search", "q=a&retriever=a&retriever=b&retriever=c&retriever=d&retriever=e", "retriever: "),
        ("/api/compare", "first=1&second=1", "run 1"),
        ("/api/compare", "first=0&second=2", "is a sweep"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_a_sentence(client: TestClient, path: str, query: str, said: str) -> None:
    found = client.get(f"{path}?{query}")
    assert found.status_code == 400
    assert said in found.json()["error"]


@cases(
    "path", ["/api/documents/99", "/api/documents/99/cuts", "/api/runs/9", "/api/question?id=no",
             "/api/nothing", "/api/documents/0/nothing", "/api/questions?metric=color"]
)  # fmt: skip
def test_what_is_not_there_is_a_sentence(client: TestClient, path: str) -> None:
    found = client.get(path)
    assert found.status_code == 404
    assert len(found.json()["error"]) > 20


@cases(
    "strategy",
    ["./mine.py:Mine", "/etc/passwd", "tokens(tokenizer='/etc/passwd')", "tokens(tokenizer='../tokenizer.json')",
     "semantic(model='https://evil.example/v1#x')", "semantic(model='../model.onnx')",
     "recursive(separators=['a+'], regex=True)", "C:\\\\mine.py:Mine", "tokens(tokenizer='..\\\\t.json')"],
)  # fmt: skip
def test_no_file_and_no_server_is_opened_because_a_page_names_it(
    client: TestClient, strategy: str
) -> None:
    found = client.get("/api/documents/0/cuts", params={"strategy": strategy})
    assert found.status_code in (400, 403)
    assert "root:" not in found.text


def test_retrievers_of_a_page_are_no_code_either(client: TestClient) -> None:
    found = client.get("/api/search", params={"q": "lamp", "retriever": "./mine.py:Mine"})
    assert found.status_code == 403
    assert "code that would run" in found.json()["error"]


def test_bands_joined_are_the_text_whatever_it_holds(client: TestClient, project: Project) -> None:
    for row in project.corpus.rows:
        bands = answer(client, f"/api/documents/{row.number}")["bands"]
        found = answer(client, f"/api/documents/{row.number}/cuts", count=MOST_BANDS)["bands"]
        assert "".join(each["text"] for each in found) == project.corpus.document(row.number).text
        assert [each["start"] for each in found] == bands[:-1]


@given(st.text(alphabet="ab \n\u2028👍", max_size=30), st.integers(0, 9_000))
def test_bands_tile_any_text(piece: str, times: int) -> None:
    text = piece * times
    edges = band_edges(text).tolist()
    assert edges[0] == 0
    assert edges[-1] == len(text)
    assert all(0 < end - start <= LONGEST_BAND for start, end in pairwise(edges))
    assert len(edges) <= 2 + len(text) // BAND


@cases("name", ["leave.md", "hostile.md", "line.txt"])
@cases("strategy", ["sentences(max_tokens=20, overlap=5)", "tokens(max_tokens=7)", "parent_child"])
def test_cuts_are_those_of_the_strategy_with_all_their_issues(
    client: TestClient, project: Project, name: str, strategy: str
) -> None:
    number = number_of(project, name)
    found = answer(client, f"/api/documents/{number}/cuts", strategy=strategy, count=MOST_BANDS)
    analyzed = Analyzed(project.corpus.document(number))
    chunks = list(get_strategy(strategy).chunks(analyzed))
    drawn = {each["place"]: each for band in found["bands"] for each in band["chunks"]}
    assert [(each["start"], each["end"], each["size"]) for each in drawn.values()] == [
        (chunk.start, chunk.end, chunk.token_count) for chunk in chunks
    ]
    issues = find_issues(analyzed, chunks)
    shown = [each for band in found["bands"] for each in band["issues"]]
    assert sorted((each["chunk"], each["offset"]) for each in shown) == sorted(
        (issue.chunk, issue.offset) for issue in issues
    )
    assert found["bad_cuts"] == len({issue.cut for issue in issues})
    counts = count_issues(analyzed, chunks, language_of(analyzed.document))
    assert [each["count"] for each in found["kinds"]] == list(counts.by_kind.values())
    assert sum(count for count, _ in found["density"]) == len(chunks) == found["chunks"]
    assert sum(each["count"] for each in found["sizes"]) == len(chunks)


def test_issues_are_walked_through_from_any_place(client: TestClient, project: Project) -> None:
    path = f"/api/documents/{number_of(project, 'line.txt')}/cuts"
    strategy = "tokens(max_tokens=400)"
    bands = answer(client, path, strategy=strategy, count=MOST_BANDS)["bands"]
    places = sorted({each["offset"] for band in bands for each in band["issues"]})
    assert len(places) > 5
    seen, at = [], 0
    while (
        at := answer(client, path, strategy=strategy, count=0, near=at)["next_issue"]
    ) is not None:
        seen.append(at)
    assert seen == [place for place in places if place > 0]
    assert (
        answer(client, path, strategy=strategy, count=0, near=places[3])["previous_issue"]
        == places[2]
    )


def test_a_document_is_analysed_once_however_often_it_is_cut(
    client: TestClient, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = number_of(project, "deutsch.txt")
    made: list[object] = []

    class Counted(Analyzed):
        def __init__(self, document: Any) -> None:
            made.append(document)
            super().__init__(document)

    monkeypatch.setattr("chunkwise.studio.corpus.Analyzed", Counted)
    for size in (11, 12, 13, 11):
        answer(client, f"/api/documents/{number}/cuts", strategy=f"sentences(max_tokens={size})")
    assert len(made) <= 1


def test_the_list_is_filtered_sorted_and_counted(client: TestClient, project: Project) -> None:
    whole = answer(client, "/api/documents")
    assert whole["total"] == whole["matching"] == 4  # an empty file is no document
    assert project.problem_count >= 1
    assert all(row["sections"] is not None and row["bad_cuts"] is not None for row in whole["rows"])
    german = answer(client, "/api/documents", language="de")
    assert [row["id"] for row in german["rows"]] == ["deutsch.txt"]
    by_size = answer(client, "/api/documents", sort="size")["rows"]
    assert [row["characters"] for row in by_size] == sorted(
        (row["characters"] for row in by_size), reverse=True
    )
    assert answer(client, "/api/documents", offset=3, count=5)["rows"] == whole["rows"][3:]


def test_a_search_says_why_and_what_was_just_outside(client: TestClient, project: Project) -> None:
    values = {"q": "who decides on leave?", "retriever": ["multiscale", "bm25"], "budget": 16}
    found = answer(client, "/api/search", **values)
    assert [side["retriever"] for side in found["sides"]] == values["retriever"]
    for side in found["sides"]:
        assert side["problem"] == ""
        assert 0 < side["tokens"] <= 16
        for hit in side["hits"]:
            assert project.corpus.rows[hit["document"]].id == hit["card"]["doc_id"]
            assert hit["why"]["words"]
        inside = [
            (hit["card"]["doc_id"], hit["card"]["start"], hit["card"]["end"])
            for hit in side["hits"]
        ]
        for each in side["outside"]:
            assert not any(
                doc == each["doc_id"] and start < each["end"] and each["start"] < end
                for doc, start, end in inside
            )
    several, words = found["sides"]
    assert {vote["signal"] for hit in several["hits"] for vote in hit["why"]["votes"]} == {"words"}
    assert max(vote["share"] for hit in several["hits"] for vote in hit["why"]["votes"]) == 1.0
    assert words["hits"][0]["why"]["rank_by_words"] == 1
    assert several["outside"]
    assert LEAVE[several["outside"][0]["start"] :][:5].strip()


def test_vectors_are_among_the_reasons_where_the_index_has_some(project: Project) -> None:
    from studio.made_studio import client_of

    with_vectors = Project(ProjectSources(documents=project.sources.documents))
    for document in project.corpus.documents():
        with_vectors.corpus.add(document)
    with_vectors.index = index(project.corpus.documents(), embedder=HashEmbedder())
    asking = client_of(with_vectors)
    values = {
        "q": "who decides on leave?",
        "retriever": ["hybrid", "dense", "multiscale"],
        "budget": 40,
    }
    found = answer(asking, "/api/search", **values)
    assert found["retrievers"] == ["multiscale", "hybrid", "bm25", "dense"]
    assert [side["problem"] for side in found["sides"]] == ["", "", ""]
    hybrid, dense, several = found["sides"]
    best = dense["hits"][0]["why"]
    assert best["rank_by_vectors"] == 1
    assert best["similarity"] == pytest.approx(dense["hits"][0]["card"]["score"], abs=1e-4)
    assert all(hit["why"]["similarity"] is not None for hit in hybrid["hits"])
    assert {vote["signal"] for hit in several["hits"] for vote in hit["why"]["votes"]} == {
        "words",
        "vectors",
    }
    assert answer(asking, "/api/state")["has_vectors"]


def test_the_code_to_copy_finds_the_same(client: TestClient, project: Project) -> None:
    side = answer(client, "/api/search", q="who decides on leave?", retriever="bm25", budget=60)[
        "sides"
    ][0]
    names: dict[str, Any] = {}
    with pytest.warns(UserWarning, match="empty"):  # as the studio's own reading told
        exec(side["code"], names)
    again = [(hit.doc_id, hit.start, hit.end) for hit in names["hits"]]
    assert again == [
        (hit["card"]["doc_id"], hit["card"]["start"], hit["card"]["end"]) for hit in side["hits"]
    ]
    assert "chunkwise search kb 'who decides on leave?'" in side["command"]
    for hit in names["hits"]:
        assert hit.text in side["reading"]


def test_a_word_that_no_document_has_is_told(client: TestClient) -> None:
    assert "'harbuor'" in answer(client, "/api/search", q="harbuor")["note"]


def test_a_question_shows_gold_and_what_every_run_retrieved(client: TestClient) -> None:
    found = answer(client, "/api/question", id="q01")
    start = LEAVE.index("asked for in writing")
    assert [(each["start"], each["end"]) for each in found["gold"]] == [(start, start + 20)]
    assert [each["run"]["number"] is None for each in found["sides"]] == [False, False, True]
    assert found["sides"][0]["hits"][0]["gold"] == max(0, 40 - start)
    (passage,) = found["passages"]
    text = "".join(part["text"] for part in passage["parts"])
    assert text == LEAVE[passage["start"] : passage["end"]]
    gold = "".join(part["text"] for part in passage["parts"] if part["is_gold"])
    assert gold == "asked for in writing"
    listed = answer(client, "/api/questions")
    assert listed["rows"][0]["id"] == "q01"
    assert len(listed["rows"][0]["scores"]) == len(listed["runs"])
    names = [each["name"] for each in listed["runs"]]
    assert names[:2] == ["before.json", "after.json"]
    assert {name.split()[-1] for name in names[2:]} == {"recommended", "default"}  # of a sweep


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4),
)
def test_layers_joined_are_the_text(
    gold: list[tuple[int, int]], hits: list[tuple[int, int]]
) -> None:
    text = "abcdefghijklmnopqrstuvwxyzabcdefghijklmn"
    spans = [tuple(sorted(span)) for span in gold], [tuple(sorted(span)) for span in hits]
    parts = layered(text, 5, 35, spans[0], [(7, spans[1])])  # type: ignore[arg-type]
    assert "".join(part.text for part in parts) == text[5:35]
    at = 5
    for part in parts:
        for place in range(at, at + len(part.text)):
            assert part.is_gold == any(start <= place < end for start, end in spans[0])
            assert (7 in part.sides) == any(start <= place < end for start, end in spans[1])
        at += len(part.text)


def test_hostile_text_comes_as_it_is_in_json(client: TestClient, project: Project) -> None:
    number = number_of(project, "hostile.md")
    found = client.get(f"/api/documents/{number}/cuts?count=5")
    assert found.headers["content-type"] == "application/json"
    assert HOSTILE.split("\n")[0].strip()[:40] in "".join(
        band["text"] for band in found.json()["bands"]
    )


def test_every_path_leads_to_its_endpoint_and_no_other_does() -> None:
    for endpoint in ENDPOINTS:
        found, _ = endpoint_at(endpoint.path.replace("{number}", "12"), ENDPOINTS)
        assert found is endpoint
    for path in (
        "/api/documents/1/2",
        "/api/documentsx",
        "/api//state",
        "/api/documents/",
        "/xapi/state",
    ):
        assert endpoint_at(path, ENDPOINTS) == (None, {})


def test_what_is_used_least_goes_first_and_each_is_made_once() -> None:
    made: list[int] = []
    kept: RecentlyUsed[int] = RecentlyUsed(3, lambda key: 100 if key == 9 else 1)

    def get(key: int) -> int:
        return kept.get(key, lambda: (made.append(key), key)[1])

    assert [get(key) for key in (1, 2, 3, 1, 4, 1, 2)] == [1, 2, 3, 1, 4, 1, 2]
    assert made == [1, 2, 3, 4, 2]
    get(9)  # larger than all that may be kept: it is kept alone
    get(9)
    assert made[5:] == [9]


def test_a_search_before_the_index_is_there_is_a_sentence(tmp_path: Any) -> None:
    from studio.made_studio import client_of

    (tmp_path / "a.txt").write_text("A lamp.", "utf-8")
    waiting = client_of(Project(ProjectSources(documents=(str(tmp_path),))))
    assert "being indexed" in refused(waiting, "/api/search", 503, q="lamp")
    bare = client_of(Project(ProjectSources()))
    assert "no documents to search" in refused(bare, "/api/search", 404, q="lamp")
    assert re.search("there is none", refused(bare, "/api/documents/0", 404))
