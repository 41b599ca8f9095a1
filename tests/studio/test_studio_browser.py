"""The studio in a real browser: every page, narrow and wide, light and dark, by keyboard, with hostile documents."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from chunkwise.studio.access_control import TokenAccess, UserAccess
from chunkwise.studio.accounts import Accounts, Sessions, with_account, write_accounts
from chunkwise.studio.app import Login, server_app
from chunkwise.studio.project import Project
from chunkwise.studio.server import bound_socket
from real_browser import Browser, needs_browser, opened_browser
from studio.made_studio import TOKEN, number_of, read_project, write_project
from tables import cases

pytestmark = [needs_browser, pytest.mark.unwatched]

READY = {
    "/documents": "document.querySelectorAll('#space .line').length === 5",
    "/documents/{leave}": "document.querySelector('.band .pill') && document.querySelector('form.strategy select')",
    "/documents/{hostile}?other=tokens(max_tokens%3D9)": "document.querySelectorAll('.side1').length > 0",
    "/documents/{line}#at=30000-30100": "document.querySelector('.marked')",
    "/search?q=leave+decides&retriever=multiscale&retriever=bm25&budget=60": "document.querySelector('.side mark')",
    "/ask": "document.querySelector('#answer.answers')",
    "/questions": "document.querySelector('#question-table a')",
    "/question?id=q01": "document.querySelector('.gold')",
    "/runs": "document.querySelector('#compare-two')",
    "/sweeps": "document.querySelector('#sweep-form option')",
    "/history": "document.querySelector('h2')",
    "/runs/0": "document.querySelector('h2')",
    "/runs/2": "document.querySelector('h2')",
    "/compare?first=0&second=1": "document.querySelector('h2')",
}  # fmt: skip
LONG = 800_000


class Served:
    """A studio behind a real server, and the browser that looks at it."""

    def __init__(self, project: Project, port: int, browser: Browser) -> None:
        self.project, self.browser = project, browser
        self.address = f"http://127.0.0.1:{port}"

    def open(self, path: str, ready: str = "true") -> None:
        numbers = {
            name: number_of(self.project, f"{name}.{kind}")
            for name, kind in (("leave", "md"), ("hostile", "md"), ("line", "txt"), ("long", "txt"))
        }
        self.browser.open("about:blank")  # a part of the same page would not be loaded anew
        self.browser.open(self.address + path.format(**numbers), ready)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("browser")
    sources = write_project(folder)
    lines = "The lamp at the end of the mole is lit before dusk, 👍 and put out at dawn.\n"
    (folder / "docs" / "long.txt").write_text(lines * (LONG // len(lines)), "utf-8")
    project = read_project(sources)
    with bound_socket("127.0.0.1", None) as listening:
        port = listening.getsockname()[1]
        with (
            serving(server_app(project, access=TokenAccess(TOKEN, port), port=port), listening),
            opened_browser() as browser,
        ):
            made = Served(project, port, browser)
            browser.open(f"{made.address}/documents?token={TOKEN}", READY["/documents"])
            assert browser.run("location.search") == ""  # the token has left the address
            assert browser.run("document.cookie") == ""  # and no script reads it
            yield made


@contextmanager
def serving(app: Any, listening: socket.socket, **settings: Any) -> Iterator[None]:
    config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none", **settings)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.usefixtures("browser")
@cases("path", READY)
def test_a_page_is_whole_narrow_and_wide_light_and_dark(served: Served, path: str) -> None:
    browser = served.browser
    browser.faults.clear()
    browser.requests.clear()
    for width, scheme in ((390, "light"), (1920, "dark")):
        browser.size(width)
        browser.scheme(scheme)
        served.open(path, READY[path])
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.run("document.title") not in ("", "owned")
        unnamed = browser.run(
            "[...document.querySelectorAll('a, button, input:not([type=hidden]), select')].filter((each) => "
            "each.checkVisibility() && !(each.textContent.trim() || each.ariaLabel || each.labels?.length))"
            ".map((each) => each.outerHTML.slice(0, 120))"
        )
        assert unnamed == []
        assert browser.run("document.querySelectorAll('h1').length") == 1
        assert browser.axe_findings() == []
    assert browser.faults == []
    foreign = [each for each in browser.requests if not each.startswith((served.address, "about:"))]
    assert foreign == []


@pytest.mark.usefixtures("browser")
def test_a_slider_cuts_anew_and_the_address_remembers(served: Served) -> None:
    browser = served.browser
    browser.size(1280)
    served.open("/documents/{leave}", READY["/documents/{leave}"])
    before = browser.run("document.querySelectorAll('.pill').length")
    sizes = ".sized input[type=number]"
    browser.do(lambda page: page.locator(sizes).first.fill("8"))
    browser.wait_for(f"document.querySelectorAll('.pill').length > {before}")
    browser.wait_for("location.search.includes('max_tokens%3D8')")
    # Who does not see the cuts is told how many there are.
    browser.wait_for("document.querySelector('#position').textContent.includes('chunks, ')")
    spoken = "document.querySelector('.sized input[type=range]').getAttribute('aria-valuetext')"
    assert browser.run(spoken) == "8 tokens"
    buttons = browser.run("['previous', 'next'].map((id) => document.getElementById(id).ariaLabel)")
    assert buttons == ["Previous issue", "Next issue"]
    drawn = browser.run("document.querySelector('.band').innerText.includes('four weeks ahead')")
    assert drawn
    browser.do(lambda page: page.locator(sizes).nth(1).fill("50"))
    browser.wait_for("!document.querySelector('#refused').hidden")
    assert "overlap (50) must be smaller than max_tokens (8)" in browser.run(
        "document.querySelector('#refused').textContent"
    )


@pytest.mark.usefixtures("browser")
def test_who_stops_comparing_is_told_of_what_is_left(served: Served) -> None:
    browser = served.browser
    browser.size(1280)
    one, other = "tokens(max_tokens%3D16)", "tokens(max_tokens%3D4)"
    served.open(f"/documents/{{leave}}?strategy={one}&other={other}", READY["/documents/{leave}"])
    said = "document.querySelector('#position').textContent"
    browser.wait_for("document.querySelectorAll('#figures .spec').length === 2")
    browser.do(lambda page: page.locator("#compare").click())
    browser.wait_for(f"/^[0-9,]+ chunks?, /.test({said})")
    only = browser.run("document.querySelector('#figures .values b').textContent")
    assert browser.run(said).startswith(f"{only}, ")


@pytest.mark.usefixtures("browser")
def test_issues_are_reached_by_the_keyboard(served: Served) -> None:
    browser = served.browser
    browser.size(1280)
    path = "/documents/{line}?strategy=tokens(max_tokens%3D50)"
    served.open(
        path, "document.querySelector('.flag') && document.querySelector('form.strategy select')"
    )
    places = []
    for _ in range(3):
        browser.press("n")
        last = places[-1] if places else -1
        browser.wait_for(
            f"document.activeElement.classList.contains('flag') && Number(document.activeElement.dataset.at) > {last}"
        )
        places.append(browser.run("Number(document.activeElement.dataset.at)"))
    browser.press("p")
    browser.wait_for(f"Number(document.activeElement.dataset.at) === {places[1]}")
    assert "chunk" in browser.run("document.querySelector('#about').textContent").lower()


@pytest.mark.usefixtures("browser")
def test_two_strategies_scroll_together(served: Served) -> None:
    browser = served.browser
    browser.size(1400)
    path = "/documents/{line}?strategy=tokens(max_tokens%3D40)&other=sentences(max_tokens%3D90)"
    served.open(path, "document.querySelector('.side1')")
    browser.run(
        "document.querySelector('#pages').scrollTop = document.querySelectorAll('.row')[1].offsetTop"
    )
    browser.wait_for("document.querySelectorAll('.row')[1].querySelectorAll('.band').length === 2")
    tops = browser.run(
        "[...document.querySelectorAll('.row')].filter((row) => row.children.length === 2).map((row) => "
        "[...row.children].map((band) => Math.round(band.getBoundingClientRect().top)))"
    )
    assert tops
    assert all(left == right for left, right in tops)
    same = browser.run(
        "[...document.querySelectorAll('.row')].filter((row) => row.children.length === 2).every((row) => "
        "row.children[0].textContent === row.children[1].textContent)"
    )
    assert same


@pytest.mark.usefixtures("browser")
def test_a_long_document_is_in_the_page_only_where_one_looks(served: Served) -> None:
    browser = served.browser
    browser.size(1280)
    served.open("/documents/{long}", "document.querySelector('.band')")
    assert browser.run("document.querySelectorAll('.row').length") > 150
    for share in (0.5, 0.99):
        browser.run(
            f"(() => {{ const box = document.querySelector('#pages'); box.scrollTop = {share} * box.scrollHeight; }})()"
        )
        browser.wait_for(
            "(() => { const box = document.querySelector('#pages').getBoundingClientRect(); "
            "const found = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2); "
            "return found.closest('.band'); })()"
        )
        assert browser.run("document.querySelectorAll('.band').length") < 60
    assert browser.run("document.querySelector('#pages').textContent.length") < 200_000


@pytest.mark.usefixtures("browser")
def test_hostile_text_is_shown_to_the_letter_and_obeyed_in_nothing(served: Served) -> None:
    browser = served.browser
    browser.size(1280)
    served.open("/documents/{hostile}", "document.querySelector('.band')")
    text = served.project.corpus.document(number_of(served.project, "hostile.md")).text
    shown = browser.run(
        "[...document.querySelectorAll('.band > span')].map((each) => each.textContent).join('')"
    )
    assert shown == text
    assert (
        browser.run("document.querySelectorAll('.band img, .band script, .band style').length") == 0
    )
    assert "owned" not in browser.run("document.title").split(" – ")[-1]


@pytest.mark.usefixtures("browser")
@pytest.mark.smoke
def test_a_search_follows_the_budget_and_links_to_the_place(served: Served) -> None:
    browser = served.browser
    browser.size(1280)
    path = "/search?q=who+decides+on+leave%3F&retriever=multiscale&retriever=bm25&budget=16"
    served.open(path, "document.querySelectorAll('.side').length === 2")
    few = browser.run("document.querySelectorAll('.found-list .found').length")
    browser.fill("[name=budget]", "300")
    browser.wait_for("location.search.includes('budget=300')")
    assert browser.run("document.querySelectorAll('.found-list li .found').length") >= few
    target = browser.run("document.querySelector('.found-list a').getAttribute('href')")
    assert re.fullmatch(r"/documents/\d+#at=\d+-\d+", target)
    browser.open(served.address + target, "document.querySelector('.marked')")
    at = [int(each) for each in re.findall(r"(\d+)-(\d+)$", target)[0]]
    number = int(target.split("/")[2].split("#")[0])
    text = served.project.corpus.document(number).text[at[0] : at[1]]
    assert (
        browser.run(
            "[...document.querySelectorAll('.marked')].map((each) => each.textContent).join('')"
        )
        == text
    )


@pytest.mark.usefixtures("browser")
def test_the_list_is_filtered_and_sorted_by_the_keyboard(served: Served) -> None:
    browser = served.browser
    browser.size(1280)
    served.open("/documents", READY["/documents"])
    browser.run("document.querySelector('[name=find]').focus()")
    for key in "leave":
        browser.press(key)
    browser.wait_for("document.querySelectorAll('#space .line').length === 1")
    assert browser.run("document.querySelector('#counted').textContent") == "1 of 5 documents"
    assert Path(
        browser.run("document.querySelector('#space a').getAttribute('href')")
    ).parent == Path("/documents")


@pytest.mark.usefixtures("browser")
def test_people_log_in_and_out_in_a_browser(tmp_path: Path) -> None:
    """A form of our own page must not count as one of another site."""
    project = read_project(write_project(tmp_path))
    file, password = tmp_path / "users.json", "correct horse battery"
    write_accounts(file, with_account((), "ana", "labeler", password=password))
    accounts = Accounts(file)
    sessions = Sessions(accounts)
    with bound_socket("127.0.0.1", None) as listening:
        port = listening.getsockname()[1]
        access = UserAccess(accounts, sessions, port)
        login = Login(accounts, sessions, access.cookie, secure=False)
        app = server_app(project, port=port, access=access, login=login)
        with serving(app, listening), opened_browser() as browser:
            address = f"http://127.0.0.1:{port}"
            browser.open(f"{address}/labeling", "document.querySelector('form.login')")
            assert browser.run("location.pathname") == "/login"
            assert browser.axe_findings() == []
            for field, value in (("name", "ana"), ("password", password)):
                browser.fill(f"input[name={field}]", value)
            browser.follow("form.login button")
            browser.wait_for(
                "location.pathname === '/labeling' && document.querySelector('#passages li')"
            )
            assert browser.run("document.querySelector('#where').textContent").startswith(
                "Signed as ana"
            )
            assert browser.run("document.querySelector('#sign').hidden")
            browser.follow("form.leave button")
            browser.wait_for("location.pathname === '/login'")
            assert browser.faults == []
