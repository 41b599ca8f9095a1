"""A document analyzed once: arrays that tile the text, atoms within their limit, one tokenisation for all."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.chunkers import get_strategy, strategies
from chunkwise.core import Block, Document
from chunkwise.testkit.hostile import hostile_documents
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.sentences.atoms import ATOM_TOKENS
from chunkwise.text.sentences.full_stops import starts_behind_stops
from chunkwise.text.tokens.tokenizers import get_tokenizer
from how_many import examples
from tables import cases
from text.nasty_text import PIECES

MARKUP = [
    "\n\n", "\n# Head\n", "\n## Sub\n\n", "\n===\n", "\n---\n", "```\n", "\n~~~\n", "\n- item", "\n1. ", "\n    code\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n", "<!--", "-->", "\n> ", ". The", "? Who", "。", "。」", "…", "\ud800",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES + MARKUP), max_size=60).map("".join) | st.text(max_size=80)
FORMATS = st.sampled_from(["text", "markdown", "pdf", "code", "html"])
TOKENIZERS = st.sampled_from(["o200k_base", "words", "characters"])


def check_tiles(document: Analyzed, starts: NDArray[np.int64]) -> None:
    if not document.text:
        assert len(starts) == 0
        return
    assert starts[0] == 0
    assert (np.diff(starts) > 0).all()
    assert starts[-1] < len(document.text)
    assert all(document.graphemes.is_break(start) for start in starts.tolist())


@settings(max_examples=examples(100), deadline=None)
@given(TEXTS, FORMATS, TOKENIZERS, st.integers(1, 12))
def test_sentences_paragraphs_and_atoms_tile_any_text(
    text: str, form: str, tokenizer: str, limit: int
) -> None:
    document = Analyzed(Document("x", text, format=form))
    check_tiles(document, document.sentences)
    check_tiles(document, document.paragraphs)
    check_tiles(document, document.atoms(tokenizer, limit))
    assert np.isin(document.sentences, document.atoms(tokenizer, limit)).all()


@settings(max_examples=examples(100), deadline=None)
@given(TEXTS, FORMATS, TOKENIZERS, st.integers(1, 12))
def test_atoms_reach_as_far_as_words_and_the_limit_let_them(
    text: str, form: str, tokenizer: str, limit: int
) -> None:
    """Every one that is no sentence and begins behind no full stop, against all words of its stretch."""
    document = Analyzed(Document("x", text, format=form))
    atoms = document.atoms(tokenizer, limit).tolist()
    words = document.graphemes.keep(document.characters.word_starts).tolist()
    measure = document.measure(tokenizer)
    natural = {
        *document.sentences.tolist(),
        *starts_behind_stops(document.text, [(0, len(document.text))]).tolist(),
    }
    for start, end in pairwise(atoms):
        if end in natural:
            continue
        between = [word for word in words if start < word]
        within = [word for word in between if measure.before(word) - measure.before(start) <= limit]
        assert end == max(within, default=between[0])


@given(TEXTS, FORMATS)
def test_what_is_let_go_is_found_again_alike(text: str, form: str) -> None:
    document = Analyzed(Document("x", text, format=form))

    def everything() -> list[object]:
        found = (document.sentences, document.paragraphs, document.regions, document.cells)
        sections = document.sections.start, document.sections.heading_end
        more = document.fragment_starts, document.lead_ins, document.atoms("words", 3)
        return [each.tolist() for each in (*found, *sections, *more)]

    before, sections = everything(), document.sections
    document.forget()
    assert not {"characters", "graphemes", "lines", "blocks", "sentences"} & vars(document).keys()
    assert everything() == before
    assert document.sections is sections


@cases("document", hostile_documents())
def test_hostile_documents_are_tiled(document: Document) -> None:
    analyzed = Analyzed(document)
    for starts in (
        analyzed.sentences,
        analyzed.paragraphs,
        analyzed.atoms(),
        analyzed.atoms("words", 3),
    ):
        check_tiles(analyzed, starts)


@settings(max_examples=examples(75), deadline=None)
@given(TEXTS, FORMATS, TOKENIZERS, st.integers(1, 12))
def test_an_atom_is_within_the_limit_unless_no_space_divides_it(
    text: str, form: str, tokenizer: str, limit: int
) -> None:
    document = Analyzed(Document("x", text, format=form))
    bounds = np.append(document.atoms(tokenizer, limit), len(text))
    before = document.measure(tokenizer).starts.searchsorted(bounds)
    words = document.graphemes.keep(document.characters.word_starts)
    for atom in np.flatnonzero(np.diff(before) > limit).tolist():
        inside = words[(words > bounds[atom]) & (words < bounds[atom + 1])]
        assert inside.tolist() == []


def test_long_words_do_not_push_an_atom_over_the_limit() -> None:
    text = "internationalisationalised antidisestablishmentarianisms " * 200
    document = Analyzed(Document("x", text))
    for limit in (10, 17, ATOM_TOKENS):
        bounds = np.append(document.atoms("cl100k_base", limit), len(text))
        sizes = np.diff(document.measure("cl100k_base").starts.searchsorted(bounds))
        assert sizes.max() <= limit
        assert sizes[:-1].min() > limit // 3


@settings(max_examples=examples(40), deadline=None)
@given(TEXTS, TOKENIZERS)
def test_the_sizes_of_atoms_by_running_sums_add_up(text: str, tokenizer: str) -> None:
    document = Analyzed(Document("x", text))
    measure = document.measure(tokenizer)
    bounds = np.append(document.atoms(tokenizer, 5), len(text))
    assert np.diff(measure.starts.searchsorted(bounds)).sum() == get_tokenizer(tokenizer).count(
        text
    )


class Recorder:
    """Words, counted, with a note of every text whose offsets were asked for."""

    name = "recorder"
    restart = None

    def __init__(self) -> None:
        self.asked: list[str] = []

    def offsets(self, text: str) -> NDArray[np.int64]:
        self.asked.append(text)
        return get_tokenizer("words").offsets(text)

    def count(self, text: str) -> int:
        return get_tokenizer("words").count(text)


def test_a_text_is_tokenized_once_whatever_is_asked_of_it() -> None:
    recorder = Recorder()
    text = "# Head\n\n" + "Some words make a sentence. " * 200 + "\n\n- item one\n- item two\n"
    document = Analyzed(Document("x", text, format="markdown"))
    made = 0
    for name in strategies.names():
        factory = strategies.get(name)
        # What raptor has written is another text.
        if "tokenizer" not in getattr(factory, "__dataclass_fields__", {}) or name in (
            "characters",
            "words",
            "raptor",
        ):
            continue
        for size in (20, 60):
            strategy = get_strategy(factory(max_tokens=size, tokenizer=recorder))
            assert list(strategy.chunker.split(document))
            made += 1
    document.atoms(recorder, 5)
    assert made >= 10
    assert recorder.asked == [text]


def test_a_function_is_a_tokenizer_once_a_document() -> None:
    document = Analyzed(Document("x", "Two words. " * 50))
    counter = str.split
    assert document.measure(counter) is document.measure(counter)
    assert document.measure("words") is document.measure("".join(["wor", "ds"]))
    assert document.measure("words") is not document.measure("characters")


def test_what_is_found_is_kept() -> None:
    document = Analyzed(Document("x", "# A\n\nOne. Two.\n", format="markdown"))
    for name in (
        "characters",
        "graphemes",
        "lines",
        "blocks",
        "sections",
        "sentences",
        "paragraphs",
    ):
        assert getattr(document, name) is getattr(document, name), name


def shown(document: Analyzed, starts: NDArray[np.int64]) -> list[str]:
    bounds = [*starts.tolist(), len(document.text)]
    return [document.text[lo:hi].strip() for lo, hi in pairwise(bounds)]


def test_atoms_of_a_text_without_capitals_end_at_full_stops() -> None:
    said = "revenue rose in the second quarter (see note 4.2 above.) costs fell by 3.5 percent! did it?"
    few, many = (Analyzed(Document("a", " ".join([said] * times))) for times in (1, 9))
    assert shown(few, few.atoms()) == [said]  # short enough as it is
    assert len(many.sentences) == 1
    assert shown(many, many.atoms()) == [
        "revenue rose in the second quarter (see note 4.2 above.)", "costs fell by 3.5 percent!", "did it?",
    ] * 9  # fmt: skip


def test_rows_of_dots_and_abbreviations_part_no_overlong_sentence() -> None:
    row = "definitions " + ". " * 300 + "3"
    document = Analyzed(Document("a", row))
    assert len(document.atoms()) < 6
    clause = "no. 5 of main st. is held by dr. smith and mr. jones, i.e. the firm (see fig. 3 and approx. p. 7) "
    document = Analyzed(Document("a", clause * 9))
    assert len(document.atoms()) < 6  # cut at spaces


def test_the_atoms_of_markdown_are_sentences_items_rows_and_lines_of_code() -> None:
    text = "# Head. Line\nOne. Two!\n\n- an item. B\n- c\n\n| x |\n|---|\n| y |\n\n```\nf()\n\ng. H\n```\nEnd"
    document = Analyzed(Document("x", text, format="markdown"))
    assert shown(document, document.atoms()) == [
        "# Head. Line", "One.", "Two!", "- an item.", "B", "- c", "| x |\n|---|", "| y |",
        "```", "f()", "", "g. H", "```", "End",
    ]  # fmt: skip
    assert shown(document, document.paragraphs) == [
        "# Head. Line", "One. Two!", "- an item. B\n- c", "| x |\n|---|\n| y |", "```\nf()\n\ng. H\n```", "End",
    ]  # fmt: skip


def test_a_heading_without_a_full_stop_is_a_sentence() -> None:
    document = Analyzed(Document("x", "1.1 Scope\n\nThe words. Their meaning.\n"))
    assert shown(document, document.sentences) == ["1.1 Scope", "The words.", "Their meaning."]


def test_code_is_lines_and_its_paragraphs_are_set_off_by_blank_ones() -> None:
    text = "def f():\n    return 1. # A. B\n\n\ndef g():\n    pass\n"
    document = Analyzed(Document("x", text, format="code", language="python"))
    assert shown(document, document.atoms()) == [line.strip() for line in text.splitlines()]
    assert shown(document, document.paragraphs) == [part.strip() for part in text.split("\n\n\n")]
    assert len(document.blocks) == 0


def test_declared_blocks_are_taken_as_given() -> None:
    text = "# no heading\nTitle\nOne. Two."
    blocks = (Block("paragraph", 0, 12), Block("heading", 13, 18, 2), Block("paragraph", 19, 28))
    document = Analyzed(Document("x", text, format="markdown", blocks=blocks))
    assert [document.blocks[n] for n in range(3)] == list(blocks)
    assert document.section(20, 21) == ("Title",)
    assert shown(document, document.sentences) == ["# no heading", "Title", "One.", "Two."]
    assert len(Analyzed(Document("x", text, format="markdown", blocks=())).blocks) == 0


def test_declared_code_that_ends_with_its_line_leaves_no_blank_sentence() -> None:
    text = "Run this:\nx = 1\ny = 2\n\nIt goes on."
    prose = Block("paragraph", 0, 9), Block("paragraph", 23, 34)
    for end in (21, 22):
        blocks = (prose[0], Block("code", 10, end), prose[1])
        document = Analyzed(Document("x", text, format="mine", blocks=blocks))
        assert shown(document, document.sentences) == ["Run this:", "x = 1", "y = 2", "It goes on."]
