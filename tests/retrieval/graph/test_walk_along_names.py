"""A graph of names in an index: kept beside the words, walked along by the retriever graph."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise import Document, Query
from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import Chunked, under_id
from chunkwise.ext import Filter
from chunkwise.options import SearchOptions
from chunkwise.retrieval.graph.build_graph import name_graph
from chunkwise.retrieval.graph.names_and_neighbors import NameLookup
from chunkwise.retrieval.graph.walk_along_names import AllowedEdges, Walk, Walked, _members
from chunkwise.retrieval.indexing.row_builder import BuiltChunked, RowBuilder
from chunkwise.retrieval.search.chains import chains_of_hits
from chunkwise.text.names import name_spans
from chunkwise.text.terms import query_terms
from tables import cases

FILM = Document(
    "film", "Silent Harbour is a film. It was directed by Anna Orme.", title="Silent Harbour"
)
DIRECTOR = Document(
    "orme", "Anna Orme painted boats. She lies in Ghent since 1931.", title="Anna Orme"
)
OTHERS = [
    Document(
        f"other{number}",
        f"Report {number} says when the council of Vane{number} died out in winter.",
    )
    for number in range(30)
]
QUESTION = "When did the director of Silent Harbour die?"


def make(documents: list[Document], into: Path | None = None, **given: object) -> chunkwise.Index:
    return chunkwise.index(documents, into=into, vectors="none", graph=True, **given)  # type: ignore[arg-type]


def test_the_second_passage_is_found_by_the_name_in_the_first() -> None:
    index = make([FILM, *OTHERS, DIRECTOR])
    hits = index.search(QUESTION, retriever="graph", k=2)
    assert {hit.doc_id for hit in hits} == {"film", "orme"}
    without = index.search(QUESTION, retriever="multiscale", budget=40)
    assert "orme" not in {hit.doc_id for hit in without}


def test_a_walk_from_one_name_does_not_push_out_another() -> None:
    films = [
        Document("first", "Silent Harbour is a film that came out in 1931. Anna Orme made it."),
        Document("second", "Cold Lantern, shown from 1928 on, was made by Ida Lund."),
    ]
    titled = [replace(films[0], title="Silent Harbour"), replace(films[1], title="Cold Lantern")]
    led_to = [Document(f"led{n}", f"Anna Orme made film {n} first in {n}.") for n in range(30)]
    question = "Which film came out first, Silent Harbour or Cold Lantern?"
    for documents in (titled, titled[::-1]):
        hits = make([*documents, *led_to]).search(question, retriever="graph", budget=50)
        assert {"first", "second"} <= {hit.doc_id for hit in hits}


def test_the_chain_says_by_which_name() -> None:
    index = make([FILM, *OTHERS, DIRECTOR])
    for retriever in ("graph", "multiscale(graph=0.5)"):
        hits = index.search(QUESTION, retriever=retriever, budget=60)
        (chains,) = chains_of_hits(
            index.source, [Query("1", QUESTION)], [hits], SearchOptions(retriever=retriever)
        )
        first = next(chain for hit, chain in zip(hits, chains, strict=True) if hit.doc_id == "film")
        (hop,) = first.hops
        assert QUESTION[slice(*hop.question)] == hop.name == "Silent Harbour"  # type: ignore[misc]
        assert hop.before is None
        assert (hop.after.doc_id, hop.after.start, hop.after.end) == ("film", 0, 14)
        second = next(
            chain for hit, chain in zip(hits, chains, strict=True) if hit.doc_id == "orme"
        )
        begin, hop = second.hops
        assert begin == first.hops[0]
        assert hop.name == "Anna Orme"
        assert hop.before is not None
        assert FILM.text[hop.before.start : hop.before.end] == "Anna Orme"
        assert hop.before.text == FILM.text[slice(*hop.before.sentence)]
        assert "directed by" in hop.before.text
        assert (hop.after.doc_id, hop.after.start) == ("orme", 0)
        assert second.graph_share > 0.9 > first.graph_share


def test_a_chain_is_that_of_the_search_itself() -> None:
    """What a filter keeps out is no step of the explanation, either; every place in it is what it says."""
    index = make([FILM, *OTHERS, DIRECTOR])
    only = Filter(documents=("orme", "other*"))
    hits = index.search(QUESTION, retriever="graph", k=5, options=SearchOptions(**only.changed()))
    (chains,) = chains_of_hits(
        index.source,
        [Query("1", QUESTION)],
        [hits],
        SearchOptions(retriever="graph", **only.changed()),
    )
    assert len(chains) == len(hits)
    for chain in chains:
        for hop in chain.hops:
            for place in filter(None, (hop.before, hop.after)):
                assert place.doc_id != "film"
                text = index.source.document(index.source.ids().index(place.doc_id)).text
                assert place.text == text[slice(*place.sentence)]
                assert place.sentence[0] <= place.start <= place.end <= place.sentence[1]


def test_a_title_that_the_text_does_not_say_is_a_name_all_the_same() -> None:
    bare = Document("orme", "She painted boats. She lies in Ghent since 1931.", title="Anna Orme")
    index = make([FILM, *OTHERS, bare])
    hits = index.search(QUESTION, retriever="graph", k=2)
    (chains,) = chains_of_hits(
        index.source, [Query("1", QUESTION)], [hits], SearchOptions(retriever="graph")
    )
    hop = next(chain for hit, chain in zip(hits, chains, strict=True) if hit.doc_id == "orme").hops[
        -1
    ]
    assert hop.name == "Anna Orme"
    assert hop.after.start == hop.after.end == 0


def test_what_brackets_tell_apart_is_no_one_name() -> None:
    """A short title is that of a document where no other has it."""
    planet = Document("planet", "It is the smallest one.", title="Mercury (planet)")
    metal = Document("metal", "It is liquid.", title="Mercury (element)")
    ring = Document("ring", "Nobody knows.", title="Salt Ring (novel)")
    plain = Document("plain", "It was read aloud.", title="Salt Ring")

    def about(name: str, *documents: Document) -> list[str]:
        found = NameLookup(make([*documents, *OTHERS]).source).details(name)
        return [each.doc_id for each in found.passages if each.is_about]

    assert about("Mercury (planet)", planet, metal) == ["planet"]
    assert about("Mercury", planet, metal) == []
    assert about("Mercury", planet) == ["planet"]
    assert about("Salt Ring", ring) == ["ring"]
    assert about("Salt Ring", ring, plain) == ["plain"]
    details = NameLookup(make([planet, metal]).source).details("Mercury")
    assert details.counts.name == "Mercury"
    assert [each.kind for each in details.mentions] == ["title", "title"]


def test_who_follows_no_names_has_nothing_to_explain() -> None:
    index = make([FILM])
    for retriever in ("bm25", "multiscale", None):
        with pytest.raises(InvalidParameter, match="--retriever graph"):
            chains_of_hits(
                index.source, [Query("1", QUESTION)], [[]], SearchOptions(retriever=retriever)
            )


def test_an_index_without_names_says_so() -> None:
    index = chunkwise.index([FILM], vectors="none")
    for retriever in ("graph", "multiscale(graph=0.5)"):
        with pytest.raises(InvalidParameter, match="--graph"):
            index.search(QUESTION, retriever=retriever, budget=100)


def test_updating_gives_what_making_anew_gives(tmp_path: Path) -> None:
    index = make([FILM, *OTHERS], tmp_path / "kb")
    index.update([DIRECTOR, *OTHERS[:5], FILM])
    anew = make([DIRECTOR, *OTHERS[:5], FILM], tmp_path / "anew")
    for each in (index, chunkwise.open_index(tmp_path / "kb")):
        one, other = (one.source.atom_table().mentions for one in (each, anew))  # type: ignore[union-attr]
        assert one is not None
        assert other is not None
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    index.verify()


def _same_names(one: chunkwise.Index, other: chunkwise.Index) -> None:
    there, here = (each.source.atom_table().mentions for each in (one, other))  # type: ignore[union-attr]
    assert there is not None
    assert here is not None
    assert all(np.array_equal(a, b) for a, b in zip(there, here, strict=True))


def test_a_file_that_is_renamed_or_copied_has_the_names_of_one_made_anew(tmp_path: Path) -> None:
    """The name of a file is one of its names, and gives short ones of the text their long form."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "anna-orme.md").write_text("Orme drew boats.\n")
    (folder / "same.md").write_text("Orme drew boats.\n")
    (folder / "other.md").write_text("See [the painter](emil-orme.md).\n")
    make_files = partial(chunkwise.index, folder, vectors="none", graph=True)
    index = make_files(into=tmp_path / "kb")
    (said,) = NameLookup(index.source).details("Anna Orme").mentions
    assert (said.doc_id, said.text[said.start : said.end]) == ("anna-orme.md", "Orme")
    (folder / "anna-orme.md").rename(folder / "emil-orme.md")
    (folder / "ida-orme.md").write_text("Orme drew boats.\n")
    index = make_files(into=tmp_path / "kb")
    _same_names(index, make_files(into=tmp_path / "anew"))
    _same_names(chunkwise.open_index(tmp_path / "kb"), make_files())
    assert {each.doc_id for each in NameLookup(index.source).details("Emil Orme").mentions} == {
        "emil-orme.md", "other.md",
    }  # fmt: skip
    with pytest.raises(InvalidParameter, match="no document names 'Anna Orme'"):
        NameLookup(index.source).details("Anna Orme")
    index.verify()


def test_rows_that_were_made_elsewhere_have_the_names_of_the_id_they_end_with() -> None:
    document = Document("one/anna-orme.md", "Orme drew boats.")
    settings = make([document]).settings
    chunked = Chunked(document, list(get_strategy(settings.strategy).chunks(document)))
    (built,) = RowBuilder(settings, None, None)([chunked])
    assert isinstance(under_id(built, "two/anna-orme.md"), BuiltChunked)
    renamed = under_id(built, "one/emil-orme.md")
    assert not isinstance(renamed, BuiltChunked)
    assert (renamed.document.id, renamed.chunks) == ("one/emil-orme.md", [])


def test_asked_for_later_the_names_are_added(tmp_path: Path) -> None:
    chunkwise.index([FILM, DIRECTOR], into=tmp_path / "kb", vectors="none")
    with pytest.raises(InvalidParameter, match="vectors"):
        chunkwise.index([FILM], into=tmp_path / "kb", vectors="late", graph=True)
    added = make([FILM, DIRECTOR], tmp_path / "kb")
    hits = make([FILM, DIRECTOR]).search(QUESTION, retriever="graph", budget=60)
    assert added.search(QUESTION, retriever="graph", budget=60) == hits


def test_a_filter_bars_the_way_too() -> None:
    index = make([FILM, *OTHERS, DIRECTOR])
    only = Filter(documents=("orme", "other*"))
    found = index.search(QUESTION, retriever="graph", k=3, options=SearchOptions(**only.changed()))
    assert "film" not in {hit.doc_id for hit in found}


def _pages(text: str) -> tuple[int, ...]:
    """A page each section."""
    return tuple(at for at in range(len(text)) if text.startswith("## ", at))


SECTIONS = (
    "## Open\n\nThe harbour tale was shot by the sea in spring.\n\n"
    "## Secret\n\nIts maker was Anna Orme, and nobody is to know. Emil Vane paid for it.\n"
)
PARTS = Document("parts.md", SECTIONS, format="markdown", pages=_pages(SECTIONS))
PAINTER = "## Opening\n\nAnna Orme lies in Ghent since 1931, where boats are.\n"
LIFE = Document("life.md", PAINTER, format="markdown", pages=_pages(PAINTER))


@cases("only", [Filter(sections=("open",)), Filter(pages=(1, 1))])
def test_what_is_barred_leads_nowhere_within_a_passage_either(only: Filter) -> None:
    """The open section and the secret one are of one passage: the name stands in the secret one alone."""
    index = make([PARTS, *OTHERS, LIFE])
    question = "When did the harbour tale that was shot by the sea in spring end?"
    with_all = index.search(question, retriever="graph", budget=200)
    assert "life.md" in {hit.doc_id for hit in with_all}
    hits = index.search(
        question, retriever="graph", budget=200, options=SearchOptions(**only.changed())
    )
    assert "parts.md" in {hit.doc_id for hit in hits}
    assert "life.md" not in {hit.doc_id for hit in hits}
    for asked in (question, "Who is Emil Vane of the harbour tale?"):
        hits = index.search(
            asked, retriever="graph", budget=200, options=SearchOptions(**only.changed())
        )
        (chains,) = chains_of_hits(
            index.source,
            [Query("1", asked)],
            [hits],
            SearchOptions(retriever="graph", **only.changed()),
        )
        assert chains
        for hop in (hop for chain in chains for hop in chain.hops):
            assert hop.name not in ("Anna Orme", "Emil Vane")
            for place in filter(None, (hop.before, hop.after)):
                assert "nobody is to know" not in place.text
                assert "Vane paid" not in place.text


@given(st.lists(st.booleans(), min_size=12, max_size=12), st.integers(0, 2**32))
def test_with_a_filter_the_walk_is_that_of_an_index_without_the_rest(
    kept: list[bool], seed: int
) -> None:
    """Edges and terms of barred atoms count as if they were not there; how rare a name is, is of the whole index."""
    graph = name_graph(_MIXED.source.atom_table())
    atoms = graph.atoms
    allowed = np.resize(np.array(kept), len(atoms))
    points = np.random.default_rng(seed).random(len(atoms)) * allowed
    terms = query_terms("boats in winter by Anna Orme", ["en"])
    walked = Walk().scores(graph, atoms, points, terms, (), allowed, keep_steps=True)
    edges = AllowedEdges(graph, allowed)
    table = atoms.mentions
    assert table is not None
    atom = np.repeat(np.arange(len(atoms)), np.diff(table.first))
    for passage, step in walked.steps.items():
        for where in (passage, step.passage):
            inside = (graph.passage[atom] == where) & allowed[atom]
            document = atoms.document[edges.atoms_of(where)[0]]
            above = (atoms.document[atom] == document) & np.isin(table.kind, (1, 2))
            assert graph.names[step.name] in table.name[inside | above]


_MIXED = make(
    [
        Document(
            f"mixed{at}",
            f"# Part {at}\n\nAnna Orme drew boats. Emil Vane{at % 3} saw Ghent in winter.\n\n"
            f"## Later\n\nShe met Ida Lund{at % 4}. They left Ghent.\n",
            format="markdown",
        )
        for at in range(12)
    ]
)


class _Visited:
    """Counts the edges that hops follow."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.hops: list[int] = []
        of_passages, of_names = AllowedEdges.of_passages, AllowedEdges.of_names

        def begin(edges: AllowedEdges, passages: np.ndarray) -> Any:
            self.hops.append(0)
            return of_passages(edges, passages)

        def follow(edges: AllowedEdges, names: np.ndarray) -> Any:
            found = of_names(edges, names)
            if self.hops:  # before the first one, the names of the question are looked up
                self.hops[-1] += len(found[0])
            return found

        monkeypatch.setattr(AllowedEdges, "of_passages", begin)
        monkeypatch.setattr(AllowedEdges, "of_names", follow)


_SHORT_NAMES = [f"{one}{other}" for one in "ABCDEFGH" for other in "JKLMNPQRSTVWXYZ"]


@pytest.mark.usefixtures("large_inputs")
def test_the_work_of_a_walk_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """By passages, names and places: of each the next is more than a hop may follow."""
    dense = ", ".join(_SHORT_NAMES)
    index = make(
        [Document(f"dense{n}", f"{dense}.") for n in range(5)]
        + [Document(f"d{n}", f"Orme saw Vale{n // 5}.") for n in range(600)]
    )
    graph = name_graph(index.source.atom_table())  # type: ignore[union-attr]
    visited = _Visited(monkeypatch)

    def walk(begin: int, **given: int) -> Walked:
        visited.hops.clear()
        points = (graph.atoms.document >= begin).astype(np.float64)
        terms = query_terms("What did Name7 see?", ["en"])
        return Walk(**given).scores(graph, graph.atoms, points, terms, (), keep_steps=True)

    orme = graph.names.searchsorted(name_spans("Orme")[0].name)
    for start in (1, 7):
        for begin in (0, 5):
            walked = walk(begin, start=start, common=5)
            assert all(step.name != orme for step in walked.steps.values())
            assert len(visited.hops) == 2
            assert 0 < max(visited.hops) <= start * 64 * 5
    # What each bound is for: without it there would be more.
    assert np.diff(graph.of_passage.first)[0] > 64
    walk(5, start=1, common=600)
    assert visited.hops[0] > 64 * 5
    walk(5, start=100, common=5)
    assert visited.hops[0] > 64 * 5


@pytest.mark.usefixtures("large_inputs")
def test_a_question_takes_little_memory_whatever_the_parameters_are() -> None:
    index = make([Document(str(at), f"{', '.join(_SHORT_NAMES[:60])}.") for at in range(400)])
    graph = name_graph(index.source.atom_table())  # type: ignore[union-attr]
    points = np.linspace(1, 2, len(graph.atoms))
    terms = np.unique(graph.atoms.terms.hashes)[:64]
    walk = Walk(start=100, common=10_000)
    tracemalloc.start()
    walk.scores(graph, graph.atoms, points, terms, ())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(graph.of_name.other) * walk.start > 2_000_000
    assert peak < 150_000_000


ENGLISH = (
    "Silent Harbour is a film that was shot in the winter of 1931 by Anna Orme, who had painted boats before. "
    "It was shown in Ghent first, where the people of the town liked it more than the critics did later on. "
)
GERMAN = (
    "Die Hafenmeisterin prüfte im Winter die Leuchtfeuer der Mole und schrieb jeden Ausfall in ihr Tagebuch. "
    "Im Frühjahr zahlte die Gemeinde von Ostende die Reparatur der Lampen, des Stegs und der beiden Kräne. "
)


@pytest.mark.parametrize("text", [ENGLISH, GERMAN], ids=["English", "German"])
def test_the_names_take_at_most_half_of_the_text(text: str, tmp_path: Path) -> None:
    make([Document(f"d{number}", text * 5) for number in range(4)], tmp_path / "kb")
    held = chunkwise.open_index(tmp_path / "kb").source.arrays  # type: ignore[union-attr]
    size = sum(each.nbytes for name, each in held.items() if name.startswith("mention."))
    assert 0 < size <= 0.5 * len(text.encode()) * 20


@given(st.sets(st.integers(0, 40), min_size=1), st.sets(st.integers(0, 50)))
def test_members_are_those_of_both(names: set[int], some: set[int]) -> None:
    known, asked = (np.array(sorted(each), np.uint64) for each in (names, some))
    assert _members(known, asked).tolist() == [each in some for each in sorted(names)]


_PAGES = {
    "start.html": "<title>Start</title><h1>Off sick</h1>"
    '<p>Whoever is ill calls in; <a href="rules/hr-017.html">this page</a> tells the rest.</p>',
    "rules/hr-017.html": "<title>Absence</title><h1>Notes</h1><p>A certificate is due on day four.</p>",
}


def _site(folder: Path) -> Path:
    for name, markup in _PAGES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(markup)
    for number in range(30):
        text = f"<h1>Report {number}</h1><p>The council of Vane{number} met ill and called in winter.</p>"
        (folder / f"other-{number}.html").write_text(text)
    return folder


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_link_in_a_page_leads_to_the_page(tmp_path: Path, jobs: int) -> None:
    """By the file alone: neither page says a word of the other; in memory, in a folder and read in other processes."""
    pages = _site(tmp_path / "pages")
    question = "What proof must whoever is ill and calls in bring?"
    for into in (None, tmp_path / "kb"):
        index = chunkwise.index(pages, into=into, vectors="none", graph=True, jobs=jobs)
        hits = index.search(question, retriever="graph", k=2)
        assert {hit.doc_id for hit in hits} == {"start.html", "rules/hr-017.html"}
        without = index.search(question, retriever="multiscale", k=5)
        assert "rules/hr-017.html" not in {hit.doc_id for hit in without}
        (chains,) = chains_of_hits(
            index.source, [Query("1", question)], [hits], SearchOptions(retriever="graph")
        )
        at = [hit.doc_id for hit in hits].index("rules/hr-017.html")
        last = chains[at].hops[-1]
        assert (last.name, last.after.doc_id) == ("hr-017", "rules/hr-017.html")
        assert last.before is not None
        start = next(hit.document for hit in hits if hit.doc_id == "start.html")
        assert start.text[last.before.start : last.before.end] == "this page"
        assert start.links[0].target == "rules/hr-017.html"
        named = NameLookup(index.source).details("hr-017")
        assert {each.doc_id for each in named.mentions} == {"start.html", "rules/hr-017.html"}
        assert named.counts.name == "hr-017"


def test_another_target_is_another_document(tmp_path: Path) -> None:
    """The text of the page is the same: what it names is not."""
    pages = _site(tmp_path / "pages")
    chunkwise.index(pages, into=tmp_path / "kb", vectors="none", graph=True)
    start = pages / "start.html"
    start.write_text(start.read_text().replace("rules/hr-017.html", "other-3.html"))
    index = chunkwise.index(pages, into=tmp_path / "kb", vectors="none", graph=True)
    assert {each.doc_id for each in NameLookup(index.source).details("other-3").mentions} == {
        "start.html", "other-3.html",
    }  # fmt: skip
