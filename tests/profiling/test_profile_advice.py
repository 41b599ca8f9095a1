"""Each kind of corpus gets the start the issue names, and every start is a strategy that exists."""

from __future__ import annotations

from collections.abc import Callable

from chunkwise.chunkers import get_strategy
from chunkwise.core import Document
from chunkwise.profiling import Profile, profile
from chunkwise.profiling.advice import MEASURE
from tables import cases

SENTENCE = "The keeper of lamp {} wrote the height of the water into the green book before supper. "


def _prose(sentences: int, seed: int = 0) -> str:
    return "".join(SENTENCE.format(f"{seed}-{number}") for number in range(sentences))


def _sections(count: int, sentences: int, seed: int = 0) -> str:
    return "\n\n".join(f"## Part {n}\n\n{_prose(sentences, 100 * seed + n)}" for n in range(count))


def _lines(text: str, count: int) -> str:
    return "\n\n".join(text.format(number) for number in range(count))


RECIPE = (
    "# Soup {0}\n\n- {0} onions\n- salt\n- water of spring {0}\n\n1. Cut number {0}.\n2. Boil.\n"
)
VERSE = "The rake goes out on day {0},\nthe rake comes in again."
TABLE = "| lamp | place |\n|---|---|\n" + "".join(f"| L{n:02} | pier {n} |\n" for n in range(60))
API = (
    "# Call {0}\n\nSends lamp {0}.\n\n```python\nlamp = get({0})\nlamp.send(timeout={0})\n```\n\n"
    "- code {0}\n- place {0}\n"
)

LANGUAGES = {"code": "python"}


def _corpus(count: int, text: Callable[[int], str], format: str = "text") -> list[Document]:
    language = LANGUAGES.get(format, "")
    return [Document(str(n), text(n), format=format, language=language) for n in range(count)]


CORPORA = {
    "recipes": (_corpus(9, RECIPE.format, "markdown"), "structure(max_tokens=150)"),
    "notes": (_corpus(9, lambda n: _prose(2, n)), "sentences(max_tokens=150)"),
    "papers": (_corpus(3, lambda n: _prose(200, n)), "sentences(max_tokens=400, overlap=50)"),
    "pdfs": (_corpus(3, lambda n: _prose(200, n), "pdf"), "sentences(max_tokens=400, overlap=50)"),
    "articles": (_corpus(3, lambda n: _prose(40, n)), "sentences(max_tokens=300, overlap=50)"),
    "verses": (_corpus(1, lambda _: _lines(VERSE, 60)), "paragraphs(max_tokens=100)"),
    "small sections": (
        _corpus(3, lambda n: _sections(8, 6, n), "markdown"),
        "sections(max_tokens=200)",
    ),
    "sections": (_corpus(3, lambda n: _sections(8, 15, n), "markdown"), "sections(max_tokens=400)"),
    "long sections": (
        _corpus(1, lambda _: _sections(4, 200), "markdown"),
        "sections(max_tokens=400, overlap_sentences=2)",
    ),
    "reference": (_corpus(1, lambda _: _lines(API, 30), "markdown"), "structure(max_tokens=200)"),
    "tables": (_corpus(1, lambda _: TABLE, "markdown"), "structure(max_tokens=400)"),
    "source": (
        _corpus(3, lambda n: f"def f{n}():\n    return {n}\n" * 9, "code"),
        "code(max_tokens=400)",
    ),
}


@cases("name", CORPORA)
def test_where_to_start(name: str) -> None:
    documents, expected = CORPORA[name]
    first = profile(documents).advice[0]
    assert (first.scope, first.kind, first.strategy_spec) == ("corpus", "start", expected)
    assert first.why.startswith(f"Start with {expected}: ")
    assert first.why.endswith(MEASURE)
    strategy = get_strategy(first.strategy_spec)
    assert all(list(strategy.chunks(document)) for document in documents)


def _notes(found: Profile) -> str:
    return " ".join(item.why for item in found.advice if item.kind == "note")


def test_folders_that_differ_are_told_apart() -> None:
    papers = [Document(f"papers/{n}", _prose(200, n)) for n in range(3)]
    recipes = [Document(f"recipes/{n}.md", RECIPE.format(n), format="markdown") for n in range(40)]
    found = profile([*papers, *recipes])
    starts = {item.scope: item.strategy_spec for item in found.advice if item.kind == "start"}
    assert starts["folder papers"] == "sentences(max_tokens=400, overlap=50)"
    assert starts["folder recipes"] == "structure(max_tokens=150)"
    assert "one setting may not fit all" in _notes(found)


def test_folders_that_agree_are_not_told_apart() -> None:
    found = profile(
        [
            Document(f"{name}/{n}", _prose(200, 10 * ord(name) + n))
            for name in "ab"
            for n in range(3)
        ]
    )
    assert [item.scope for item in found.advice if item.kind == "start"] == ["corpus"]
    assert "may not fit" not in _notes(found)


def test_source_code_among_documents_has_its_own_start() -> None:
    source = "def lamp():\n    return 1\n\n\n" * 400
    documents = [
        Document("x.md", _sections(30, 15), format="markdown"),
        Document("x.py", source, format="code"),
    ]
    starts = {
        item.scope: item.strategy_spec for item in profile(documents).advice if item.kind == "start"
    }
    assert starts["format code"] == "code(max_tokens=400)"


def test_notes_on_the_text() -> None:
    long = " ".join(f"word{n}" for n in range(150)) + "."
    assert "longer than 200" in _notes(profile([Document("a", long)]))
    for one, other, place in (("a", "papers/b", "the folder itself"), ("papers/b", "a", "papers")):
        two = profile([Document(one, long), Document(other, "Short.")])
        assert f"longer than 200, most often in {place}: " in _notes(two)
    copies = [Document(str(n), _prose(5)) for n in range(3)]
    assert "duplicates compete" in _notes(profile(copies))
    assert "in tokens, not in words" in _notes(
        profile([Document("a", "潮水每天涨落两次，没有人感到惊讶。" * 3)])
    )


def test_contextual_chunks_are_named_where_documents_are_long() -> None:
    long, short = (profile(CORPORA[name][0]) for name in ("papers", "notes"))
    assert "--context" in _notes(long)
    assert "--context" not in _notes(short)


def test_nothing_read_is_not_the_same_as_nothing_in_it() -> None:
    assert _notes(profile([])) == "There is no text to look at: no document was read."
    empty = profile([Document("a", " ")])
    assert _notes(empty) == "There is no text to look at: every document is empty."


def _spoken(*languages: str) -> str:
    texts = {"en": "The tide is in.", "de": "Das ist die Flut.", "fr": "Les marées sont dans le port.",
             "el": "Το νερό.", "zh": "潮水每天涨落两次。", "ko": "바닷물은 하루에.", "he": "המים עולים.",
             "th": "น้ำขึ้นวันละ", "code": "x = 1", "unknown": "1 2 3"}  # fmt: skip
    documents = [
        Document(
            f"{n}", texts[name], format="code" if name == "code" else "text", language="python"
        )
        for n, name in enumerate(languages)
    ]
    return _notes(profile(documents))


def test_several_languages_are_named_or_counted() -> None:
    assert "languages (en, de): " in _spoken("en", "en", "de", "code", "unknown")
    eight = ("en", "de", "fr", "el", "zh", "ko", "he", "th")
    assert "languages (en, de, fr, el, zh, ko and 2 more): " in _spoken(*eight, "code", "unknown")


def test_rare_languages_are_named_once_there_are_several() -> None:
    assert "languages (en, de, fr): " in _spoken(*["en"] * 27, "de", "de", "fr")
    assert "languages" not in _spoken(*["en"] * 30, "de")


def test_source_code_is_no_language() -> None:
    assert "languages" not in _spoken("en", "en", "code", "code", "unknown")
    assert "languages (en, de): " in _spoken("en", "de", *["code"] * 60)


def test_a_very_long_section_is_named() -> None:
    text = f"{_sections(5, 6)}\n\n## The endless one\n\n{_prose(300, 9)}"
    assert "“The endless one” in x.md" in _notes(
        profile([Document("x.md", text, format="markdown")])
    )
