"""A graph of names on a server: the same hits, chains and names as in memory, whatever changes."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import astuple
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import chunkwise
from chunkwise import Document, Query
from chunkwise.base.errors import InvalidParameter
from chunkwise.cli.main import group
from chunkwise.core import Link
from chunkwise.models.home_folder import HOME_VARIABLE
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.options import SearchOptions
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.graph.names_and_neighbors import NameLookup
from chunkwise.retrieval.search.chains import chains_of_hits
from how_many import examples
from retrieval.postgres_server import new_url

pytestmark = pytest.mark.usefixtures("postgres")

_PEOPLE = "Anna Orme|Jonas Reed|Ida Lund|Emil Vane|Clara Holt".split("|")
_WORKS = "Silent Harbour|Salt Kitchen|The Long Winter|Glass Bridge|Northern Light".split("|")
_PLACES = "Ghent|Bergen|Turku|Delft|Lübeck".split("|")
QUESTIONS = [
    "When did the director of Silent Harbour die?",
    "Where was the painter of Glass Bridge born?",
    "Who wrote about Turku?",
    "nothing of the kind",
]
FILTERS = [
    EVERYTHING,
    Filter(documents=("people/*",)),
    Filter(sections=("life",)),
    Filter(where="number>=4"),  # type: ignore[arg-type]
    Filter(documents=("none",)),
]


def _document(number: int) -> Document:
    at = number % 5
    if number % 2:
        text = f"# {_WORKS[at]}\n\nIt was directed by {_PEOPLE[at]} in {_PLACES[-at]}.\n"
        return Document(
            f"works/{number}.md", text, _WORKS[at], format="markdown", metadata={"number": number}
        )
    text = f"## Life\n\n{_PEOPLE[at]} was born in {_PLACES[at]}.\n\n## Death\n\nDied in 19{number:02}.\n"
    return Document(
        f"people/{number}.md", text, _PEOPLE[at], format="markdown", metadata={"number": number}
    )


DOCUMENTS = [_document(number) for number in range(20)]


class Director:
    """Says of every work who directed it, as its document does."""

    identity, price_name, window, concurrency = "director", "local", None, 1

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def complete(self, request: Request, stop: object = None) -> Completion:
        if request.schema is None:
            return Completion(f"They speak of {len(request.user)} things.", 1, 1)
        self.requests.append(request)
        work = next((each for each in _WORKS if each in request.user), "")
        found = re.search(r"It was directed by (\w+ \w+)", request.user)
        rows = [
            {"subject": work, "relation": "was directed by", "object": found[1], "quote": found[0]}
        ] if found else []  # fmt: skip
        names = [{"name": work, "description": "A \0 work."}] if found else []
        return Completion(json.dumps({"names": names, "relations": rows}), 1, 1)


def make(documents: list[Document], into: str | None = None) -> chunkwise.Index:
    return chunkwise.index(documents, into=into, vectors="none", graph=True)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))


@cache
def both() -> tuple[chunkwise.Index, chunkwise.Index]:
    return make(DOCUMENTS, new_url()), make(DOCUMENTS)


def _same_mentions(one: chunkwise.Index, other: chunkwise.Index) -> None:
    there, here = (each.source.atom_table().mentions for each in (one, other))
    assert there is not None
    assert here is not None
    assert all(np.array_equal(a, b) for a, b in zip(there, here, strict=True))


@pytest.mark.filterwarnings("ignore:unknown document")
@pytest.mark.parametrize("only", FILTERS)
@pytest.mark.parametrize("retriever", ["graph", "graph(hops=1, mention=1)", "multiscale(graph=2)"])
def test_hits_and_chains_are_those_of_the_index_in_memory(only: Filter, retriever: str) -> None:
    found = []
    queries = [Query(str(at), text) for at, text in enumerate(QUESTIONS)]
    for index in both():
        hits = index.search(
            QUESTIONS, retriever=retriever, budget=120, options=SearchOptions(**only.changed())
        )
        found.append(
            (
                hits,
                chains_of_hits(
                    index.source,
                    queries,
                    hits,
                    SearchOptions(retriever=retriever, **only.changed()),
                ),
            )
        )
    assert found[0] == found[1]
    if only is EVERYTHING:
        assert any(len(chain.hops) > 1 for own in found[0][1] for chain in own)


def test_names_are_looked_up_alike() -> None:
    there, here = (NameLookup(index.source) for index in both())
    assert there.overview() == here.overview()
    for name in (*_PEOPLE, "Ghent"):
        assert astuple(there.details(name)) == astuple(here.details(name))


@settings(max_examples=examples(8))
@given(st.lists(st.lists(st.integers(0, 19), min_size=1, unique=True), min_size=1, max_size=3))
def test_whatever_comes_and_goes_the_names_are_those_of_what_is_there(
    states: list[list[int]],
) -> None:
    url = new_url()
    for numbers in states:
        chosen = [DOCUMENTS[number] for number in numbers]
        index = make(chosen, url)
        # The server keeps documents in the order in which they came.
        order = [index.source.document(number) for number in index.source.document_numbers()]
        assert {each.id for each in order} == {each.id for each in chosen}
        _same_mentions(index, make(order))


def test_a_document_of_many_names_far_from_the_start_of_their_sentence() -> None:
    wide = Document("wide", "x " * 40_000 + "Anna Orme. Ida Lund and Emil Vane wrote. " * 50)
    bare = Document("bare", "no name at all, and a \0 in it")
    _same_mentions(make([wide, bare], new_url()), make([wide, bare]))


def test_names_take_half_the_bytes_of_the_text_at_most() -> None:
    """What the table with names takes beyond the one without, pages and all."""
    text = "Anna Orme was born in Ghent in the spring of that year. She wrote of the harbour of Turku, and its ships. "
    documents = [Document(f"{at}", text * 8) for at in range(60)]
    sizes = []
    for graph in (True, False):
        source = chunkwise.index(documents, into=new_url(), vectors="none", graph=graph).source
        sizes.append(source.stats().bytes)
    assert sizes[0] - sizes[1] <= 0.5 * sum(len(each.text) for each in documents)


def test_names_are_added_when_asked_for_and_go_with_a_rebuild() -> None:
    url = new_url()
    chunkwise.index(DOCUMENTS[:3], into=url, vectors="none")
    with pytest.raises(InvalidParameter, match="keep_others"):
        chunkwise.index(DOCUMENTS[:1], into=url, graph=True, keep_others=True)
    index = chunkwise.index(DOCUMENTS[:3], into=url, graph=True)
    assert index.source.atom_table().mentions is not None
    without = chunkwise.index(DOCUMENTS[:3], into=url, graph=False, rebuild=True)
    with pytest.raises(InvalidParameter, match="--graph"):
        without.search(QUESTIONS[0], retriever="graph", k=2)
    with pytest.raises(InvalidParameter, match="--graph"):
        NameLookup(without.source)


def test_the_commands_speak_of_names_on_a_server() -> None:
    place = str(both()[0].place)
    for line in (
        f"list names {shlex.quote(place)} Anna Orme --json",
        f"search {shlex.quote(place)} {shlex.quote(QUESTIONS[0])} --retriever graph -k 2 --explain",
    ):
        done = CliRunner().invoke(group, shlex.split(line))
        assert done.exit_code == 0, done.output
        assert "Anna Orme" in done.output


def test_relations_are_rows_and_come_and_go_with_their_document(tmp_path: Path) -> None:
    """As in a folder: read once, kept, looked up, gone with the document."""
    documents, url = DOCUMENTS[1:9], new_url()
    model = Director()
    there, here = (
        chunkwise.index(documents, into=into, vectors="none", graph=True, llm=LlmClient(model))
        for into in (url, tmp_path / "kb")
    )
    assert len(model.requests) == len(documents)  # the second index had them from the cache
    _same_mentions(there, here)
    stated = [there.source.relations(number) for number in there.source.document_numbers()]
    assert stated == [here.source.relations(number) for number in here.source.document_numbers()]
    assert sum(len(each.relations) for each in stated) == 4
    found = [index.source.communities().found for index in (there, here)]
    assert [each.summary for each in found[0]] == [each.summary for each in found[1]] != []
    question = "what are the main themes?"
    hits = [index.search(question, retriever="communities", k=2) for index in (there, here)]
    assert hits[0] == hits[1]
    assert len({place.doc_id for place in hits[0][0].places}) == len(documents)
    names = [NameLookup(index.source).details("Anna Orme") for index in (there, here)]
    assert names[0] == names[1]
    there.update([DOCUMENTS[2]])
    assert [there.source.relations(each).relations for each in there.source.document_numbers()] == [
        ()
    ]
    assert {
        place.document for own in there.source.communities().found for place in own.places
    } == set(there.source.document_numbers())


def test_links_of_pages_are_kept_on_the_server_and_lead_on() -> None:
    """Beside a filter on metadata, which reads the records without them."""
    start = Document(
        "start.html", "Whoever is ill calls in; this page tells the rest.", format="html", blocks=(),
        metadata={"number": 1}, links=(Link(25, 34, 'rules/hr-017.html?a="b"'), Link(0, 7, "no.html")),
    )  # fmt: skip
    rules = Document(
        "rules/hr-017.html", "A certificate is due on day four.", "Absence", metadata={"number": 2}
    )
    url = new_url()
    documents = [start, rules, *DOCUMENTS]
    index = chunkwise.index(documents, into=url, vectors="none", graph=True)
    memory = chunkwise.index(documents, vectors="none", graph=True)
    question = "What proof must whoever is ill and calls in bring?"
    for only in (EVERYTHING, Filter(where="number<=2")):  # type: ignore[arg-type]
        hits = [
            each.search(question, retriever="graph", k=2, options=SearchOptions(**only.changed()))
            for each in (index, memory)
        ]
        found = [[(hit.doc_id, hit.start, hit.end) for hit in own] for own in hits]
        assert found[0] == found[1]
        assert {doc_id for doc_id, _, _ in found[0]} == {"start.html", "rules/hr-017.html"}
        (kept,) = (hit.document for hit in hits[0] if hit.doc_id == "start.html")
        assert kept.links == start.links
