"""How soon the studio is there and paints, how fast it cuts anew, what 20,000 documents and 50 readers cost it."""

from __future__ import annotations

import http.client
import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.page import write_page
from benchmarks.studio_process import CORPUS, studio
from benchmarks.tables import table

DOCUMENTS = 20_000
READERS, SECONDS = 50, 60
STRATEGIES = (
    "sentences(max_tokens=50)",
    "structure(max_tokens=210)", "structure(max_tokens=390)", "sentences(max_tokens=190)", "sentences(max_tokens=390)",
    "recursive(max_tokens=250)", "tokens(max_tokens=250)",
)  # fmt: skip


def start() -> str:
    rows = []
    for what, source in (("the sample corpus", "--demo"), ("a folder", str(CORPUS))):
        found = []
        for _ in range(3):
            with studio(source) as made:
                found.append((made.first_page, made.first_page_processor))
        wall, processor = min(found)
        rows.append([what, f"{wall:.2f}", f"{processor:.2f}"])
    return (
        "From the command to the complete first page, best of three (target: under a second).\n\n"
        + table(["", "s", "s of CPU time"], rows)
    )


def cuts() -> str:
    text = "\n\n".join(path.read_text("utf-8") for path in sorted(CORPUS.glob("*.md")))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, size in (("1 MB", 1_000_000), ("2 MB", 2_000_000)):
            many = text * (size // len(text) + 1)
            Path(folder, f"{name}.md").write_text(many[:size], "utf-8")
        with studio(folder) as made:
            made.wait()
            listed = made.ask("/api/documents")["rows"]
            for row in sorted(listed, key=lambda each: each["characters"]):
                path = f"/api/documents/{row['number']}/cuts"
                made.ask(
                    path, strategy="sentences(max_tokens=100)"
                )  # what is found once a document
                for strategy in STRATEGIES:
                    wall, processor, found = made.timed(path, strategy=strategy, count=6)
                    rows.append(
                        [
                            row["id"],
                            strategy,
                            f"{found['chunks']:,}",
                            f"{wall:,.0f}",
                            f"{processor:,.0f}",
                        ]
                    )
                wall, processor, _ = made.timed(path, 5, strategy=strategy, first=100, count=12)
                rows.append(
                    [
                        row["id"],
                        "twelve further bands of the same",
                        "",
                        f"{wall:,.0f}",
                        f"{processor:,.0f}",
                    ]
                )
    heads = ["document", "cut by", "chunks", "ms", "ms of CPU time"]
    return (
        "An analyzed document is chunked with another strategy or size, with all boundary issues "
        "and six screens of text, as the slider does (target: 1 MB in under 200 ms). Common chunk "
        "sizes meet it in CPU time; very small chunks, such as sentences(max_tokens=50) with "
        f"eight thousand chunks, take longer.\n\n{table(heads, rows)}"
    )


def many() -> str:
    paragraph = (CORPUS / "glossary.md").read_text("utf-8")[600:1000]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(DOCUMENTS):
            text = (
                f"# Note {number}\n\nLamp {number % 977} and boat {number % 83}.\n\n{paragraph}\n"
            )
            Path(folder, f"note-{number:05}.md").write_text(text, "utf-8")
        with studio(folder) as made:
            rows.append(
                [
                    "first page",
                    f"{made.first_page * 1000:,.0f}",
                    f"{made.first_page_processor * 1000:,.0f}",
                ]
            )
            while made.ask("/api/state")["documents"] < DOCUMENTS:
                time.sleep(0.2)
            wall, processor, _ = made.timed("/api/documents", 5, offset=10_000, count=100)
            rows.append(
                [
                    "100 rows from the middle, while the rest is indexed",
                    f"{wall:,.0f}",
                    f"{processor:,.0f}",
                ]
            )
            made.wait()
            whole = (time.perf_counter() - made.began) * 1000
            spent = made.processor() * 1000
            rows.append(["all read, indexed and counted", f"{whole:,.0f}", f"{spent:,.0f}"])
            for what, path, values in (
                ("100 rows from the middle", "/api/documents", {"offset": 10_000, "count": 100}),
                ("sorted by issues", "/api/documents", {"sort": "issues"}),
                ("found by words of a name", "/api/documents", {"find": "note 199"}),
                ("a search, one retriever", "/api/search", {"q": "lamp 199", "retriever": "bm25"}),
                ("a search, several sizes", "/api/search", {"q": "lamp 199", "retriever": "multiscale"}),
            ):  # fmt: skip
                wall, processor, _ = made.timed(path, 5, **values)
                rows.append([what, f"{wall:,.0f}", f"{processor:,.0f}"])
            told = f"{made.memory():,.0f} MB of memory in the end."
    return f"{DOCUMENTS:,} documents in a folder, {told}\n\n{table(['', 'ms', 'ms of CPU time'], rows)}"


PAINTED = (
    ("the list", "/documents", "document.querySelector('#space .line')"),
    ("a document of 10 MB", "/documents/{long}", "document.querySelector('.band')"),
    ("the same, from the middle", "/documents/{long}#at=5000000-5000080", "document.querySelector('.marked')"),
    ("a line of 10 MB", "/documents/{line}", "document.querySelector('.band')"),
    ("a search", "/search?q=lamp+199&retriever=bm25", "document.querySelector('.side .found')"),
)  # fmt: skip
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
SCROLLED = """new Promise((done) => { const box = document.querySelector(%r), frames = [];
let last = performance.now(), left = 120;
const step = (now) => { frames.push(now - last); last = now; box.scrollTop += box.scrollHeight / 150;
if (left--) requestAnimationFrame(step); else done(frames.slice(1)); }; requestAnimationFrame(step); })"""
"""The milliseconds of 120 frames while a list or a text is scrolled from its beginning to four fifths."""


def painted() -> str:
    """In Debian's Chromium, driven as the tests drive it."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from real_browser import opened_browser

    paragraph = (CORPUS / "glossary.md").read_text("utf-8")
    rows, scrolled = [], []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        documents = Path(folder, "documents")
        documents.mkdir()
        (documents / "long.md").write_text((paragraph * 2_000)[:10_000_000], "utf-8")
        (documents / "line.txt").write_text(("lamps and boats " * 625_000)[:10_000_000], "utf-8")
        for number in range(DOCUMENTS):
            text = f"# Note {number}\n\nLamp {number % 977} and boat {number % 83}.\n"
            (documents / f"note-{number:05}.md").write_text(text, "utf-8")
        with studio(str(documents)) as made, opened_browser() as browser:
            while not made.ask("/api/state")["can_search"]:  # counting issues goes on meanwhile
                time.sleep(0.5)
            browser.size(1400)
            browser.open(made.address.replace("/documents?", "/search?"))
            numbers = {
                name: made.ask("/api/documents", find=f"{name}.")["rows"][0]["number"]
                for name in ("long", "line")
            }
            for what, path, ready in PAINTED:
                found = []
                for _ in range(3):
                    browser.open("about:blank")
                    began = time.perf_counter()
                    browser.open(made.root + path.format(**numbers), f"{ready} && {PAINT} > 0")
                    found.append((browser.run(PAINT), (time.perf_counter() - began) * 1000))
                first, whole = min(found)[0], min(each[1] for each in found)
                rows.append([what, f"{first:,.0f}", f"{whole:,.0f}"])
                for box in ("#rows", "#pages"):
                    if "middle" not in what and browser.run(
                        f"Boolean(document.querySelector('{box}'))"
                    ):
                        frames = sorted(browser.run(SCROLLED % box))
                        at = len(frames) // 2, -1 - len(frames) // 20, -1
                        scrolled.append([what, *(f"{frames[each]:,.0f}" for each in at)])
    heads = ["page", "first paint, ms", "what it is about, ms"]
    return (
        f"{DOCUMENTS:,} documents and two of 10 MB. The best of three loads, while sections and issues are still "
        "counted: the first contentful paint (wanted: under 500 ms), and until the rows or the text are there.\n\n"
        f"{table(heads, rows)}\n\nFast scrolling, milliseconds between frames (the screen's "
        f"interval is 16.7):\n\n{table(['page', 'median', '95 %', 'longest'], scrolled)}"
    )


def load() -> str:
    questions = json.loads((CORPUS.parent / "corpus_questions.json").read_text("utf-8"))
    asked = [str(each["query"]) for each in questions]
    times: dict[str, list[float]] = {}
    failed: list[int] = []
    with studio("--demo", "--rate", "1000000") as made:
        made.wait()
        host, token = made.root.removeprefix("http://"), made.address.rpartition("token=")[2]
        headers = {"authorization": f"Bearer {token}"}
        until = time.perf_counter() + SECONDS

        def read(reader: int) -> None:
            connection = http.client.HTTPConnection(host)
            turn = reader
            while time.perf_counter() < until:
                turn += 1
                question = {"q": asked[turn % len(asked)], "retriever": "bm25"}
                what, path, values = (
                    ("a search", "/api/search", {**question, "explain": "false"}),
                    ("a search with reasons", "/api/search", question),
                    ("rows of documents", "/api/documents", {"count": 100}),
                    ("a document cut", f"/api/documents/{turn % 13}/cuts", {"strategy": "sentences(max_tokens=200)"}),
                )[turn % 4]  # fmt: skip
                began = time.perf_counter()
                connection.request("GET", f"{path}?{urlencode(values)}", headers=headers)
                answer = connection.getresponse()
                answer.read()
                times.setdefault(what, []).append((time.perf_counter() - began) * 1000)
                if answer.status != 200:
                    failed.append(answer.status)

        before = made.processor()
        threads = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        spent, memory = made.processor() - before, made.memory()
    rows = []
    for what, own in sorted(times.items()):
        own.sort()
        at = [f"{own[int(share * (len(own) - 1))]:,.0f}" for share in (0.5, 0.95, 0.99, 1.0)]
        rows.append([what, f"{len(own):,}", *at])
    count = sum(len(own) for own in times.values())
    return (
        f"{READERS} readers at once for {SECONDS} seconds, each with a connection of its own and without a pause, on "
        f"the same two cores as the server: {count:,} answers, {count / SECONDS:,.0f} a second, {len(failed)} of them "
        f"refused; {spent:,.0f} s of CPU time, {memory:,.0f} MB of memory.\n\n"
        + table(["", "answers", "median, ms", "95 %", "99 %", "slowest"], rows)
    )


PARTS = {
    "start": ("Startup", start),
    "paint": ("First paint and scrolling", painted),
    "cuts": ("Rechunking", cuts),
    "many": ("20,000 documents", many),
    "load": ("50 concurrent users", load),
}

if __name__ == "__main__":
    write_page("Studio", "studio.md", PARTS, __doc__)
