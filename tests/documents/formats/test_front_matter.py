"""Front matter is metadata of its document: no chunk holds it, and every position behind it is one in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.documents.formats.markdown import front_matter
from chunkwise.documents.loader import with_blank_head
from tables import cases
from untimed import lines_run

YAML = """---
title: Leave and hours
author: The council
date: 2024-05-01
tags: [leave, hours]
draft: false
weight: 3
nested:
  kind: policy
---
"""
TOML = """+++
title = "Leave and hours"
date = 2024-05-01
tags = ["leave", "hours"]
weight = 3.5
+++
"""
BODY = (
    "# Leave\n\nSix days may be carried over. They are lost after March.\n\n"
    "## Hours\n\nThe ferry leaves at seven. Whoever comes later waits for the next one.\n\n"
    "- one\n- two\n\n```\ncode = 1\n```\n"
)
STRATEGIES = [
    "characters(size=40, overlap=10)",
    "words(size=10)",
    "tokens(max_tokens=12)",
    "sentences(max_tokens=20)",
    "paragraphs",
    "paragraphs(max_tokens=20)",
    "recursive(max_tokens=20)",
    "sections(max_tokens=20)",
    "structure(max_tokens=20)",
    "structure",
    "code(max_tokens=20)",
    "parent_child",
]


def document_of(tmp_path: Path, text: str) -> chunkwise.Document:
    path = tmp_path / "page.md"
    path.write_bytes(text.encode())
    (document,) = chunkwise.read(path)
    return document


def test_yaml_reaches_the_metadata(tmp_path: Path) -> None:
    document = document_of(tmp_path, YAML + BODY)
    assert document.title == "Leave and hours"
    assert document.metadata == {
        "title": "Leave and hours",
        "author": "The council",
        "date": "2024-05-01",
        "tags": ["leave", "hours"],
        "draft": False,
        "weight": 3,
        "nested": {"kind": "policy"},
    }


def test_toml_reaches_the_metadata(tmp_path: Path) -> None:
    document = document_of(tmp_path, TOML + BODY)
    assert document.title == "Leave and hours"
    expected = {"date": "2024-05-01", "tags": ["leave", "hours"], "weight": 3.5}
    assert document.metadata == {"title": "Leave and hours", **expected}


@cases("matter", [YAML, TOML, YAML.replace("\n", "\r\n"), "\ufeff" + YAML])
def test_positions_are_those_in_the_file(tmp_path: Path, matter: str) -> None:
    text = matter + BODY
    document = document_of(tmp_path, text)
    assert len(document.text) == len(text)
    assert document.text[len(matter) :] == BODY
    assert not document.text[: len(matter)].strip()
    assert document.text.count("\n") == text.count("\n")


@cases("strategy", STRATEGIES)
@cases("matter", [YAML, TOML, "\ufeff" + YAML])
def test_chunks_are_those_of_the_text_behind_it(tmp_path: Path, strategy: str, matter: str) -> None:
    """Of every strategy: the same chunks and sections as without front matter, and exact spans."""
    document = document_of(tmp_path, matter + BODY)
    without = chunkwise.Document("page.md", BODY, format="markdown")
    found = chunkwise.ext.chunk_document(document, strategy)
    expected = chunkwise.ext.chunk_document(without, strategy)
    shift = len(matter)
    assert [(c.text, c.start - shift, c.section_path) for c in found] == [
        (c.text, c.start, c.section_path) for c in expected
    ]
    assert all(document.text[c.start : c.end] == c.text for c in found)


@cases(
    "text",
    [
        "---\ntitle: [unclosed\n---\n# Text\n",
        "---\ntitle: a: b: c\n---\n# Text\n",
        "---\nA line between two rules\n---\n# Text\n",
        "---\n- a\n- b\n---\n# Text\n",
        "---\n\nNote: a rule, then text\n\n---\n# Text\n",
        "---\ntitle: never closed\n\n# Text\n",
        "---\ndate: 2024-13-45\n---\n# Text\n",
        "---\n? [a]\n: b\n---\n# Text\n",
        "---\nx: !!python/object:os.system {}\n---\n# Text\n",
        '+++\ntitle = "never closed\n+++\n# Text\n',
        "+++\ntitle: yaml in toml\n+++\n# Text\n",
        "----\ntitle: four\n----\n# Text\n",
        " ---\ntitle: indented\n---\n# Text\n",
        "text\n---\ntitle: later\n---\n",
        "---\n" + "a: [" * 3000 + "\n---\n# Text\n",
        "---\na: &a [x, x]\nb: &b [*a, *a, *a]\n" + "".join(
            f"c{n}: &c{n} [{', '.join([f'*c{n - 1}' if n else '*b'] * 9)}]\n" for n in range(12)
        ) + "---\n# Text\n",
        "---\na: &a [*a]\n---\n# Text\n",
        "---\n" + "a: b\n" * 40_000 + "---\n# Text\n",
        "---",
        "+++\n",
        "---\n---",
    ],
)  # fmt: skip
def test_malformed_front_matter_stays_text(tmp_path: Path, text: str) -> None:
    if text == "---\n---":  # empty and well-formed: but nothing else is there
        assert front_matter(text) is not None
        return
    document = document_of(tmp_path, text)
    assert document.text == text
    assert document.metadata == {}


def test_values_json_cannot_hold_are_left_out() -> None:
    found = front_matter("---\na: .nan\nb: .inf\nc: !!binary aGk=\nd: ok\n1: one\ne: 1e400\n---\n")
    assert found is not None
    assert found.fields == {"d": "ok", "1": "one", "e": "1e400"}
    json.dumps(found.fields, allow_nan=False)


def test_nothing_but_front_matter_is_empty(tmp_path: Path) -> None:
    with pytest.raises(chunkwise.ext.UnreadableDocument, match="empty after its front matter"):
        document_of(tmp_path, YAML)


def test_metadata_goes_with_chunks_and_rows(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(YAML + BODY)
    for chunk in chunkwise.chunk(tmp_path / "page.md"):
        assert chunk.document.metadata["author"] == "The council"
        assert chunk.to_dict()["metadata"]["tags"] == ["leave", "hours"]


def test_front_matter_of_a_record_is_its_metadata_too(tmp_path: Path) -> None:
    record = {"id": "a.md", "text": YAML + BODY, "author": "Somebody else"}
    (tmp_path / "corpus.jsonl").write_text(json.dumps(record))
    (document,) = chunkwise.read(tmp_path / "corpus.jsonl")
    assert document.metadata["author"] == "Somebody else"
    assert document.metadata["weight"] == 3
    assert document.title == "Leave and hours"
    assert document.text.strip() == BODY.strip()


@given(st.text(alphabet="-+.\n\r :[]{}&*!'\"#ab1\t|>?,%@`\ufeff", max_size=80))
def test_no_junk_fails(text: str) -> None:
    for fence in ("---\n", "+++\n"):
        for whole in (fence + text, f"{fence}{text}\n{fence}x"):
            found = front_matter(whole)
            if found is not None:
                assert len(with_blank_head(whole, found.end)) == len(whole)
                json.dumps(found.fields, allow_nan=False)


@pytest.mark.unwatched
@pytest.mark.parametrize("line", ["a: b\n", "\n", "- x\n", "'", "[", "{", "&a ", "\t"])
def test_hostile_front_matter_takes_bounded_work(line: str) -> None:
    few, many = (
        lines_run(lambda n=n: front_matter(f"---\nx: 1\n{line * n}\n---\n"))  # type: ignore[misc]
        for n in (100_000, 400_000)
    )
    assert many <= few + 100


@cases(
    "field",
    ["a: !!bool maybe", "a: !!timestamp x", 'a: !!int ""', 'a: !!float ""', 'a: !!int "-"', "a: !!null x",
     f"? 0x{'f' * 5000}\n: a", "a: {b: {? 0x" + "f" * 5000 + " : a}}", f"a: {'9' * 5000}"],
)  # fmt: skip
def test_values_that_are_not_what_their_tag_says_stay_text(tmp_path: Path, field: str) -> None:
    text = f"---\n{field}\n---\n# Text\n"
    document = document_of(tmp_path, text)
    assert document.text == text or (field, document.metadata) == ("a: !!null x", {"a": None})


def test_halves_of_characters_reach_no_metadata() -> None:
    found = front_matter('---\n"a\\ud800": ["b\\udc00", "\\ud83d\\ude00"]\n---\n')
    assert found is not None
    assert found.fields == {"a\ufffd": ["b\ufffd", "😀"]}
