"""Sentence ends found, beside other splitters, on gold sentences that others wrote: a treebank and test files."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from benchmarks.archives import member, members
from benchmarks.tables import table

_SPACE = re.compile(r"\s+")
_LOOKED_AT = ("English, pysbd's golden rules", "English, segtok's list", "de, sentencex's tests")
"""Sets whose cases were seen while the sentences were worked on; the others were only ever scored."""
_A_PARAGRAPH = 5
"""Sentences of a treebank or list that are put together as one text."""

Gold = list[list[str]]
"""Texts, each as its sentences."""
Splitter = Callable[[str], Iterable[str]]


class Ends(NamedTuple):
    """Ends of sentences inside texts, found and right."""

    right: int
    found: int
    gold: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        both = self.found + self.gold
        return 2 * self.right / both if both else 1.0


def run() -> str:
    """Precision and recall of sentence ends, set by set."""
    sets = {**_english(), **_languages(), **_treebank()}
    seen = {name: gold for name, gold in sets.items() if name in _LOOKED_AT}
    unseen = {name: gold for name, gold in sets.items() if name not in _LOOKED_AT}
    return "\n\n".join(
        [
            "Gold sentences, joined to running text and segmented again. A boundary is correct if "
            "it is at the same character; the end of the text doesn't count. Precision, recall "
            "and F1 in percent. The sets come from source archives on PyPI: the Czech treebank PUD (udtools), the "
            "test files of sentencex, the golden rules of pysbd, the list of segtok. pysbd's rules and sentencex's "
            "files are what pysbd and sentencex are tested with themselves.",
            "### Held out",
            "Their cases were not inspected. A first score of 17 showed that Armenian, which uses a "
            "colon as its full stop, needs a rule.",
            _table(unseen),
            "### Used for development",
            _table(seen),
        ]
    )


def _table(sets: dict[str, Gold]) -> str:
    rows = []
    for name, gold in sets.items():
        ends = sum(len(text) - 1 for text in gold)
        rows.append([name, ends, *(_cell(found) for found in _scores(name, gold))])
    totals = [
        _added([_scores(name, gold)[number] for name, gold in sets.items()])
        for number in range(len(_SPLITTERS))
    ]
    rows.append(["all", sum(len(t) - 1 for g in sets.values() for t in g), *map(_cell, totals)])
    return table(["set", "ends", *_SPLITTERS], rows)


def _cell(ends: Ends | None) -> str:
    if ends is None:
        return "–"
    return f"{100 * ends.precision:.0f} / {100 * ends.recall:.0f} · {100 * ends.f1:.1f}"


def _added(each: list[Ends | None]) -> Ends | None:
    known = [ends for ends in each if ends is not None]
    if len(known) < len(each):
        return None  # a sum over other sets is no comparison
    return Ends(*(sum(column) for column in zip(*known, strict=True)))


_KNOWN: dict[str, list[Ends | None]] = {}


def _scores(name: str, gold: Gold) -> list[Ends | None]:
    if name not in _KNOWN:
        language = "en" if name.startswith("English") else name[:2]
        _KNOWN[name] = [_score(_made(make, language), gold) for make in _SPLITTERS.values()]
    return _KNOWN[name]


def _made(make: Callable[[str], Splitter | None], language: str) -> Splitter | None:
    """None where a splitter does not know the language, is not installed, or has no binary for this machine."""
    try:
        return make(language)
    except (ImportError, OSError):
        return None


def _score(split: Splitter | None, gold: Gold) -> Ends | None:
    if split is None:
        return None
    right = found = wanted = 0
    for sentences in gold:
        own = _ends(sentences)
        theirs = _ends(split(" ".join(sentences)))
        last = max(own)
        own, theirs = own - {last}, {end for end in theirs if end < last}
        right, found, wanted = right + len(own & theirs), found + len(theirs), wanted + len(own)
    return Ends(right, found, wanted)


def _ends(sentences: Iterable[str]) -> set[int]:
    """Where sentences end, in characters that are no white space: splitters trim as they like."""
    ends, at = set(), 0
    for sentence in sentences:
        at += len(_SPACE.sub("", sentence))
        ends.add(at)
    return ends


def _ours(language: str) -> Splitter:
    from chunkwise import Document
    from chunkwise.text.analyzed import Analyzed

    def split(text: str) -> Iterator[str]:
        # One line is prose, whatever it looks like: no heading, no list.
        bounds = [*Analyzed(Document("x", text)).sentences.tolist(), len(text)]
        return (text[start:end] for start, end in pairwise(bounds))

    return split


def _nupunkt(language: str) -> Splitter | None:
    if language != "en":
        return None  # trained on English
    import nupunkt

    return nupunkt.sent_tokenize


def _pysbd(language: str) -> Splitter | None:
    import pysbd
    from pysbd.languages import LANGUAGE_CODES

    if language not in LANGUAGE_CODES:
        return None
    return pysbd.Segmenter(language=language, clean=False).segment


def _sentencex(language: str) -> Splitter:
    import sentencex

    return lambda text: sentencex.segment(language, text)


def _blingfire(language: str) -> Splitter:
    import blingfire

    return lambda text: blingfire.text_to_sentences(text).split("\n")


def _syntok(language: str) -> Splitter | None:
    if language not in ("en", "de", "es"):
        return None
    from syntok import segmenter

    def split(text: str) -> Iterator[str]:
        for paragraph in segmenter.analyze(text):
            for sentence in paragraph:
                yield "".join(token.spacing + token.value for token in sentence)

    return split


_SPLITTERS: dict[str, Callable[[str], Splitter | None]] = {
    "chunkwise": _ours,
    "nupunkt": _nupunkt,
    "pysbd": _pysbd,
    "sentencex": _sentencex,
    "blingfire": _blingfire,
    "syntok": _syntok,
}


def _english() -> dict[str, Gold]:
    rules = member("pysbd-0.3.3.tar.gz", "benchmarks/english_golden_rules.py")
    listed = re.search(
        r'OSPL = """(.*?)"""', member("segtok-1.5.9.tar.gz", "segtok/segmenter_test.py"), re.S
    )
    assert listed is not None
    lines = [line.strip() for line in listed[1].splitlines() if line.strip()]
    golden = [each[1] for each in ast.literal_eval(rules.partition("GOLDEN_EN_RULES = ")[2])]
    return {
        "English, pysbd's golden rules": [[one.strip() for one in text] for text in golden],
        "English, segtok's list": _paragraphs(lines),
    }


def _languages() -> dict[str, Gold]:
    """Cases parted by ===, each a text, ---, and its sentences a line; # takes one out."""
    found: dict[str, Gold] = {}
    for name, content in members("sentencex-1.0.9.tar.gz", "/tests/", ".txt"):
        cases: Gold = []
        for case in content.split("==="):
            text, parted, sentences = case.partition("---")
            lines = [line.strip() for line in sentences.splitlines() if line.strip()]
            taken_out = any(line.startswith("#") for line in case.splitlines())
            whole = _SPACE.sub("", text) == _SPACE.sub("", sentences)
            if parted and lines and whole and not taken_out and "\n" not in text.strip():
                cases.append(lines)
        if sum(len(case) - 1 for case in cases) >= 3:
            found[f"{name.rsplit('/', 1)[-1][:2]}, sentencex's tests"] = cases
    return found


def _treebank() -> dict[str, Gold]:
    content = member("udtools-0.2.9.tar.gz", "tests/test-cases/eval/cs_pud-gold.conllu")
    documents: Gold = []
    for line in content.splitlines():
        if line.startswith("# newdoc") or not documents:
            documents.append([])
        if line.startswith("# text = "):
            documents[-1].append(line.removeprefix("# text = ").strip())
    texts = [part for document in documents for part in _paragraphs(document)]
    return {"cs, treebank PUD": [text for text in texts if text]}


def _paragraphs(sentences: list[str]) -> Gold:
    return [sentences[at : at + _A_PARAGRAPH] for at in range(0, len(sentences), _A_PARAGRAPH)]
