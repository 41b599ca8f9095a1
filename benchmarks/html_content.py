"""How much of a page's main text is kept, and how much boilerplate comes with it, beside other extractors."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpora import SHARED
from benchmarks.html_pages import Page, bare, pages
from benchmarks.tables import table

PAGES = Path(os.environ.get("CHUNKWISE_HTML_PAGES") or SHARED / "html_pages")

_WORD = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff]|\w+?(?=[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff])|\w+"
)

Extract = Callable[[str], str]


class Score(NamedTuple):
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def words(text: str) -> Counter[str]:
    """How often each word is there; of scripts without spaces each character."""
    return Counter(_WORD.findall(text.lower()))


def score(found: str, truth: str) -> Score:
    """Of the words of both, each counted as often as it is there."""
    of, wanted = words(found), words(truth)
    common = (of & wanted).total()
    return Score(common / of.total() if of else 0.0, common / wanted.total() if wanted else 1.0)


def _chunkwise(keep_boilerplate: bool) -> Callable[[], Extract]:
    def make() -> Extract:
        from chunkwise.documents.formats.html.loader import html_text

        return lambda markup: html_text(markup, keep_boilerplate=keep_boilerplate).layout.text

    return make


def _trafilatura(**options: bool) -> Callable[[], Extract]:
    def make() -> Extract:
        import trafilatura

        return lambda markup: (
            trafilatura.extract(markup, include_comments=False, include_tables=True, **options)
            or ""
        )

    return make


def _readability() -> Extract:
    from readability import Document

    from benchmarks.html_pages import plain_text

    return lambda markup: plain_text(Document(markup).summary())


def _justext() -> Extract:
    import justext

    stop_words = justext.get_stoplist("English")
    return lambda markup: "\n".join(
        part.text for part in justext.justext(markup, stop_words) if not part.is_boilerplate
    )


def _resiliparse() -> Extract:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda markup: extract_plain_text(
        markup, main_content=True, alt_texts=False, links=False
    )


def _boilerpy() -> Extract:
    from boilerpy3.extractors import ArticleExtractor

    return ArticleExtractor(raise_on_failure=False).get_content


EXTRACTORS: dict[str, Callable[[], Extract]] = {
    "chunkwise": _chunkwise(False),
    "chunkwise, boilerplate kept": _chunkwise(True),
    "trafilatura": _trafilatura(),
    "trafilatura, recall first": _trafilatura(favor_recall=True),
    "resiliparse": _resiliparse,
    "readability-lxml": _readability,
    "jusText": _justext,
    "boilerpy3": _boilerpy,
}


def installed() -> dict[str, Extract]:
    """Those that can be imported here."""
    found: dict[str, Extract] = {}
    for name, make in EXTRACTORS.items():
        try:
            found[name] = make()
        except ImportError:
            print(f"left out: {name} is not installed", file=sys.stderr)
    return found


def safely(extract: Extract, markup: str) -> str:
    """What fails has found nothing."""
    try:
        return extract(markup)
    except Exception as error:
        # Foreign extractors fail in ways nobody lists.
        print(f"  failed: {type(error).__name__}: {str(error)[:80]}", file=sys.stderr)
        return ""


def mean(scores: Sequence[Score]) -> Score:
    count = len(scores) or 1
    return Score(sum(s.precision for s in scores) / count, sum(s.recall for s in scores) / count)


def _rows(
    extractors: dict[str, Extract], chosen: Sequence[Page], shown: Callable[[str], str]
) -> Iterable[list[str]]:
    for name, extract in extractors.items():
        scores = [score(safely(extract, shown(page.markup)), page.truth) for page in chosen]
        of = mean(scores)
        f1 = sum(s.f1 for s in scores) / (len(scores) or 1)
        lost = sum(s.recall < 0.5 for s in scores)
        yield [name, f"{of.precision:.3f}", f"{of.recall:.3f}", f"{f1:.3f}", str(lost)]


_ABOUT = """\
Words of the main text with multiplicity; mean over pages. Ground truth is the collectors' annotation for articles,
and the content element of the generator for documentation. *Without landmarks*: the same pages with `main`,
`article`, `nav` and similar elements turned into `div`s, and without roles, classes and ids. *Half lost*: pages with
a recall under one half. A page on which an extractor fails counts as lost.
The gold text of Mozilla's articles is the output of its own Readability, of which readability-lxml is a port. It
omits headlines, which chunkwise keeps: without them, the F1 of chunkwise on held-out articles is 0.965 (without
landmarks 0.945).
readability-lxml loses a fifth of the words of documentation, so chunkwise doesn't use it for mixed folders. It uses
the same principle on pages marked as articles (Open Graph, schema.org, JSON-LD, a microformat, a date next to the
headline): the element with the most paragraphs is the body, and the smallest element that also contains the headline
is the article. Lists don't count. Neighboring elements of the same depth with a quarter of the prose belong to the
article. Another element with half of the prose, or headings with permanent links, disable the rule. It was developed
on 157 other pages (the caches of trafilatura 0.9.3 and gne 0.4.3) against the majority of four extractors: F1 rose
from 0.869 to 0.915 and from 0.911 to 0.923.
"""
_HEADER = ["extractor", "precision", "recall", "F1", "pages with half lost"]


def html_content() -> str:
    """Tables of precision, recall and F1 of main text; only scored pages first."""
    every = list(pages(PAGES))
    if not every:
        fetched = "`python -m benchmarks.html_pages FOLDER` fetches them, CHUNKWISE_HTML_PAGES names the folder"
        return f"No pages in `{PAGES.name}`: {fetched}."
    extractors = installed()
    told = [_ABOUT]
    for looked_at, title in ((False, "only scored"), (True, "looked at while the rules were made")):
        for kind in ("articles", "documentation"):
            chosen = [p for p in every if p.looked_at == looked_at and p.set.startswith(kind)]
            sets = ", ".join(sorted({p.set.partition(": ")[2] for p in chosen}))
            for shown, how in ((str, ""), (bare, ", without landmarks")):
                told.append(f"{len(chosen)} pages of {kind} ({sets}), {title}{how}:\n")
                told.append(f"{table(_HEADER, list(_rows(extractors, chosen, shown)))}\n")
    return "\n".join(told)


if __name__ == "__main__":
    print(html_content())
