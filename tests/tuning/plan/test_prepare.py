"""What a sweep is about, and what can be told of it before it runs."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document, Query, Reference
from chunkwise.evaluation.sources import Skipped
from chunkwise.models.embed.embedder import Embedder
from chunkwise.testsets.testset import TestSet
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from chunkwise.tuning.plan import prepare as module
from chunkwise.tuning.plan.grid import default_sweep
from chunkwise.tuning.plan.prepare import SweepInputs, SweepSource, prepare_sweep, shortest_path
from hash_embedder import HashEmbedder, PlainHashEmbedder
from tables import cases

PLAIN = Document("a", "One lamp is lit. Two are not. " * 200)
TITLED = Document("b", "# Lamps\n\nOne is lit.\n", format="markdown")


def of(*documents: Document) -> SweepInputs:
    return SweepInputs(documents, TestSet(()), ())


def test_tokens_are_counted_and_beyond_a_limit_reckoned(monkeypatch: pytest.MonkeyPatch) -> None:
    count = get_tokenizer(DEFAULT_TOKENIZER).count
    exact = of(PLAIN, TITLED).tokens()
    assert exact == count(PLAIN.text) + count(TITLED.text)
    monkeypatch.setattr(module, "_COUNTED", 1000)
    assert of(PLAIN, PLAIN, PLAIN).tokens() == pytest.approx(3 * count(PLAIN.text), rel=0.02)
    assert of(Document("c", "")).tokens() == 0


def test_headings_are_told_from_the_documents() -> None:
    assert of(PLAIN, TITLED).has_headings
    assert not of(PLAIN).has_headings


def test_a_path_is_the_same_however_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = os.getcwd()
    for said in ("docs", "./docs", "docs/", f"{here}/docs", "docs/../docs"):
        assert shortest_path(said) == "docs"
    assert shortest_path("docs/*.md") == f"docs{os.sep}*.md"
    assert shortest_path("../elsewhere") == str(Path(here).parent / "elsewhere")


def test_the_usual_sweep_is_fitted_and_another_is_not() -> None:
    usual = default_sweep((), None, has_headings=True, embedder="")
    fitted = prepare_sweep(SweepSource(usual, documents=(PLAIN,)), Skipped(None))
    assert fitted.sweep.chunkers == default_sweep((), None, has_headings=False).chunkers
    assert "the documents have no headings" in [each.why for each in fitted.plan.left_out]
    kept = prepare_sweep(SweepSource(usual, documents=(PLAIN, TITLED)), Skipped(None))
    assert kept.sweep.chunkers == usual.chunkers
    assert kept.estimate().tokens == 0  # nobody asks
    with pytest.raises(InvalidParameter, match="standard input"):
        prepare_sweep(SweepSource(default_sweep(("-",), None, has_headings=True)), Skipped(None))


@cases("embedder", [PlainHashEmbedder(), HashEmbedder()])
def test_one_pass_of_any_model_serves_every_chunking_and_several_sizes(embedder: Embedder) -> None:
    usual = default_sweep((), None, has_headings=False, embedder="hash")
    source = SweepSource(usual, documents=(PLAIN,), embedder=embedder)
    made = prepare_sweep(source, Skipped(None)).plan.configurations
    assert {each.vectors for each in made} == {"none", "late"}
    assert any(each.vectors == "late" and not each.strategy for each in made)


def test_of_many_documents_a_sweep_reads_as_many_as_there_is_time_for() -> None:
    documents = tuple(
        Document(f"{number}.txt", f"The lamp of harbour {number} is lit at dusk. " * 40)
        for number in range(50)
    )
    asked = Query("q", "when is it lit?", (Reference("41.txt", 0, 45),))
    usual = default_sweep((), None, has_headings=False)
    source = SweepSource(usual, documents=documents, queries=TestSet((asked,)))
    whole = prepare_sweep(source, Skipped(None))
    assert (len(whole.inputs.documents), whole.inputs.note) == (50, "")
    hurried = replace(source, sweep=replace(usual, time=whole.estimate().total / 5))
    part = prepare_sweep(hurried, Skipped(None))
    names = [each.id for each in part.inputs.documents]
    assert 1 < len(names) < 20
    assert "41.txt" in names
    assert f"({len(names)} of 50 documents)" in part.inputs.note
    assert part.inputs.note in part.notes
    # The same command goes on with the same documents.
    assert prepare_sweep(hurried, Skipped(None)).inputs.documents == part.inputs.documents


def test_of_one_huge_document_a_sweep_reads_the_beginning() -> None:
    lines = "".join(f"The lamp of harbor {number} is lit at dusk.\n" for number in range(2000))
    usual = default_sweep((), None, has_headings=False)
    asked = TestSet((Query("q", "when?", (Reference("other.txt", 0, 5),)),))
    source = SweepSource(usual, documents=(Document("huge.txt", lines),), queries=asked)
    seconds = prepare_sweep(source, Skipped(None)).estimate().total
    (part,) = prepare_sweep(
        replace(source, sweep=replace(usual, time=seconds / 5)), Skipped(None)
    ).inputs.documents
    assert lines.startswith(part.text)
    assert part.text.endswith("dusk.\n")
    assert 0.1 < len(part.text) / len(lines) < 0.3
