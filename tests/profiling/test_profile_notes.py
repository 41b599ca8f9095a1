"""What is unusual in a corpus is noted, with its figure."""

from __future__ import annotations

from chunkwise.core import Document
from chunkwise.profiling import Profile, profile

SENTENCE = "The keeper of lamp {} wrote the height of the water into the green book before supper. "


def _prose(sentences: int, seed: int = 0) -> str:
    return "".join(SENTENCE.format(f"{seed}-{number}") for number in range(sentences))


def _sections(count: int, sentences: int, seed: int = 0) -> str:
    return "\n\n".join(f"## Part {n}\n\n{_prose(sentences, 100 * seed + n)}" for n in range(count))


def _notes(found: Profile) -> str:
    return " ".join(found.notes)


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
    long, short = (profile([Document("a", _prose(count))]) for count in (200, 2))
    assert "--context" in _notes(long)
    assert "--context" not in _notes(short)


def test_nothing_read_is_not_the_same_as_nothing_in_it() -> None:
    assert _notes(profile([])) == "No text to profile: no document was read."
    empty = profile([Document("a", " ")])
    assert _notes(empty) == "No text to profile: every document is empty."


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
