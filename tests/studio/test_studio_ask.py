"""Answers with their places, tokens of a stretch, and pages of PDFs with a span on them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray
from starlette.testclient import TestClient

from chunkwise.answering.ask import RetrievedQuestion, quoted_answer
from chunkwise.answering.cited_answer import CitedAnswer
from chunkwise.studio import ask
from chunkwise.studio.project import Project
from chunkwise.studio.project_sources import ProjectSources
from chunkwise.text.tokens.tokenizers import get_tokenizer
from documents.hostile_files import plain_pdf
from studio.made_studio import client, client_of, number_of, project, read_project
from untimed import HANG

__all__ = ["client", "project"]  # fixtures


class SharedWords:
    """A reranker that counts words: no weights are needed."""

    identity = "shared words"

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        asked = set(query.lower().strip("?").split())
        found = [2.0 * len(asked & set(text.lower().split())) - 3 for text in texts]
        return np.array(found, np.float32)


@pytest.fixture
def quoting(monkeypatch: pytest.MonkeyPatch) -> None:
    def quote_each(questions: Sequence[RetrievedQuestion]) -> Iterator[CitedAnswer]:
        for query, hits in questions:
            yield quoted_answer(query, hits, SharedWords())

    monkeypatch.setattr(ask, "quote_each", quote_each)


@pytest.mark.usefixtures("quoting")
def test_an_answer_is_quoted_and_each_quote_is_its_place(
    client: TestClient, project: Project
) -> None:
    found = client.get("/api/ask?q=who decides within five days?").json()
    assert found["answer"]["claims"]
    assert "harbour master decides" in found["answer"]["claims"][0]["text"]
    for place in found["cited"]:
        text = project.corpus.document(place["document"]).text
        assert text[place["start"] : place["end"]] == place["quote"]
        before = text[: place["start"]]
        assert before.endswith(place["before"])
    assert found["command"].startswith("chunkwise ask ")


def test_without_a_question_it_says_what_can_be_asked(client: TestClient) -> None:
    found = client.get("/api/ask").json()
    assert found["answer"] is None
    assert not found["has_model"]


def test_a_model_that_is_not_set_is_told(client: TestClient) -> None:
    refused = client.get("/api/ask?q=lamp&words=model")
    assert refused.status_code == 400
    assert "--llm" in refused.json()["error"]
    assert client.get("/api/ask", params={"q": "x" * 5000}).status_code == 400


def test_a_slow_answer_keeps_its_own_askers_waiting_and_nobody_else(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = Event(), Event()

    def slow(questions: Sequence[RetrievedQuestion]) -> Iterator[CitedAnswer]:
        begun.set()
        assert go_on.wait(HANG)
        for query, hits in questions:
            yield quoted_answer(query, hits, SharedWords())

    monkeypatch.setattr(ask, "quote_each", slow)
    asked = "/api/ask?q=who decides within five days?"
    with client_of(project) as client, ThreadPoolExecutor(6) as together:
        answers = [together.submit(client.get, asked) for _ in range(6)]
        assert begun.wait(HANG)
        refused = next(as_completed(answers, HANG)).result()
        assert refused.status_code == 503
        assert client.get("/documents").status_code == 200
        go_on.set()
        found = [each.result(HANG).status_code for each in answers]
    assert sorted(set(found)) == [200, 503]


def test_tokens_are_those_of_the_whole_document(client: TestClient, project: Project) -> None:
    number = number_of(project, "hostile.md")
    text = project.corpus.document(number).text
    whole = [*get_tokenizer("o200k_base").offsets(text).tolist(), len(text)]
    for start, end in ((0, len(text)), (7, 90), (len(text) - 3, len(text)), (5, 5)):
        path = f"/api/documents/{number}/tokens?start={start}&end={end}"
        edges = client.get(path).json()["edges"]
        at = whole.index(edges[0])
        assert edges == whole[at : at + len(edges)]
        if end > start:
            assert edges[0] <= start
            assert edges[-1] >= end
    assert client.get(f"/api/documents/{number}/tokens?start=9&end=3").status_code == 400
    assert client.get(f"/api/documents/{number}/tokens?tokenizer=./x.json").status_code == 400


@pytest.fixture(scope="module")
def papers(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("papers")
    (folder / "lamps.pdf").write_bytes(plain_pdf())
    (folder / "plain.txt").write_text("no pages", "utf-8")
    return read_project(ProjectSources(documents=(str(folder),)))


@pytest.mark.smoke
def test_a_span_of_a_pdf_stands_on_the_picture_of_its_page(papers: Project) -> None:
    client, number = client_of(papers), number_of(papers, "lamps.pdf")
    text = papers.corpus.document(number).text
    found = client.get(f"/api/documents/{number}/boxes?start=0&end={len(text)}").json()
    assert found["boxes"]
    for box in found["boxes"]:
        width, height = found["sizes"][str(box["page"])]
        assert 0 <= box["x0"] < box["x1"] <= width
        assert 0 <= box["y0"] < box["y1"] <= height
    picture = client.get(f"/api/documents/{number}/pages/1.png")
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")
    assert client.get(f"/documents/{number}").text.count('id="paper"') == 1


def test_what_has_no_pages_says_so(papers: Project) -> None:
    client = client_of(papers)
    number, pdf = number_of(papers, "plain.txt"), number_of(papers, "lamps.pdf")
    assert client.get(f"/api/documents/{number}/pages/1.png").status_code == 404
    assert client.get(f"/api/documents/{number}/boxes?start=0&end=3").json()["boxes"] == []
    for page in ("0", "2", "999999"):
        assert client.get(f"/api/documents/{pdf}/pages/{page}.png").status_code == 400
    assert client.get("/api/documents/99/pages/1.png").status_code == 404


def test_a_file_that_went_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "lamps.pdf").write_bytes(plain_pdf())
    (tmp_path / "secret.pdf").write_bytes(plain_pdf(b"Secret."))
    project = read_project(ProjectSources(documents=(str(tmp_path / "in"),)))
    (tmp_path / "in" / "lamps.pdf").unlink()
    os.symlink(tmp_path / "secret.pdf", tmp_path / "in" / "lamps.pdf")
    assert client_of(project).get("/api/documents/0/pages/1.png").status_code == 404
