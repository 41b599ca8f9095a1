"""The real local model on a tiny document: whatever it writes, what is kept is proven and what is not is counted."""

from pathlib import Path

import pytest

from chunkwise import Document, generate_questions
from chunkwise.generating import asking
from chunkwise.models.llm.local_model import LocalModel
from chunkwise.models.llm.prompt import PROMPTS_VARIABLE

TINY = Document("lamp.md", "Lamps are lit at dusk by wardens until dawn.\n")
# A short prompt of one's own: a small machine reads few tokens a second, and a fence around a passage has thirty.
PROMPT = """version: 7
---
Repeat.
---
{"quotes":["lit at dusk"],"question":"When are lamps lit?","answer":"dusk","facts":["dusk"]}
"""


@pytest.mark.unwatched
@pytest.mark.filterwarnings("ignore:.*leaves out")
def test_one_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_model: LocalModel
) -> None:
    (tmp_path / "questions_single_concept.md").write_text(PROMPT)
    monkeypatch.setenv(PROMPTS_VARIABLE, str(tmp_path))
    monkeypatch.setattr(
        asking, "MOST_TOKENS", 100
    )  # it ends sooner; cut short it would be asked again
    monkeypatch.setattr(asking, "TRIES", 1)
    made = generate_questions([TINY], 1, llm=local_model, types={"single-concept": 1}, max_calls=2)
    assert len(made.queries) + sum(made.dropped.values()) == 1
    for query in made.queries:
        place = query.references[0]
        assert TINY.text[place.start : place.end].strip()
    assert made.made_by.startswith("gguf:")
