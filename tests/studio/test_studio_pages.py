"""Every page is served, holds nothing inline, and shows hostile text as text; only listed assets are served."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from chunkwise.studio.app import PAGES
from chunkwise.studio.project import Project
from chunkwise.studio.project_sources import ProjectSources
from chunkwise.tracking.history import History
from made_results import question, results
from report.reading_pages import EVIL, Page
from studio.made_studio import ADDRESS, client, client_of, number_of, project, read_project
from tables import cases
from tracking.made_runs import kept_run

__all__ = ["client", "project"]  # fixtures

QUERIES = {"/compare": "?first=0&second=1", "/question": "?id=q01"}
SERVED = [each.path.replace("{number}", "0") + QUERIES.get(each.path, "") for each in PAGES]
SERVED += [
    "/runs/2",
    "/documents/1?strategy=tokens(max_tokens=9)&other=words",
    "/search?q=lamp&budget=9",
]


class Elements(HTMLParser):
    """What could run, style or fetch anything."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.addresses: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "style" or name.startswith("on"):
                self.inline.append(f"{tag} {name}={value}")
            if name in ("src", "href", "action") and value is not None:
                self.addresses.append(value)
        self._inside = tag if tag in ("script", "style") else ""

    def handle_data(self, data: str) -> None:
        if self._inside and data.strip():
            self.inline.append(data[:80])

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


@pytest.mark.usefixtures("large_inputs")
@cases("path", [*SERVED, "/nothing", "/documents/99", "/runs/x"])
def test_a_page_holds_nothing_inline_and_leads_nowhere_else(client: TestClient, path: str) -> None:
    found = client.get(path)
    assert found.status_code == (200 if path in SERVED else found.status_code)
    elements = Elements(found.text)
    assert elements.inline == []
    assert len(elements.addresses) > 5
    assert [each for each in elements.addresses if not each.startswith(("/", "#", "?"))] == []
    assert [each for each in elements.addresses if each.startswith("//")] == []


@pytest.mark.usefixtures("large_inputs")
@cases("path", SERVED)
def test_every_asset_of_a_page_is_there_and_is_kept(client: TestClient, path: str) -> None:
    for address in Elements(client.get(path).text).addresses:
        if not address.startswith("/assets/"):
            continue
        found = client.get(address)
        assert found.status_code == 200
        assert "immutable" in found.headers["cache-control"]
        assert found.headers["content-type"].startswith(
            ("text/css", "text/javascript", "image/svg")
        )


@cases(
    "name", ["..%2fapp.py", "../app.py", "%2e%2e/%2e%2e/pyproject.toml", "....//app.py", "app.py", "%00", "/etc/passwd",
             "studio.js%00.css", "C:\\boot.ini", "base.html.j2"]
)  # fmt: skip
def test_no_other_file_is_served(client: TestClient, name: str) -> None:
    found = client.get(f"{ADDRESS}/assets/{name}")
    assert found.status_code == 404
    assert "import" not in found.text


@cases("path", ["/documents/../../etc/passwd", "/documents/%2e%2e%2fetc%2fpasswd", "/runs/..%2f0"])
def test_a_document_is_a_number_and_no_path(client: TestClient, path: str) -> None:
    assert client.get(ADDRESS + path).status_code in (400, 404)


def test_a_page_that_is_not_there_says_so_on_a_page(client: TestClient) -> None:
    found = client.get("/<script>alert(1)</script>")
    assert found.status_code == 404
    page = Page(found.text)
    assert "There is no page /" in page.text
    assert page.script == ""
    assert client.post("/documents").status_code == 405


def test_a_fault_of_ours_is_a_sentence_without_its_inner_life(
    project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(number: int) -> None:
        raise RuntimeError("secret inner life")

    monkeypatch.setattr(project.corpus, "document", broken)
    found = client_of(project).get("/api/documents/0")
    assert found.status_code == 500
    assert "RuntimeError" in found.json()["error"]
    assert "secret" not in found.text
    assert "secret inner life" in caplog.text


def test_hostile_names_questions_and_texts_stay_text(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    evil = EVIL.replace("\x00", "").replace("\ud800", "")
    (folder / "a.md").write_text(f"# {evil}\n\n{evil} lamp {evil}\n\n## {evil}\n\nboat\n", "utf-8")
    base = results(count=3)
    evil_question = question(9, dict(base.questions[0].scores), f"{evil} lamp?")
    from made_results import of_questions

    of_questions((evil_question,)).save(folder / "run<img src=x>.json")
    History(folder / "history.db").add(kept_run())
    project = read_project(
        ProjectSources(
            documents=(str(folder / "a.md"),),
            runs=(str(folder / "run<img src=x>.json"),),
            history=str(folder / "history.db"),
        )
    )
    asking = client_of(project)
    plain = {"script": 0, "img": 0, "style": 0}
    for path in (
        "/documents/0",
        "/runs",
        "/runs/0",
        "/questions",
        "/question?id=q09",
        "/history",
        "/documents",
    ):
        found = asking.get(path)
        assert found.status_code == 200, (path, found.text[:300])
        tags = [tag for tag, _ in Page(found.text).tags]
        own = {tag: tags.count(tag) for tag in plain}
        assert own["img"] == own["style"] == 0
        assert own["script"] == len(re.findall(r'<script type="module" src="/assets/', found.text))
        assert Elements(found.text).inline == []
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x85]", found.text)


def test_pages_of_runs_are_those_of_the_report_in_the_frame_of_the_studio(
    client: TestClient, project: Project
) -> None:
    from chunkwise.report.evaluation_report import evaluation_report
    from chunkwise.report.to_html import report_page

    run = project.run(0)
    assert run.results is not None
    alone = Page(report_page(evaluation_report(run.results, project.document_texts(["leave.md"]))))
    framed = Page(client.get("/runs/0").text)
    assert framed.headings == alone.headings
    assert "Documents" in framed.text


def test_the_page_of_a_document_names_its_bands_and_headings(
    client: TestClient, project: Project
) -> None:
    number = number_of(project, "leave.md")
    page = Page(client.get(f"/documents/{number}").text)
    assert "Who decides" in page.text
    head = next(values for _, values in page.tags if "data-bands" in values)
    assert head["data-bands"] == f"0 {project.corpus.rows[number].characters}"
