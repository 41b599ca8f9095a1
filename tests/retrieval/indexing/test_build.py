"""What an index keeps of a document, against counts and vectors made the slow way."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chunkwise import Document
from chunkwise.chunkers.chunk import Chunked
from chunkwise.ext import Block, get_strategy
from chunkwise.retrieval.indexed_document import IndexedDocument, document_of, record_of
from chunkwise.retrieval.indexing import build
from chunkwise.retrieval.indexing.build import Models, build_documents
from chunkwise.retrieval.indexing.fingerprint import (
    OnlyNew,
    document_fingerprint,
    fingerprint_heads,
)
from chunkwise.retrieval.local.columns import encode
from chunkwise.retrieval.settings import Settings
from chunkwise.testkit.hostile import hostile_documents
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.terms import Terms, document_terms, text_terms
from chunkwise.text.tokens.tokenizers import get_tokenizer
from retrieval.tiny_embedder import Tiny, WholeTexts

TEXT = """# Leave

Everyone has thirty days of leave a year. They are asked for in writing.

## Approval

The head of the team approves it. A refusal gives its reasons, in writing too.

- first, the form is filled in
- then, it is signed

| day | hours |
|---|---|
| Monday | 8 |
| Friday | 6 |
"""
DOCUMENT = Document("handbook.md", TEXT, title="Handbook", format="markdown")
STRATEGY = "sentences(max_tokens=20)"


def made(
    document: Document = DOCUMENT, strategy: str = STRATEGY, **given: object
) -> IndexedDocument:
    values: dict[str, object] = {"vectors": "none", "language": "en", **given}
    model = Tiny() if values["vectors"] != "none" else None
    used = Settings(get_strategy(strategy).label, **values)  # type: ignore[arg-type]
    return build_documents([_chunked(document, strategy)], used, Models(model))[0].part


def _chunked(document: Document, strategy: str) -> Chunked:
    analyzed = Analyzed(document)
    return Chunked(document, list(get_strategy(strategy).chunks(analyzed)), analyzed)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


def _counts(part: IndexedDocument, table: str, row: int) -> dict[int, int]:
    terms = getattr(part, table).terms
    low, high = terms.first[row : row + 2]
    return dict(zip(terms.term[low:high].tolist(), terms.times[low:high].tolist(), strict=True))


def test_chunks_and_atoms_have_the_terms_of_their_text() -> None:
    part = made()
    assert len(part.chunks) > 3
    for table in ("chunks", "atoms"):
        rows = getattr(part, table)
        for row, (start, end) in enumerate(zip(rows.start, rows.end, strict=True)):
            expected = Counter(text_terms(TEXT[start:end], "en").hash.tolist())
            assert _counts(part, table, row) == expected


def test_atoms_tile_the_text_and_their_tokens_add_up() -> None:
    part = made()
    atoms = part.atoms
    assert atoms.start[0] == 0
    assert atoms.end[-1] == len(TEXT)
    assert (atoms.start[1:] == atoms.end[:-1]).all()
    assert int(atoms.tokens.sum()) == get_tokenizer("o200k_base").count(TEXT)


def test_chunks_are_counted_by_the_tokenizer_of_the_index() -> None:
    part = made(strategy="words(max_words=7)")
    count = get_tokenizer("o200k_base").count
    spans = zip(part.chunks.start, part.chunks.end, strict=True)
    assert part.chunks.tokens.tolist() == [count(TEXT[start:end]) for start, end in spans]


def test_sections_are_those_of_the_outline() -> None:
    part = made()
    analyzed = Analyzed(DOCUMENT)
    assert len(set(part.paths)) == len(part.paths)
    for rows in (part.chunks, part.atoms):
        for start, end, section in zip(rows.start, rows.end, rows.section, strict=True):
            assert part.paths[section] == analyzed.section(int(start), int(end))
    assert ("Leave", "Approval") in part.paths


def test_headings_are_indexed_beside_the_chunk() -> None:
    plain, told = made(), made(context="headings")
    assert all("Handbook" in context for context in told.contexts)
    assert any("Approval" in context for context in told.contexts)
    assert told.chunks.tokens.tolist() == plain.chunks.tokens.tolist()
    for row, context in enumerate(told.contexts):
        beside = Counter(text_terms(context, "en").hash.tolist())
        assert _counts(told, "chunks", row) == Counter(_counts(plain, "chunks", row)) + beside


def _sum(model: Tiny, text: str) -> np.ndarray:
    return model.token_vectors([text])[0].vectors.sum(axis=0, dtype=np.float64)


def test_late_vectors_are_the_mean_of_the_tokens_in_the_chunk_and_its_context() -> None:
    model = Tiny()
    for context in ("none", "headings"):
        # Whole paragraphs: cut at atoms, so that no share of an atom comes in.
        part = made(strategy="paragraphs", vectors="late", context=context, dimensions=16)
        assert part.chunk_vectors is not None
        for row, (start, end) in enumerate(zip(part.chunks.start, part.chunks.end, strict=True)):
            expected = _sum(model, TEXT[start:end]) + _sum(model, part.contexts[row])
            expected /= np.linalg.norm(expected)
            assert part.chunk_vectors[row] == pytest.approx(expected, abs=2e-3)


def test_own_vectors_are_those_of_the_text_that_is_indexed() -> None:
    part = made(vectors="own", context="headings", dimensions=16)
    assert part.atom_sums is None
    texts = [
        f"{context}\n{TEXT[start:end]}" if context else TEXT[start:end]
        for context, start, end in zip(
            part.contexts, part.chunks.start, part.chunks.end, strict=True
        )
    ]
    assert part.chunk_vectors is not None
    assert (part.chunk_vectors == WholeTexts().embed(texts)).all()


def test_both_kinds_of_vectors() -> None:
    both, own, late = (made(vectors=vectors, dimensions=16) for vectors in ("both", "own", "late"))
    assert both.chunk_vectors is not None
    assert own.chunk_vectors is not None
    assert both.atom_sums is not None
    assert late.atom_sums is not None
    assert (both.chunk_vectors == own.chunk_vectors).all()
    assert (both.atom_sums == late.atom_sums).all()


def test_parents_are_kept() -> None:
    part = made()
    assert part.parents.tolist() == np.stack([part.chunks.start, part.chunks.end], 1).tolist()


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("document", hostile_documents(), ids=lambda each: each.id)
def test_hostile_documents_become_parts(document: Document) -> None:
    for vectors in ("late", "none"):
        part = made(document, "structure", vectors=vectors, context="headings", language="auto",
                    dimensions=16)  # fmt: skip
        portion = encode(part, "none")
        assert len(portion.column["document.fingerprint"]) == 1
        for table, name in (("chunk", "chunk.start"), ("atom", "atom.start")):
            assert int(portion.size[table].sum()) == len(portion.column[name])
        assert int(part.atoms.tokens.sum()) == get_tokenizer("o200k_base").count(document.text)


def test_the_fingerprint_is_of_what_is_indexed() -> None:
    base = Document("a", "Text.", title="T", format="markdown", pages=(0, 3))
    assert document_fingerprint(base) == document_fingerprint(
        Document("b", "Text.", title="T", format="markdown", pages=(0, 3), source="x",
                 metadata={"k": 1})
    )  # fmt: skip
    others = [
        Document("a", "Text!", title="T", format="markdown", pages=(0, 3)),
        Document("a", "Text.", title="U", format="markdown", pages=(0, 3)),
        Document("a", "Text.T", title="", format="markdown", pages=(0, 3)),
        Document("a", "Text.", title="T", format="text", pages=(0, 3)),
        Document("a", "Text.", title="T", format="markdown", pages=(0, 2)),
        Document("a", "Text.", title="T", format="markdown", pages=(0, 3), blocks=()),
        Document("a", "Text.", title="T", format="markdown", pages=(0, 3), language="python"),
    ]
    assert len({document_fingerprint(each) for each in [base, *others]}) == len(others) + 1


def test_known_documents_are_passed_over() -> None:
    known, new = Document("a", "Known text."), Document("b", "New text.")
    strategy = OnlyNew(get_strategy("sentences"), fingerprint_heads([document_fingerprint(known)]))
    assert list(strategy.chunks(known)) == []
    assert [chunk.text for chunk in strategy.chunks(new)] == ["New text."]
    assert strategy.label == "sentences(max_tokens=400, overlap=50)"


def test_a_document_comes_back_as_it_was() -> None:
    document = Document(
        "id", "Text.", "A title", "a/source", "pdf", "", {"by": ["me", 1, None]}, None, (0, 2)
    )
    assert document_of("id", record_of(document), "Text.", (0, 2)) == document
    blocks = (Block("heading", 0, 2, 1), Block("item", 2, 4, 0, 3), Block("row", 4, 5))
    for declared in (blocks, ()):
        laid_out = replace(document, blocks=declared)
        assert document_of("id", record_of(laid_out), "Text.", (0, 2)) == laid_out


def test_tokens_are_let_go_before_terms_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long text, both together take more than the text and its terms."""
    chunked = _chunked(DOCUMENT, "words(max_words=20)")
    held: list[set[str]] = []

    def watched(analyzed: Analyzed, language: str) -> Terms:
        assert not analyzed._measures
        held.append(set(vars(analyzed)))
        return document_terms(analyzed, language)

    monkeypatch.setattr(build, "document_terms", watched)
    settings = Settings("words(max_words=20)", vectors="none", language="en")
    found = build_documents([chunked], settings, Models())[0].part
    assert len(held) == 1
    assert not held[0] & {"characters", "sentences", "blocks"}
    assert found.atoms.tokens.sum() == get_tokenizer(settings.tokenizer).count(TEXT)
