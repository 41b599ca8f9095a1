"""Code in a text is cut between its outer statements, else behind a blank line, and inside one only at last."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

import chunkwise
from chunkwise.chunkers.packing.cuts import inner_lines
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from tables import cases

PYTHON = "\n".join(
    f"# Step {number}.\n@traced\ndef step_{number}(harbour, boats):\n    total = 0\n    for boat in boats:\n"
    f"        total += boat.weight * {number}\n\n        harbour.log(boat.name, total)\n    return total\n"
    for number in range(12)
)
SCRIPT = "".join(
    f"function step{number}(harbour, boats) {{\n  let total = 0;\n  for (const boat of boats) {{\n"
    f"    total += boat.weight * {number};\n    harbour.log(boat.name);\n  }}\n  return total;\n}}\n"
    for number in range(12)
)
CLASS = "class Harbour:\n" + "\n".join(
    f"    def step_{number}(self, boats):\n        for boat in boats:\n            self.log(boat.name, {number})\n"
    f"        return len(boats)\n"
    for number in range(20)
)
CUTTERS = ["structure", "paragraphs", "sentences", "sections"]


def openings(code: str, cutter: str, indent: str = "") -> list[str]:
    inside = "".join(f"{indent}{line}" for line in code.splitlines(keepends=True))
    text = f"# Code\n\nThis is how.\n\n{indent}```\n{inside}{indent}```\n\nThe end of it.\n"
    document = Document("code.md", text, format="markdown")
    chunks = list(chunkwise.chunk(document, f"{cutter}(max_tokens=200, overlap=0)"))
    starts = [each.start for each in chunks if text.index("```") < each.start < text.rindex("```")]
    assert len(starts) > 1
    return [text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0] for start in starts]


@cases("cutter", CUTTERS)
def test_code_is_cut_between_functions_and_before_what_is_said_above_them(cutter: str) -> None:
    assert all(line.startswith("# Step") for line in openings(PYTHON, cutter))
    assert all(line.startswith("function step") for line in openings(SCRIPT, cutter))


@cases("cutter", CUTTERS)
def test_a_class_is_cut_between_its_methods(cutter: str) -> None:
    assert all(line.startswith("    def step_") for line in openings(CLASS, cutter))


def test_code_that_is_indented_as_a_whole_is_read_by_its_own_margin() -> None:
    found = openings(PYTHON, "structure", indent="   ")
    assert all(line.strip().startswith("# Step") for line in found)


CODE_LINES = [
    "", "", "def f():", "x = 1", "    y = 2", "    if y:", "        z = 3", "# said above", "    # said above", "}",
    "    }", "@mark", "    )", "  half", "/* note", "*",
]  # fmt: skip


def naive(blocks: list[tuple[int, list[str]]]) -> list[list[int]]:
    """Of blocks of code, each with where its lines begin: starts of lines left out of the cuts, by kind of cut."""
    left: list[list[int]] = [[], [], []]
    for start, lines in blocks:
        indents = [len(line) - len(line.lstrip()) for line in lines]
        heads = [line.strip()[:1] for line in lines]
        opens = [head != "" and head not in ")]}" for head in heads]
        for at, (one, other) in enumerate(pairwise(indents)):
            if heads[at] and heads[at] in "#/@*" and one == other:
                opens[at + 1] = False
        margin = min((n for n, own in zip(indents, opens, strict=True) if own), default=None)
        deeper = [n for n, own in zip(indents, opens, strict=True) if own and n != margin]
        for at, line in enumerate(lines):
            outer = opens[at] and indents[at] == margin
            behind_blank = outer or (opens[at] and (at == 0 or not heads[at - 1]))
            stepped = behind_blank or (opens[at] and (not deeper or indents[at] <= min(deeper)))
            for cuts, kept in zip(left, (outer, behind_blank, stepped), strict=True):
                if not kept:
                    cuts.append(start)
            start += len(line) + 1
    return left


@settings(max_examples=examples(100))
@given(st.lists(st.lists(st.sampled_from(CODE_LINES), max_size=9), min_size=1, max_size=3))
def test_lines_left_out_are_those_of_a_plain_reading(codes: list[list[str]]) -> None:
    text, blocks = "Prose.\n", list[tuple[int, list[str]]]()
    for code in codes:
        text += "\n```\n"
        if code:
            blocks.append((len(text), code))
        text += "".join(f"{line}\n" for line in code) + "```\n\nMore.\n"
    found = [own.tolist() for own in inner_lines(Analyzed(Document("x", text, format="markdown")))]
    assert (found or [[], [], []]) == naive(blocks)
