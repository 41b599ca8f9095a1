"""Titles that Markdown files give themselves."""

from __future__ import annotations

import time

import pytest

from chunkwise.documents.markdown_title import markdown_title
from chunkwise.text.characters import Characters
from chunkwise.text.lines import Lines
from chunkwise.text.markdown_blocks import markdown_blocks
from chunkwise.text.sections import Sections


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Plain value # not this\ntags: [a]\n---\n# Other\n", "Plain value"),
        ('---\r\nlayout: post\r\ntitle: "A: \\"b\\""\r\n---\r\n', 'A: "b"'),
        ("\ufeff---\ntitle: 'It''s'\n...\n", "It's"),
        ('+++\ntitle = "Toml"\n+++\n', "Toml"),
        ("---\nsub:\n  title: no\n---\n\n# Yes\n", "Yes"),
        ("---\ntitle:\n---\n# Yes", "Yes"),
        ("---\ntitle: >\n  folded\n---\n# Yes", "Yes"),
        ("---\n\ntitle: no front matter, a rule\n\n# Yes", "Yes"),
        ("intro\n\n## Second\n\n# The *first* H1 ##\n\n# More", "The first H1"),
        ("# `code` and **bold** [link](x.md)", "code and bold link"),
        ("Setext\n title\n======\n", "Setext title"),
        ("Second\n------\n\nFirst\n=\n", "First"),
        ("```sh\n# comment\n```\n\n# Yes", "Yes"),
        ("    # code\n\n#hashtag\n\n#\n\n# Yes", "Yes"),
        ("> quote\n====\n", ""),
        ("text\n" * 200 + "\n# Far down", "Far down"),
        ("text\n" * 4000 + "\n# Too far down", ""),
        ("text\n" * 3999 + "\n# Cut in the middle", ""),
        ("\ufeff# After a mark\n", "After a mark"),
        ("+++\n# A comment\nweight = 1\n+++\n\n# Yes\n", "Yes"),
        ("---\n# A comment\n---\n# Yes\n", "Yes"),
        ("<h1>Html &amp; more</h1>\n", "Html & more"),
        ("# snake_case and \\*stars\\*\n", "snake_case and *stars*"),
        ("", ""),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert markdown_title(text) == title


@pytest.mark.parametrize("heading", ["# The *first* `x_y` ##", "Two\n lines\n===", "# [a](b) &lt;"])
def test_a_title_is_what_the_section_is_called(heading: str) -> None:
    text = f"{heading}\n\ntext\n"
    sections = Sections(text, markdown_blocks(Lines(Characters(text))))
    assert (markdown_title(text),) == sections.paths[1]


def test_the_loaders_give_the_title(reader, write) -> None:
    assert reader.one(write("a.md", "# Title\n\ntext")).title == "Title"
    assert reader.one(write("a.txt", "# Title\n\ntext")).title == ""


@pytest.mark.parametrize("text", ["# " + "[" * 10**6, "---\ntitle: '" + "'" * 10**6, "# #" * 10**6])
def test_hostile_titles_take_a_moment(text: str) -> None:
    started = time.process_time()
    markdown_title(text)
    assert time.process_time() - started < 10
