"""Recall within a budget on documentation with code, and how much of what is handed out can be read as it stands."""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks.corpora import SHARED  # noqa: E402
from benchmarks.question_sets import SETS, Place, Question, QuestionSet, recall  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.core import Document, Hit  # noqa: E402
from chunkwise.text.analyzed import Analyzed  # noqa: E402

BUDGETS = (250, 500, 1000)
DEFAULT = "recursive(max_tokens=1000, overlap=200, tokenizer='characters')"
QUESTIONS = 200
DOCS = {"docs_rustbook": 3, "docs_fastapi_en": 4}
"""Documentation without questions of its own, and of how many of its pages one is taken."""
ASKED = ("anthropic_code", "chroma_eval", "xquad_en")
RETRIEVERS = {"multiscale": "multiscale", "chunks": "hybrid"}

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*<!--", re.MULTILINE)
"""One that opens a line; behind a word it is no more than a blemish."""
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_DELIMITER = re.compile(r"^[ \t]*\|?[ \t:|-]*-{2,}[ \t:|-]*$", re.MULTILINE)


def heading_questions(documents: Sequence[Document], kinds: tuple[str, ...]) -> Iterator[Question]:
    """A heading as the question, the first block of these kinds below it as the answer."""
    for document in documents:
        blocks = Analyzed(document).blocks
        wholes = {
            "paragraph": blocks.spans("paragraph"), "code": blocks.code, "table": blocks.tables, "list": blocks.lists,
        }  # fmt: skip
        places = sorted(tuple(span) for kind in kinds for span in wholes[kind].tolist())
        headings = [*blocks.spans("heading").tolist(), [len(document.text)] * 2]
        for (start, end), (following, _) in pairwise(headings):
            title = re.sub(r"[#{}<>*_`]|\{[^}]*\}", " ", document.text[start:end]).strip()
            below = [p for p in places if end <= p[0] and p[1] <= following]
            if len(title.split()) < 2 or not below:
                continue
            first = below[0]
            if document.text.startswith("<!--", first[0]) or first[1] - first[0] < 40:
                continue
            place = Place(document.id, *first)
            yield Question(f"{document.id}@{start}", f"{document.title}: {title}", ((place,),))


def broken(hit: Hit) -> bool:
    """Whether what is shown of a hit has an open fence, a comment, or rows of a table without their header."""
    if hit.document.format != "markdown":
        return False
    shown = getattr(hit, "shown", hit.text)
    if _COMMENT.search(_outside_code(shown)) or _open_fence(shown):
        return True
    outside = _outside_code(shown)
    return bool(_ROW.search(outside)) and not _DELIMITER.search(outside)


def _open_fence(text: str) -> bool:
    fence = ""
    for match in _FENCE.finditer(text):
        if not fence:
            fence = match[1]
        elif match[1].startswith(fence) and not match[2].strip():
            fence = ""
    return bool(fence)


def _outside_code(text: str) -> str:
    return re.sub(r"(?ms)^[ \t]*(`{3,}|~{3,}).*?(^[ \t]*\1[ \t]*$|\Z)", "", text)


def whole_share(hits: Sequence[Hit], budget: int) -> tuple[int, int]:
    """Of the code blocks and tables that the hits touch and a quarter of the budget holds: those handed out whole."""
    whole = touched = 0
    by_document: dict[str, list[Hit]] = {}
    for hit in hits:
        by_document.setdefault(hit.doc_id, []).append(hit)
    for own in by_document.values():
        blocks = _blocks(own[0].document)
        for start, end in blocks:
            if end - start > budget:  # about a quarter of the budget, in characters
                continue
            inside = [
                (max(h.start, start), min(h.end, end))
                for h in own
                if h.start < end and start < h.end
            ]
            if inside:
                touched += 1
                whole += sum(b - a for a, b in set(inside)) >= end - start
    return whole, touched


_known: dict[str, list[tuple[int, int]]] = {}


def _blocks(document: Document) -> list[tuple[int, int]]:
    if document.id not in _known:
        blocks = Analyzed(document).blocks
        _known[document.id] = [(a, b) for a, b in (*blocks.code.tolist(), *blocks.tables.tolist())]
    return _known[document.id]


def _pages(folder: str, step: int, first: int) -> list[str]:
    pages = (SHARED / folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    return pages[first::step]


def _index(
    name: str, kept: Path | None, step: int, first: int, paths: Sequence[Path]
) -> chunkwise.Index:
    if kept is not None and (kept / f"{name}.idx").exists():
        return chunkwise.open_index(kept / f"{name}.idx")
    if step == 1:
        return chunkwise.index(paths, DEFAULT)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.jsonl"
        path.write_text("\n".join(_pages(name, step, first)) + "\n", encoding="utf-8")
        return chunkwise.index(path, DEFAULT)


def _questions(index: chunkwise.Index, name: str) -> dict[str, list[Question]]:
    if name in DOCS:
        documents = [index.source.document(at) for at in range(len(index.source.ids()))]
        found = {}
        for kind, kinds in {"prose": ("paragraph",), "blocks": ("code", "table", "list")}.items():
            asked = list(heading_questions(documents, kinds))
            random.Random(11).shuffle(asked)
            found[f"{name}, {kind}"] = asked[:QUESTIONS]
        return found
    [test] = [each for each in SETS if each.name == name] or [
        QuestionSet(name, (name,), f"{name}/queries.jsonl")
    ]
    return {name: test.read(QUESTIONS)}


def measure(
    kept: Path | None = None, only: Sequence[str] = (), first: int = 0
) -> dict[str, dict[str, list[float]]]:
    """By set and retriever: recall at each budget, then at the largest the shares of broken hits and whole blocks."""
    found: dict[str, dict[str, list[float]]] = {}
    for name in (*DOCS, *ASKED):
        if only and name not in only:
            continue
        paths = [SHARED / name / "corpus.jsonl"]
        index = _index(name, kept, DOCS.get(name, 1), first, paths)
        for title, questions in _questions(index, name).items():
            texts = [question.text for question in questions]
            for label, retriever in RETRIEVERS.items():
                began = perf_counter()
                row: list[float] = []
                hits: list[list[Hit]] = []
                for budget in BUDGETS:
                    hits = index.search(texts, budget=budget, retriever=retriever)
                    row.append(
                        100
                        * float(
                            np.mean([recall(*pair) for pair in zip(questions, hits, strict=True)])
                        )
                    )
                every = [hit for own in hits for hit in own]
                whole, touched = np.sum(
                    [whole_share(own, BUDGETS[-1]) for own in hits], axis=0
                ).tolist()
                row.append(100 * float(np.mean([broken(hit) for hit in every])))
                row.append(100 * whole / touched if touched else float("nan"))
                found.setdefault(f"{title} ({len(questions)})", {})[label] = row
                took = perf_counter() - began
                print(
                    f"{title}, {label}: {[f'{each:.1f}' for each in row]}, {took:.1f} s",
                    file=sys.stderr,
                    flush=True,
                )
    return found


def report(
    found: dict[str, dict[str, list[float]]], before: dict[str, dict[str, list[float]]] | None
) -> str:
    head = ["set (questions)", "retriever", *(f"{budget:,} tokens" for budget in BUDGETS), "unreadable hits",
            "blocks whole"]  # fmt: skip
    rows = []
    for title, own in found.items():
        for label, row in own.items():
            old = (before or {}).get(title, {}).get(label)
            cells = [f"{each:.1f}" for each in row]
            if old is not None:
                cells = [f"{was:.1f} → {now}" for was, now in zip(old, cells, strict=True)]
            rows.append(
                [
                    title,
                    label,
                    *(cell.replace("nan → nan", "–").replace("nan", "–") for cell in cells),
                ]
            )
    return table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--indexes", type=Path, help="folder of indexes made before, NAME.idx each")
    parser.add_argument("--before", type=Path, help="figures of an earlier run, to show both")
    parser.add_argument("--save", type=Path, help="where to keep the figures of this run")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument(
        "--first", type=int, default=0, help="1, 2: pages of the docs that nothing was chosen on"
    )
    given = parser.parse_args()
    found = measure(given.indexes, given.only, given.first)
    if given.save:
        given.save.write_text(json.dumps(found), encoding="utf-8")
    before = json.loads(given.before.read_text(encoding="utf-8")) if given.before else None
    print(report(found, before))


if __name__ == "__main__":
    main()
