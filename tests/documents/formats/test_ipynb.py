"""Notebooks: text and code without pictures, sections by the headings of text cells."""

from __future__ import annotations

import json

import pytest

from chunkwise.documents.formats.notebook import NotebookLoader
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.source import Source
from chunkwise.text.analyzed import Analyzed
from tables import cases
from untimed import is_linear

PICTURE = "iVBORw0KGgo" * 500


def notebook(*cells: dict[str, object], **more: object) -> str:
    about = {"language_info": {"name": "python"}}
    return json.dumps({"nbformat": 4, "metadata": about, "cells": cells, **more})


def markdown(*lines: str) -> dict[str, object]:
    return {"cell_type": "markdown", "source": list(lines)}


def code(source: str, *outputs: dict[str, object]) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "outputs": outputs}


def test_cells_become_text_and_code_and_pictures_are_passed_over(reader, write) -> None:
    picture = {
        "output_type": "display_data",
        "data": {"image/png": PICTURE, "text/plain": ["<Figure size 640x480>"]},
    }
    printed = {"output_type": "stream", "text": ["\x1b[31mthe ", "mean is 3\x1b[0m\n"]}
    value = {
        "output_type": "execute_result",
        "data": {"text/plain": "42", "text/html": "<b>42</b>"},
    }
    text = notebook(
        markdown("# Study\n", "![plot](data:image/png;base64,", PICTURE, ")\n", "Words."),
        code("import numpy\nprint('```')", picture, printed, value),
        markdown("## Part"),
        {"cell_type": "raw", "source": "raw text"},
        code("   "),
    )
    document = reader.one(write("a.ipynb", text))
    assert document.text == (
        "# Study\n![plot]()\nWords.\n\n````python\nimport numpy\nprint('```')\n````\n\n"
        "```\nthe mean is 3\n```\n\n```\n42\n```\n\n## Part\n\nraw text"
    )
    assert (document.title, document.format) == ("Study", "notebook")
    at = document.text.index("raw text")
    assert Analyzed(document).section(at, at + 3) == ("Study", "Part")
    kinds = [block.kind for block in document.blocks]
    assert kinds == ["heading", "paragraph", "code", "code", "code", "heading", "paragraph"]


def test_a_long_result_is_passed_over(reader, write) -> None:
    log = {"output_type": "stream", "text": "step done\n" * 1000}
    assert (
        reader.one(write("a.ipynb", notebook(code("run()", log)))).text == "```python\nrun()\n```"
    )


def test_the_older_form(reader, write) -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Old"]},
        {"cell_type": "code", "input": "x = 1", "outputs": [{"output_type": "pyout", "text": "1"}]},
        {
            "cell_type": "code",
            "input": "",
            "outputs": [{"output_type": "display_data", "png": PICTURE}],
        },
    ]
    text = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]})
    assert reader.one(write("a.ipynb", text)).text == "## Old\n\n```\nx = 1\n```\n\n```\n1\n```"


@cases(
    "text",
    [
        "{", "[]", "{}", '{"cells": 3}', '{"worksheets": [1]}', "[" * 100_000, "words",
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_one_line(reader, write, text) -> None:
    assert reader(write("a.ipynb", text)) == []
    assert len(reader.reasons) == 1
    assert "notebook" in reader.reasons[0]


def test_a_cell_that_is_none_is_named(reader, write) -> None:
    assert reader(write("a.ipynb", notebook(markdown("kept"), 3))) == []
    assert "$.cells[1]" in reader.reasons[0]


def test_time_is_linear() -> None:
    def work(size: int) -> object:
        text = notebook(*[markdown("# a\n", "b"), code("x")] * size).encode()
        source = Source("a", "a.ipynb", data=text)
        return list(NotebookLoader().load(source, LoadOptions(), pytest.fail))

    is_linear(work, 100)
