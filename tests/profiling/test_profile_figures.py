"""The figures of a profile against a plain computation that shares no code with it."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Document
from chunkwise.profiling import Profiler, profile
from chunkwise.profiling.profile import MOST_FOLDERS, OTHER_FOLDERS, SizeDistribution, folder_of
from chunkwise.testkit.hostile import hostile_documents
from how_many import examples
from tables import cases

Part = tuple[int, list[int]]
"""Level of a heading, and the lengths in words of the paragraphs below it."""

parts = st.tuples(
    st.integers(1, 3), st.lists(st.sampled_from([1, 5, 48, 98, 99, 150, 398, 900]), max_size=2)
)
corpora = st.lists(st.lists(parts, max_size=4), min_size=1, max_size=5)


def _markdown(document: list[Part]) -> str:
    blocks = []
    for number, (level, lengths) in enumerate(document):
        blocks.append(f"{'#' * level} Heading{number}")
        blocks += [" ".join(["word"] * length) for length in lengths]
    return "\n\n".join(blocks)


def _section_sizes(document: list[Part]) -> list[int]:
    """A heading without text of its own counts with the deeper one that follows it."""
    sizes: list[int] = []
    bare_level = 0
    for level, lengths in document:
        size = 2 + sum(lengths)
        if bare_level and level > bare_level:
            sizes[-1] += size
        else:
            sizes.append(size)
        bare_level = 0 if lengths else level
    return sizes


def _quantile(values: list[int], share: float) -> int:
    return sorted(values)[math.ceil(round(share * len(values), 6)) - 1] if values else 0


@given(corpora)
@settings(max_examples=examples(20), deadline=None)
def test_sections_and_paragraphs(corpus: list[list[Part]]) -> None:
    documents = [
        Document(f"d{number}.md", _markdown(document), format="markdown")
        for number, document in enumerate(corpus)
    ]
    found = profile(documents, "words").total
    sections = [size for document in corpus for size in _section_sizes(document)]
    paragraphs = [size for document in corpus for _, lengths in document for size in lengths]
    for summary, sizes in ((found.sections, sections), (found.paragraphs, paragraphs)):
        assert summary.count == len(sizes)
        assert summary.total == sum(sizes)
        assert summary.mean == pytest.approx(sum(sizes) / len(sizes) if sizes else 0)
        assert summary.median == _quantile(sizes, 0.5)
        assert summary.p95 == _quantile(sizes, 0.95)
        assert summary.longest == max(sizes, default=0)
    for limit, share in found.fits.items():
        fitting = sum(size <= limit for size in sections)
        assert share == pytest.approx(fitting / len(sections) if sections else 0)
    assert sum(item.count for item in found.sections.histogram) == len(sections)
    assert found.tokens == sum(len(document.text.split()) for document in documents)
    assert found.empty_documents == sum(not document for document in corpus)


@given(st.lists(st.integers(0, 3_000_000)), st.lists(st.integers(0, 900)))
def test_sizes_of_any_magnitude(some: list[int], more: list[int]) -> None:
    sizes, other = SizeDistribution(), SizeDistribution()
    sizes.add(np.array(some, dtype=np.int64))
    other.add(np.array(more, dtype=np.int64))
    sizes.merge(other)
    values = some + more
    assert (sizes.count, sizes.total) == (len(values), sum(values))
    assert sizes.summary().longest == max(values, default=0)
    for share in (0.5, 0.95):
        assert sizes.quantile(share) == _quantile(values, share)
    for limit in (100, 800, 4095):
        assert sizes.at_most(limit) == sum(value <= limit for value in values)


def test_the_longest_section_and_sentence_are_named() -> None:
    long = " ".join(["word"] * 250) + "."
    text = f"# Book\n\n## One\n\nShort.\n\n## Two\n\n{long} The end."
    found = profile([Document("a/x.md", text, format="markdown")], "words").total
    assert found.longest_section is not None
    assert (found.longest_section.document, found.longest_section.section) == (
        "a/x.md",
        "Book > Two",
    )
    assert (found.oversized.over_100, found.oversized.over_200) == (1, 1)
    place = found.oversized.examples[0]
    assert text[place.start :].startswith("word word")
    assert (place.tokens, place.text, place.section) == (250, long[:80], "Book > Two")


def test_three_longest_sentences_over_all_documents() -> None:
    lengths = [120, 300, 101, 100, 180]
    documents = [Document(f"{n}", " ".join(["word"] * n) + ".") for n in lengths]
    found = profile(documents, "words").total.oversized
    assert [place.tokens for place in found.examples] == [300, 180, 120]
    assert (found.over_100, found.over_200) == (4, 1)
    assert found.share_over_100 == pytest.approx(4 / 5)


def test_tables_lists_and_code() -> None:
    text = "Intro.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n```python\nx = 1\n```\n"
    source = Document("m.py", "def f():\n    return 1\n", format="code", language="python")
    found = profile([Document("t.md", text, format="markdown"), source]).total
    assert (found.tables.count, found.lists.count, found.code.count) == (1, 1, 2)
    assert found.languages["code: python"] == 1
    assert found.formats == {"markdown": 1, "code": 1}


def test_blank_lines_before_the_first_heading_are_no_section() -> None:
    found = profile([Document("x.md", "\n\n\n# One\n\nText.\n", format="markdown")]).total
    assert found.sections.count == 1


def test_a_sentence_ends_with_its_paragraph() -> None:
    text = "Run this now:\n\n***\n\nDone.\n"
    found = profile([Document("x.md", text, format="markdown")], "words").total
    assert (found.sentences.count, found.sentences.total, found.sentences.longest) == (2, 4, 3)


def test_folders_and_formats_add_up() -> None:
    ids = ["a/x.txt", "a/y/z.txt", "b/x.md", "top.txt"]
    documents = [
        Document(name, f"Some words of {name}.", format="markdown" if ".md" in name else "text")
        for name in ids
    ]
    found = profile(documents)
    assert {group.name: group.documents for group in found.folders} == {"a": 2, "b": 1, ".": 1}
    assert {group.name: group.documents for group in found.formats} == {"text": 3, "markdown": 1}
    for groups in (found.folders, found.formats):
        assert sum(group.tokens for group in groups) == found.total.tokens
        assert sum(group.sentences.count for group in groups) == found.total.sentences.count


@cases(
    "name, folder",
    [
        ("a/b/c", "a"),
        ("a", "."),
        ("/etc/x", "etc"),
        ("https://host.org/x/y", "host.org"),
        ("", "."),
    ],
)
def test_folder_of(name: str, folder: str) -> None:
    assert folder_of(name) == folder


@pytest.mark.unwatched
def test_many_folders_are_counted_together() -> None:
    found = profile(Document(f"f{n:03}/x", "A few words.") for n in range(MOST_FOLDERS + 7))
    assert len(found.folders) == MOST_FOLDERS + 1
    assert {group.name: group.documents for group in found.folders}[OTHER_FOLDERS] == 7


def test_nothing_and_empty() -> None:
    for documents in ([], [Document("x", "")], [Document("x", " \n\t")]):
        found = profile(documents)
        assert found.total.documents == found.total.empty_documents == len(documents)
        assert (found.total.tokens, found.total.sections.count, found.total.languages) == (0, 0, {})
        assert len(found.notes) == 1
        json.dumps(found.to_dict(), allow_nan=False)


def test_hostile_documents_are_counted() -> None:
    documents = list(hostile_documents())
    found = profile(documents)
    assert found.total.documents == len(documents)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()


@pytest.mark.unwatched
def test_thousands_of_documents_in_a_stream() -> None:
    characters = 0

    def stream() -> Iterator[Document]:
        nonlocal characters
        for number in range(2_000):
            # Finding sentences takes most of the time: one document in fifty has some.
            prose = number % 50 == 0
            text = (f"Document {number} is short. " if prose else f"f({number})\n") * 3
            characters += len(text)
            yield Document(f"{number % 5}/{number}", text, format="text" if prose else "code")

    found = profile(stream(), "characters").total
    assert (found.documents, found.tokens, found.sentences.count) == (2_000, characters, 120)


def test_no_text_is_kept() -> None:
    profiler = Profiler("words")
    empty, characters = len(pickle.dumps(profiler)), 0
    for number in range(60):
        lines = [
            f"Keeper {number}-{n} wrote the height of the water into a book again."
            for n in range(200)
        ]
        text = "\n\n".join(f"{line} {line[:-1]} and went home." for line in lines)
        characters += len(text)
        profiler.add(Document(str(number), text))
    assert len(pickle.dumps(profiler)) - empty < 0.75 * characters


def test_progress_is_told() -> None:
    told: list[tuple[int, str]] = []
    profile([Document("a", "x"), Document("b", "yz")], advance=lambda *step: told.append(step))
    assert told == [(1, "1 document"), (2, "2 documents")]
