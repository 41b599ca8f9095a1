"""Chunks longer than the model's window: how many, and what became of them, stands in what an update tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_embedder import Tiny, WholeTexts

from chunkwise import Document, index
from chunkwise.models.onnx.embedder import Long
from chunkwise.models.onnx.minilm import MiniLM

DOCUMENTS = [
    Document(
        "long.txt", "The harbour master keeps a list of all lamps and who lit them at dusk. " * 2
    ),
    Document("short.txt", "A rope."),
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


def _notes(window: int, long: Long = "windows", **more: object) -> tuple[str, ...]:
    model = MiniLM(window=window, long=long)
    made = index(DOCUMENTS, "sentences(max_tokens=20)", model=model, vectors="own", **more)  # type: ignore[arg-type]
    assert made.changes is not None
    return made.changes.notes


def test_texts_that_are_read_in_windows_are_counted() -> None:
    for _ in range(2):  # the second time from the cache
        (note,) = _notes(12)
        assert note.startswith("2 of 3 texts are longer than minilm")
        assert note.endswith("'s window of 12 tokens: read in windows and averaged")


def test_texts_that_are_cut_off_are_counted() -> None:
    (note,) = _notes(12, "truncate")
    assert note.endswith("window of 12 tokens: cut off after 12 tokens")


def test_the_context_counts_and_what_fits_is_not_told() -> None:
    assert _notes(20) == ()
    titled = [Document(each.id, each.text, title="Of lamps and ropes") for each in DOCUMENTS[:1]]
    made = index(
        titled,
        "sentences(max_tokens=20)",
        model=MiniLM(window=20),
        vectors="own",
        context="headings",
    )
    assert made.changes is not None
    assert made.changes.notes[0].startswith("2 of 2 texts are")


def test_late_vectors_and_models_that_cannot_tell_say_nothing() -> None:
    for made in (
        index(DOCUMENTS, model=MiniLM(window=12), vectors="late"),
        index(DOCUMENTS, model=Tiny(), vectors="own"),
        index(DOCUMENTS, model=WholeTexts(), vectors="own"),
        index(DOCUMENTS, vectors="none"),
    ):
        assert made.changes is not None
        assert made.changes.notes == ()


def test_nothing_is_fetched_to_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _notes(12)
    monkeypatch.setenv("CHUNKWISE_MODELS", str(tmp_path / "none"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    assert _notes(12) == ()
