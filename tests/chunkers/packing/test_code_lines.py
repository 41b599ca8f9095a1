"""Code in a text is cut between its outer statements, else behind a blank line, and inside one only at last."""

from __future__ import annotations

import chunkwise
from chunkwise.core import Document
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
