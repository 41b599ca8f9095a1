"""kill -9 and Ctrl-C at random moments of index, update, remove and rebuild: the index is the old one or the new."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.core import Document
from chunkwise.retrieval import Index
from chunkwise.retrieval.local.folder import Generation
from chunkwise.retrieval.postgres.store import PostgresStore
from chunkwise.testkit.sample_run import HashedWords
from interrupting import left_behind
from retrieval.postgres_server import new_url
from untimed import HANG

pytestmark = [pytest.mark.usefixtures("processes"), pytest.mark.unwatched]

_KILLS = 110
"""For each engine."""
_OFTEN = {"update": 4, "remove": 2, "rebuild": 2, "index": 1}
_copies = get_context("fork")
"""Processes like any other, without the second that they take to import."""

Texts = dict[str, str]
"""Of the documents, by id."""


def _write(place: str, texts: Texts, rebuild: bool) -> float:
    """The seconds it takes."""
    started = time.monotonic()
    documents = [Document(id, text) for id, text in texts.items()]
    strategy = "sentences(max_tokens=20, overlap=0)"
    chunkwise.index(
        documents, strategy, into=place, embedder=HashedWords(), vectors="own", rebuild=rebuild
    )
    return time.monotonic() - started


def _run(place: str, texts: Texts, rebuild: bool, at: str, ready: Callable[[], None]) -> None:
    """`at` says when it is ready to be killed: from its start on, or from where it publishes."""
    # Python may make a SystemError of an interrupt that comes while C asks for the text of a path.
    with suppress(KeyboardInterrupt, SystemError):
        if at == "start":
            ready()
        for kind, name in ((Generation, "publish"), (PostgresStore, "settle")):
            whole: Any = getattr(kind, name)

            def announced(*given: Any, whole: Any = whole) -> Any:
                ready()
                return whole(*given)

            setattr(kind, name, announced)
        _write(place, texts, rebuild)
    ready()


def _killed(number: int, seconds: float, *work: Any) -> bool:
    """Whether the work was still going on then."""
    ready = _copies.Event()
    process = _copies.Process(target=_run, args=(*work, ready.set))
    process.start()
    assert ready.wait(HANG)
    process.join(seconds)
    was_alive = process.exitcode is None
    if was_alive:
        os.kill(process.pid or 0, number)
    process.join(HANG)
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    return was_alive


def _content(place: str) -> Texts:
    """The documents of an index, whose rows, words and vectors are whole."""
    index = chunkwise.open_index(place, embedder=HashedWords())
    with closing(index.source) if "://" in place else nullcontext():  # type: ignore[type-var]
        return _checked(index)


def _checked(index: Index) -> Texts:
    if isinstance(index.place, Path):
        index.verify()
    documents = [index.source.document(number) for number in index.source.document_numbers()]
    texts, words = {each.id: each.text for each in documents}, Counter[str]()
    for chunk in index.chunks():
        assert texts[chunk.doc_id][chunk.start : chunk.end] == chunk.text
        words[chunk.doc_id] += len(chunk.text.split())
    assert words == {id: len(text.split()) for id, text in texts.items()}
    assert len(index.vectors().ids) == index.source.chunk_count
    for retriever in ("bm25", "dense"):
        hits = index.search("the lamp of a pier is lit", retriever=retriever, k=10_000)
        assert {hit.doc_id for hit in hits} == {*texts}, retriever
    return texts


def _changed(work: str, texts: Texts, turn: int) -> Texts:
    """The documents of an index after the work: others, fewer, or some gone, changed and new."""
    made = {
        f"{turn}-{number}.md": f"# Pier {turn}\n\nThe lamp of pier {number} is lit. " * 4
        for number in range(12)
    }
    if work in ("rebuild", "index"):
        return made
    kept = dict(list(texts.items())[len(texts) // 3 :])
    if work == "remove" and kept:
        return kept
    return kept | made | {next(iter(kept or made)): f"The lamp of turn {turn} is lit again."}


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ["folder", "postgres"])
def test_kills_leave_the_old_index_or_the_new_and_the_next_run_goes_on(
    engine: str, tmp_path: Path
) -> None:
    choose, outcomes, killed = random.Random(1), Counter[str](), 0

    def new_place() -> str:
        return new_url() if engine == "postgres" else str(tmp_path / f"kb{sum(outcomes.values())}")

    place, before = new_place(), _changed("index", {}, 0)
    takes = _write(place, before, False)
    while killed < _KILLS:
        [work] = choose.choices([*_OFTEN], [*_OFTEN.values()])
        if work == "index":
            place, before = new_place(), {}
        after = _changed(work, before, sum(outcomes.values()) + 1)
        number = choose.choice([signal.SIGKILL, signal.SIGINT])
        at, longest = choose.choice([("start", 1.2 * takes), ("publishing", 0.2 * takes)])
        killed += _killed(number, choose.uniform(0, longest), place, after, work == "rebuild", at)
        try:
            content = _content(place)
        except chunkwise.ChunkwiseError:
            if before:
                raise
            content = {}
        assert content in (before, after), (work, number, at, outcomes)
        outcomes[f"{number.name} {'new' if content == after else 'old'}"] += 1
        if choose.random() < 0.3 or not content:
            takes = _write(place, after, False)
            content = _content(place)
            assert content == after
            assert engine == "postgres" or left_behind(Path(place)) == []
        before = content
    assert min(outcomes.values()) >= _KILLS / 40, outcomes
