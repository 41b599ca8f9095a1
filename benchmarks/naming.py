"""Questions that name their document, in several ways: what naming gains, and what it costs where nothing is named."""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks.corpora import SHARED  # noqa: E402
from benchmarks.question_sets import SETS, Place, Question, QuestionSet, recall  # noqa: E402
from benchmarks.resampling import bootstrap  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.core import Document  # noqa: E402
from chunkwise.options import SearchOptions  # noqa: E402

MUSIQUE = QuestionSet("musique", ("musique",), "musique/queries.jsonl")
RETRIEVERS = {"keywords": "multiscale(dense=0)", "hybrid": "multiscale"}
VARIED = ("squad2", "musique", "xquad_de", "xquad_zh")
TEMPLATES = {
    "de": ("Laut {name}: {question}", "{question} (aus: {name})"),
    "zh": ("在《{name}》中：{question}", "{question}（{name}）"),
    "en": ("In {name}: {question}", "According to {name}, {question}", "{question} ({name})"),
}
"""Where a name is put."""
MISSING = {"de": "Jahresbericht der Zorblax AG", "zh": "佐布拉年度报告", "en": "the Zorblax annual report"}  # fmt: skip
PLURAL = {"de": "{one} und {other}", "zh": "{one}》和《{other}", "en": "{one} and {other}"}


class Corpus(NamedTuple):
    name: str
    language: str
    documents: list[Document]
    questions: list[Question]


def corpus_of(test: QuestionSet, most: int) -> Corpus:
    """The set with file names made of titles, which many sets have only as numbers."""
    documents, ids = [], dict[str, str]()
    for path in test.paths:
        for line in path.open(encoding="utf-8"):
            row = json.loads(line)
            title = row["title"].replace("_", " ")
            slug = re.sub(r"\W+", "-", title).strip("-").lower()
            name = f"articles/{slug}-{len(ids)}.txt"
            ids[row["doc_id"]] = name
            documents.append(Document(name, row["text"], title=title))
    questions = [
        question._replace(
            references=tuple(
                tuple(Place(ids[place.document], place.start, place.end) for place in places)
                for places in question.references
            )
        )
        for question in test.read(most)
    ]
    language = test.folder.rpartition("_")[2]
    return Corpus(test.name, language if language in TEMPLATES else "en", documents, questions)


def documentation(most: int) -> Corpus:
    """Headings as questions: many pages have a section of the same heading, and the page's name tells which."""
    documents, questions = [], []
    for line in (SHARED / "docs_fastapi_en" / "corpus.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        text = row["text"]
        documents.append(Document(row["doc_id"], text, title=row["title"], format="markdown"))
        heads = [*re.finditer(r"^##+ (.+?)(?: \{ ?#.*\})?$", text, re.MULTILINE)]
        ends = [*(head.start() for head in heads[1:]), len(text)]
        times = Counter(head[1] for head in heads)
        for head, end in zip(heads, ends, strict=False):
            body = text[head.end() : end].strip()
            if len(body) > 80 and times[head[1]] == 1:
                start = text.index(body, head.end())
                place = Place(row["doc_id"], start, start + min(len(body), 600))
                questions.append(Question(f"{row['doc_id']}:{head.start()}", head[1], ((place,),)))
    random.Random(11).shuffle(questions)
    return Corpus("docs_fastapi", "en", documents, questions[:most])


class Namer:
    """The names of a corpus's documents."""

    def __init__(self, corpus: Corpus) -> None:
        self.titles = {each.id: each.title for each in corpus.documents}
        self.language = corpus.language
        self.spread = Counter(
            word for title in self.titles.values() for word in set(title.lower().split())
        )
        self.openings = {
            each.id: re.findall(r"\w{5,}", each.text[:300]) for each in corpus.documents
        }
        """Longer words of the first lines."""

    def title(self, document: str, rng: random.Random) -> str:
        return self.titles[document]

    def shortened(self, document: str, rng: random.Random) -> str:
        """The rarest word of the title; of one without spaces all but the last character."""
        words = self.titles[document].split()
        if len(words) == 1:
            return words[0][:-1] if self.language == "zh" else words[0]
        longer = [word for word in words if len(word) > 3] or words
        return min(longer, key=lambda word: (self.spread[word.lower()], -len(word)))

    def paraphrased(self, document: str, rng: random.Random) -> str:
        """The title's words turned round, and one of the first lines."""
        words = [*reversed(self.titles[document].split())]
        more = self.openings[document]
        return " ".join([*words, *([rng.choice(more)] if more else [])])

    def file_name(self, document: str, rng: random.Random) -> str:
        return document.rpartition("/")[2]

    def misspelled(self, document: str, rng: random.Random) -> str:
        """Two letters of the longest word in the wrong order."""
        title = self.titles[document]
        word = max(title.split(), key=len)
        at = rng.randrange(1, max(2, len(word) - 2))
        wrong = word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]
        return title.replace(word, wrong)

    def with_another(self, document: str, rng: random.Random) -> str:
        other = rng.choice([*self.titles.values()])
        both = [self.titles[document], other]
        rng.shuffle(both)
        return PLURAL[self.language].format(one=both[0], other=both[1])

    def wrong(self, document: str, rng: random.Random) -> str:
        return rng.choice([*self.titles.values()])

    def missing(self, document: str, rng: random.Random) -> str:
        return MISSING[self.language]


KINDS = (
    "title",
    "shortened",
    "paraphrased",
    "file_name",
    "misspelled",
    "with_another",
    "missing",
    "wrong",
)


def named(corpus: Corpus, kind: str, seed: int = 5) -> list[Question]:
    """The questions with the name of the first document that answers them."""
    namer, rng = Namer(corpus), random.Random(seed)
    found = []
    for question in corpus.questions:
        name = getattr(namer, kind)(question.references[0][0].document, rng)
        template = rng.choice(TEMPLATES[corpus.language])
        found.append(question._replace(text=template.format(name=name, question=question.text)))
    return found


class Compared(NamedTuple):
    """Recall without and with naming, and the CPU time of a question."""

    off: NDArray[np.float64]
    on: NDArray[np.float64]
    slower: float

    def row(self, name: str) -> list[str]:
        found = bootstrap(100 * (self.on - self.off))
        shown = f"{found.mean:+.1f} ({found.low:+.1f} to {found.high:+.1f})"
        return [
            name, f"{100 * self.off.mean():.1f}", f"{100 * self.on.mean():.1f}",
            f"**{shown}**" if found.decided else shown, f"{self.slower:.2f}",
        ]  # fmt: skip


def compare(
    index: chunkwise.Index, questions: list[Question], retriever: str, budget: int
) -> Compared:
    """The same questions with naming off and on."""
    texts = [question.text for question in questions]
    index.search(texts[:1], budget=budget, retriever=retriever)
    scores, took = [], []
    for naming in ("off", "on"):
        began = process_time()
        options = SearchOptions(budget=budget, retriever=retriever, naming=naming)
        answers = index.search(texts, options=options)
        took.append(process_time() - began)
        scores.append(np.array([recall(*pair) for pair in zip(questions, answers, strict=True)]))
    return Compared(scores[0], scores[1], took[1] / took[0])


HEAD = ["questions", "off", "on", "difference", "CPU time"]


def plain_table(most: int | None, budget: int) -> str:
    """All sets as they are: cuad names its documents, musique often, the others seldom."""
    rows = []
    for test in (*SETS, MUSIQUE):
        questions = test.read(most)
        index = chunkwise.index(test.paths)
        for signal, retriever in RETRIEVERS.items():
            name = f"{test.name}, {signal}, {len(questions):,}"
            rows.append(compare(index, questions, retriever, budget).row(name))
            print(" ".join(rows[-1]), flush=True)
    return table(HEAD, rows)


def variant_table(most: int, budget: int) -> str:
    """Names put into questions, by keywords."""
    tests = [test for test in (*SETS, MUSIQUE) if test.folder in VARIED]
    rows = []
    for corpus in (documentation(most), *(corpus_of(test, most) for test in tests)):
        index = chunkwise.index(corpus.documents, embedder="none", vectors="none")
        for kind in ("none", *KINDS):
            asked = corpus.questions if kind == "none" else named(corpus, kind)
            row = compare(index, asked, RETRIEVERS["keywords"], budget).row(
                f"{corpus.name}, {kind.replace('_', ' ')}"
            )
            rows.append(row)
            print(" ".join(row), flush=True)
    return table(HEAD, rows)


def run(most: int, budget: int = 1000) -> str:
    return "\n".join([
        f"Recall of the gold characters within {budget:,} tokens, in %, with `naming` off and on; up to {most}"
        " questions per set. Differences are paired, with 95% confidence intervals; CPU time is on / off.\n",
        plain_table(most, budget), "",
        "Names put into questions that have none, keyword search only:\n",
        variant_table(most, budget), "",
    ])  # fmt: skip
