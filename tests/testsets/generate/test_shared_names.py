"""Questions of two hops: along a name that one passage says and another is about, with both places, in this order."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkwise import Document, generate_questions
from chunkwise.models.cache import ModelCache
from chunkwise.models.llm.client import LlmClient
from chunkwise.testsets.generate import plan as module
from chunkwise.testsets.generate.plan import shared_names
from chunkwise.testsets.generate.source_passages import find_source_passages
from tables import cases
from testsets.generate.rule_model import RuleModel

FILM = Document(
    "film.md",
    "# Silent Harbour\n\nSilent Harbour is a film of the harbour people, shown first in winter. "
    "The film was directed by Anna Orme in a single week, with a crew of island people.\n",
    format="markdown",
)
LIES = "Anna Orme lies in the churchyard of Ghent since the spring of 1931"
DIRECTOR = Document(
    "orme.md",
    f"# Anna Orme\n\nAnna Orme is the painter of the old ferry boats. {LIES}, beside her brother.\n",
    format="markdown",
)
OTHER = Document(
    "other.md",
    "# Weather\n\nIt rained in the night, and the boats stayed in the harbour until noon came.\n",
    format="markdown",
)
DOCUMENTS = [FILM, OTHER, DIRECTOR]


def test_a_name_leads_from_a_passage_to_one_that_is_about_it() -> None:
    found = shared_names(find_source_passages(DOCUMENTS))
    links = [
        (place.passage.document.id, other.document.id, FILM.text[place.start : place.end])
        for place, other in found.links()
    ]
    assert links == [("film.md", "orme.md", "Anna Orme")]


@cases("namesakes", [0, 1])
def test_a_title_without_its_brackets_leads_to_its_document_where_it_is_the_only_one(
    namesakes: int,
) -> None:
    body = (
        "It is the painter of the old ferry boats, and lies in the churchyard of Ghent since then."
    )
    titled = [
        Document(f"d{at}.md", f"{body}\n", f"Anna Orme ({kind})", format="markdown")
        for at, kind in enumerate(["painter", "novel"][: 1 + namesakes])
    ]
    found = shared_names(find_source_passages([FILM, OTHER, *titled]))
    assert len(found.links()) == 1 - namesakes


def test_rules_leave_the_name_out_and_ask_what_is_said_of_it() -> None:
    made = generate_questions(DOCUMENTS, 5, types={"two-hop": 1})
    assert made.queries
    for query in made.queries:
        assert "two-hop" in query.types
        assert "extracted" in query.types
        first, second = query.references
        assert (first.doc_id, second.doc_id) == ("film.md", "orme.md")
        assert "directed by Anna Orme" in FILM.text[first.start : first.end]
        assert "painter" in DIRECTOR.text[second.start : second.end]
        assert "Anna Orme" not in query.text
        assert "directed by …" in query.text


def model_client(model: RuleModel, folder: Path) -> LlmClient:
    return LlmClient(model, cache=ModelCache(folder / "cache"))


ASKED = {
    "quotes": ["The film was directed by Anna Orme in a single week", LIES],
    "question": "Where does the director of the film Silent Harbour lie?",
    "answer": "In the churchyard of Ghent.",
    "facts": ["Ghent"],
}
NAMED = {**ASKED, "question": "Where does Anna Orme lie, the director of Silent Harbour?"}


@pytest.mark.parametrize(("told", "kind"), [(ASKED, "two-hop"), (NAMED, "single-concept")])
def test_a_model_is_shown_both_passages_and_must_not_name_the_link(
    told: dict[str, object], kind: str, tmp_path: Path
) -> None:
    model = RuleModel(lambda prompt: told)
    client = model_client(model, tmp_path)
    made = generate_questions(DOCUMENTS, 1, llm=client, types={"two-hop": 1}, max_calls=4)
    assert "directed by" in model.prompts[0]
    assert "churchyard" in model.prompts[0]
    (query,) = made.queries
    assert query.types[0] == kind
    assert [each.doc_id for each in query.references] == ["film.md", "orme.md"]


def test_documents_without_shared_names_have_none() -> None:
    assert generate_questions([OTHER], 3, types={"two-hop": 1}).queries == ()
    assert not shared_names(find_source_passages([OTHER])).links()


def test_a_name_everywhere_and_a_thousand_headings_stay_small() -> None:
    """What is kept of a name has a bound, whatever the documents say."""
    body = "The ferry of Orme went over the sound again and again in the night, with salt and herring aboard."
    headed = "\n\n".join(f"## Anna Orme\n\n{body} It was trip {number}." for number in range(1000))
    many = [
        Document(f"d{number}", f"{body} Nobody of crew {number} saw the lamp.")
        for number in range(50)
    ]
    found = shared_names(find_source_passages([Document("h.md", headed, format="markdown"), *many]))
    assert all(len(own) <= module._COMMON for own in found.said.values())
    assert all(len(own) <= 2 * module._COMMON for own in found.about.values())
