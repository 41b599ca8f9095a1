"""What somebody who knows other libraries gets wrong in Python is refused in words: what, which value, what next."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chunkwise
from chunkwise import Document, Query, Reference, Span
from chunkwise.base.errors import InvalidParameter
from chunkwise.evaluation.scoring import Listeners
from chunkwise.ext import Fact, Metric, Passage
from chunkwise.metrics.evidence import Evidence
from hash_embedder import PlainHashEmbedder
from tables import cases

DOCUMENTS = [
    Document("a.md", "# Tides\n\nThe ferry leaves at nine, when the tide is high.", format="markdown"),
    Document("b.md", "The seed library lends seeds in spring and wants them back in autumn."),
]  # fmt: skip
QUERY = Query("1", "When does the ferry leave?", (Reference("a.md", 10, 34),))


class Whole:
    """Cuts nothing."""

    def split(self, document: chunkwise.ext.Analyzed) -> Sequence[Span]:
        return [Span(0, len(document.text))]


class Reading:
    """A reranker."""

    identity = "reading"

    def scores(self, query: str, texts: Sequence[str]) -> Any:
        return np.ones(len(texts), np.float32)


class OfLists(PlainHashEmbedder):
    """Gives lists, as other libraries' embedders do."""

    identity = "lists"

    def embed(self, texts: Sequence[str], kind: Any = "passage") -> Any:
        return super().embed(texts, kind).tolist()


class OfWords(PlainHashEmbedder):
    """Gives no vectors at all."""

    identity = "words"

    def embed(self, texts: Sequence[str], kind: Any = "passage") -> Any:
        return list(texts)


class Flat(PlainHashEmbedder):
    """Gives the numbers of all texts in one row."""

    identity = "flat"

    def embed(self, texts: Sequence[str], kind: Any = "passage") -> Any:
        return super().embed(texts, kind).ravel()


class WithoutKind(PlainHashEmbedder):
    """Knows one kind of text."""

    identity = "kindless"

    def embed(self, texts: Sequence[str]) -> Any:  # type: ignore[override]
        return super().embed(texts)


class Short(PlainHashEmbedder):
    """Says one more dimension than it has."""

    identity = "short"
    dimensions = 17

    def embed(self, texts: Sequence[str], kind: Any = "passage") -> Any:
        return np.ones((len(texts), 16), np.float32)


def _score(evidence: Evidence) -> list[float]:
    return [1.0 for _ in evidence.queries]


def _evaluate(**given: Any) -> Any:
    return chunkwise.evaluate(DOCUMENTS, [QUERY], **{"embedder": PlainHashEmbedder(), **given})


def _tune(**given: Any) -> Any:
    return chunkwise.tune(DOCUMENTS, [QUERY], embedder="none", **given)


def _index(**given: Any) -> Any:
    return chunkwise.index(DOCUMENTS, **{"embedder": PlainHashEmbedder(), **given})


_ANY: Any = None

MISTAKES: list[tuple[Callable[[], object], str]] = [
    # a value of another kind
    (lambda: _tune(time="soon"), "time is 'soon'"),
    (lambda: _tune(objective=Metric("mine", "My own.", score=_score)), "objective is"),
    (lambda: _tune(embedders="minilm"), "embedders is 'minilm'"),
    (lambda: chunkwise.lint(DOCUMENTS, kinds=5), "kinds is 5; expected a list of names"),
    (lambda: chunkwise.lint(DOCUMENTS, kinds=[5]), "kinds has 5; allowed: mid_word"),
    (lambda: _evaluate(metrics=5), "metrics is 5; expected a list of names"),
    (lambda: _evaluate(metrics=[5]), "5 is int; expected chunkwise.ext.Metric"),
    (lambda: _evaluate(metrics=[_score]), "_score is function; expected chunkwise.ext.Metric"),
    # questions
    (lambda: Query("1", "q?", (("tty.md", 0, 50),)),
     r"references of the question '1' has \('tty.md', 0, 50\); expected Reference"),
    (lambda: Query("1", "q?", (Passage("tty.md", 0, 50),)), "expected Reference"),
    (lambda: Query("1", "q?", Reference("tty.md", 0, 50)),
     r"references of the question '1' is Reference\(.*; expected a tuple of Reference: \(…,\)"),
    (lambda: Query("1", "q?", facts=("nine",)), r"facts .* has 'nine'; expected Fact"),
    (lambda: Query("1", "q?", types="lookup"), "types .* is 'lookup'; expected a tuple of str"),
    (lambda: Query(1, "q?"), "id of the question 1 is 1; expected a str: '1'"),
    (lambda: Query("1", None), "text of the question '1' is None; expected a str"),
    (lambda: Reference("tty.md", "0", 50), "start of the reference to 'tty.md' is '0'; expected an integer"),
    (lambda: Reference(5, 0, 50), "doc_id of a reference is 5; expected a str"),
    (lambda: Reference("tty.md", 0, 50, (("b.md", 1, 2),)), "alternatives .* expected Passage"),
    # documents
    (lambda: Document("a", "x", metadata=[1]), r"metadata of the document 'a' is \[1\]; expected a dict"),
    (lambda: Document("a", "x", {"year": 2024}),
     r"title of the document 'a' is \{'year': 2024\}; expected a str: pass metadata as `metadata`"),
    (lambda: list(chunkwise.chunk("hello")), r"'hello': no such file or folder; for a string, use chunkwise"),
    (lambda: chunkwise.chunk_text(["a", "b"]), "text is a list; expected a str: call it per document"),
    (lambda: chunkwise.chunk_text(None), "text is None; expected a str: skip documents without text"),
    (lambda: chunkwise.chunk_text(b"a"), "text is bytes; expected a str: decode it first"),
    (lambda: chunkwise.chunk_text(Path("a.md")), "text is a path; expected a str: to read a file, use"),
    (lambda: chunkwise.chunk_text(DOCUMENTS[0]), "text is a Document; expected a str: chunkwise.ext.chunk_document"),
    (lambda: Document("a", ["x"]), "text of the document 'a' is a list; expected a str"),
    # metrics
    (lambda: Metric("x", "y", score=_score, better="max"), "better of the metric 'x' is 'max'; allowed: higher, lower"),
    (lambda: Metric("x", "y", score=_score, per="doc"), "per of the metric 'x' is 'doc'; allowed: question, chunking"),
    (lambda: Metric("x", "y", score=_score, at="5"), "at of the metric 'x' is '5'; allowed: none, hits, hits or tok"),
    (lambda: Metric("x", "y", score=_score, needs=("gold",)), "needs of the metric 'x' is .*'gold'.*; allowed: refer"),
    (lambda: Metric("x", "y", score=_score, needs="references"), "needs of the metric 'x' is 'references'; allowed"),
    (lambda: Metric("x", "y", score=0.5), "score of the metric 'x' is 0.5; expected a function of the evidence"),
    # classes
    (lambda: list(chunkwise.chunk(DOCUMENTS, Whole)), r"Whole is a class; expected an instance: Whole\(\)"),
    (lambda: chunkwise.ext.get_strategy(Whole), r"Whole is a class; expected an instance: Whole\(\)"),
    (lambda: chunkwise.index(DOCUMENTS, embedder=PlainHashEmbedder), r"PlainHashEmbedder is a class; .*: Plain.*\(\)"),
    (lambda: _index().search("x", reranker=Reading), r"Reading is a class; expected an instance: Reading\(\)"),
    (lambda: _evaluate(reranker=Reading), r"Reading is a class; expected an instance: Reading\(\)"),
    (lambda: _evaluate(reranker=5), "int is not a valid reranker: it has no `scores`"),
    (lambda: _evaluate(metrics=[Metric]), r"is a class; expected an instance"),
    # models
    (lambda: _index(embedder=OfWords()), "the embedder words returned no numbers .*embed must return a float32 array"),
    (lambda: _index(embedder=Flat()), r"returned an array of shape"),
    (lambda: _index(embedder=WithoutKind()),
     r"WithoutKind is not a valid embedder: its `embed` takes \(texts\) but is called as embed\(texts, kind\)"),
    (lambda: _index(embedder=Short()), "returns 16 dimensions, expected 17"),
    # names
    (lambda: _index().search("x", retriever="BM25"), r"unknown retriever 'BM25'; did you mean bm25\?"),
    # chunks that are there
    (lambda: _index(chunks=[{"content_": "abc"}]), "no chunk given can be read: chunk 1: neither a text nor"),
    (lambda: _index(chunks=[{"start": 0, "end": "x", "doc_id": "a.md"}]), "chunk 1: its end is \"x\""),
    (lambda: _index(chunks=[]), "no chunk was given"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "told"), MISTAKES)
@pytest.mark.filterwarnings("ignore:chunk 1")
def test_a_plausible_mistake_is_told_in_words(call: Callable[[], object], told: str) -> None:
    with pytest.raises(chunkwise.ChunkwiseError, match=told):
        call()


def test_lists_are_taken_where_tuples_are_kept() -> None:
    given: Any = [QUERY.references[0]]
    assert Query("1", QUERY.text, given) == QUERY
    facts: Any = [Fact("nine")]
    assert hash(Query("1", "q?", facts=facts, references=given)) is not None
    whole = Reference("a.md", np.int64(10), np.int64(34))  # type: ignore[arg-type]
    assert whole == QUERY.references[0]
    assert type(whole.start) is int


def test_an_embedder_may_give_lists() -> None:
    made = chunkwise.index(DOCUMENTS, embedder=OfLists())
    assert made.search("ferry", retriever="dense", k=1)[0].doc_id == "a.md"


def test_an_index_of_an_own_embedder_says_that_it_is_to_be_passed(tmp_path: Path) -> None:
    chunkwise.index(DOCUMENTS, embedder=PlainHashEmbedder(), into=tmp_path / "kb")
    with pytest.raises(
        InvalidParameter,
        match=r"built with the embedder 'hash', .* pass embedder=… to .*open_index",
    ):
        chunkwise.open_index(tmp_path / "kb").search("ferry", retriever="dense")
    opened = chunkwise.open_index(tmp_path / "kb", embedder=PlainHashEmbedder())
    assert opened.search("ferry", retriever="dense")
    with pytest.raises(chunkwise.ChunkwiseError, match="unknown embedder 'minlm'; did you mean"):
        chunkwise.open_index(tmp_path / "kb", embedder="minlm").search("x", retriever="dense")


@cases(
    "reference, why",
    [
        (Reference("a.md", 50, 5), "refers to 50–5 of 'a.md'"),
        (Reference("a.md", 5, 5), "refers to 5–5 of 'a.md'"),
        (Reference("a.md", -1, 5), "refers to -1–5 of 'a.md'"),
        (Reference("a.md", 0, 5000), "refers to 0–5,000 of 'a.md', which has 57 characters"),
        (Reference("c.md", 0, 5), "refers to 0–5 of 'c.md'"),
    ],
)
def test_questions_without_a_usable_place_are_refused_with_the_first_reason(
    reference: Reference, why: str
) -> None:
    bad = [Query("1", "q?", (reference,)), Query("2", "q?", (reference,))]
    with pytest.raises(chunkwise.ChunkwiseError, match=f"no usable questions .*question '1' {why}"):
        chunkwise.evaluate(
            DOCUMENTS,
            bad,
            embedder=PlainHashEmbedder(),
            listeners=Listeners(on_bad=lambda line: None),
        )
