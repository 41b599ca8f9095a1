"""An index whose contexts a language model wrote: what is recorded, kept, refused, and not needed for searching."""

from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from chunkwise import Document, Index, index, open_index
from chunkwise.base.errors import InvalidParameter
from chunkwise.models.embed.pretrained import minilm
from chunkwise.models.home_folder import HOME_VARIABLE
from chunkwise.models.http_client import EndpointError
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.models.llm.prompt import load_prompt
from retrieval.tiny_embedder import Tiny

RULES = [f"Rule {n} of the shed." for n in range(5)]


class Scribe:
    """Answers by rule and counts."""

    price_name = "local"
    concurrency = 2
    window = None

    def __init__(self, name: str = "scribe", answer: str = "It is about the zeppelin.") -> None:
        self.identity = name
        self.answer = answer
        self.asked = 0

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        self.asked += 1
        return Completion(self.answer, 1, 1)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))


def documents(*rules: str) -> list[Document]:
    return [
        Document("shed.txt", "\n\n".join(rules or RULES), title="Shed"),
        Document("yard.txt", "The yard is open.\n\nThe gate is not.", title="Yard"),
    ]


def test_what_was_written_is_searched_and_what_was_said_stays(tmp_path: Path) -> None:
    scribe = Scribe()
    made = index(
        documents(), "paragraphs", into=tmp_path / "kb", vectors="none", context="neighbors",
        llm=scribe,
    )  # fmt: skip
    assert scribe.asked == 7
    settings = made.settings
    assert (settings.context, settings.llm, settings.llm_identity) == (
        "neighbors", "scribe", "scribe",
    )  # fmt: skip
    assert settings.prompt == load_prompt("context_neighbors").version
    found = open_index(tmp_path / "kb").search("zeppelin", k=20)
    assert len(found) == 7
    assert all("zeppelin" not in hit.text for hit in found)
    assert {hit.text for hit in found if hit.doc_id == "shed.txt"} == set(RULES)


@pytest.mark.parametrize("place", ["kb", None])
def test_an_update_asks_about_new_chunks_alone(place: str | None, tmp_path: Path) -> None:
    scribe = Scribe()
    made = index(
        documents(), "paragraphs", into=tmp_path / place if place else None, vectors="none",
        context="document", llm=LlmClient(scribe),
    )  # fmt: skip
    assert scribe.asked == 7
    made.update(documents())
    assert scribe.asked == 7
    made.update(documents(*RULES[:2], "A new rule.", *RULES[2:]))
    assert scribe.asked == 8
    assert len(made.search("zeppelin", k=20)) == 8


def test_writing_tells_the_work_to_its_end() -> None:
    written: dict[str, Any] = {"context": "document", "llm": LlmClient(Scribe())}
    told: list[int] = []
    for options in ({}, written):
        told.clear()
        index(
            documents(),
            "paragraphs",
            embedder=Tiny(),
            advance=lambda n, _: told.append(n),
            **options,
        )
        assert sum(told) == sum(len(each.text) for each in documents())


def test_vectors_are_of_context_and_text(tmp_path: Path) -> None:
    model = minilm()  # loaded once

    def search(answer: str) -> list[str]:
        scribe = Scribe(answer, answer)
        made = index(
            [Document("a", "It is open.\n\nIt is shut.")], "paragraphs", vectors="own",
            context="neighbors", llm=scribe, embedder=model,
        )  # fmt: skip
        return [f"{hit.score:.3f}" for hit in made.search("airships", k=2, retriever="dense")]

    assert search("This is about airships and zeppelins.") > search("This is about soup.")


def test_another_model_another_way_another_wording_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb = tmp_path / "kb"
    index(documents(), "paragraphs", into=kb, vectors="none", context="neighbors", llm=Scribe())
    with pytest.raises(InvalidParameter, match=r"built with llm='scribe'.*llm is 'other'"):
        index(documents(), into=kb, llm=Scribe("other"))
    with pytest.raises(InvalidParameter, match=r"context='neighbors'.*context='document'"):
        index(documents(), into=kb, context="document", llm=Scribe())
    wording = "version: 9\n---\n\n---\nSay {{passage}} {{place}} {{before}} {{after}}\n"
    (tmp_path / "context_neighbors.md").write_text(wording)
    monkeypatch.setenv("CHUNKWISE_PROMPTS", str(tmp_path))
    with pytest.raises(InvalidParameter, match="built with the prompt context_neighbors@1"):
        index(documents(), into=kb, llm=Scribe())
    made = index(
        documents(), into=kb, vectors="none", context="neighbors", llm=Scribe(), rebuild=True
    )
    assert made.settings.prompt.startswith("context_neighbors@9")


def test_a_model_of_ones_own_is_wanted_where_there_is_something_to_write(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index(documents(), "paragraphs", into=kb, vectors="none", context="neighbors", llm=Scribe())
    assert index(documents(), into=kb).changes.unchanged == 2  # type: ignore[union-attr]
    more = documents(*RULES, "Something new.")
    with pytest.raises(InvalidParameter, match="'scribe', which can't be recreated"):
        index(more, into=kb)
    scribe = Scribe()
    assert open_index(kb, llm=scribe).update(more).changed == 1
    assert scribe.asked == 1


def test_without_a_model_the_headings_are_taken(tmp_path: Path) -> None:
    made = index(documents(), "paragraphs", vectors="none", context="document")
    assert (made.settings.context, made.settings.llm) == ("headings", "")
    assert made.changes
    assert "for LLM contexts: llm=…, chunkwise index --llm NAME" in made.changes.notes[0]
    assert len(made.search("shed", k=20)) == 5


def test_a_model_without_a_context_to_write_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="context='none' uses no language model"):
        index(documents(), vectors="none", llm=Scribe())
    with pytest.raises(InvalidParameter, match="allowed: none, headings, neighbors, document"):
        index(documents(), vectors="none", context="sideways")  # type: ignore[arg-type]
    index(documents(), into=tmp_path / "kb", vectors="none")
    with pytest.raises(InvalidParameter, match="context='none', which uses no language model"):
        index(documents(), into=tmp_path / "kb", llm=Scribe())


def test_contexts_that_could_not_be_had_are_told_and_asked_for_again(tmp_path: Path) -> None:
    class Moody(Scribe):
        def complete(self, request: Request, stop: Event | None = None) -> Completion:
            if "Rule 2 of" in request.user.rpartition("<passage")[2]:
                raise EndpointError("scribe", "is out for lunch")
            return super().complete(request, stop)

    kb, moody = tmp_path / "kb", Moody()
    made = index(documents(), "paragraphs", into=kb, vectors="none", context="neighbors", llm=moody)
    assert made.changes
    assert "1 of 7 chunks has no context from the model" in made.changes.notes[0]
    assert "is out for lunch" in made.changes.notes[0]
    assert "the next update retries them" in made.changes.notes[0]
    assert made.changes.plain == 1
    assert len(made.search("zeppelin", k=20)) == 6
    good = Scribe()
    again = index(documents(), into=kb, llm=good)
    assert again.changes
    assert (again.changes.plain, again.changes.notes) == (0, ())
    # The other document was whole, and nobody looks at it again.
    assert (again.changes.changed, again.changes.unchanged) == (1, 1)
    assert len(again.search("zeppelin", k=20)) == 7
    assert good.asked == 1
    last = index(documents(), into=kb, llm=good)
    assert last.changes
    assert (last.changes.unchanged, good.asked) == (2, 1)


class Gone(Scribe):
    """Was there when the index was made."""

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        self.asked += 1
        raise EndpointError("scribe", "has no key", status=401)


@pytest.mark.parametrize("place", ["kb", None])
def test_a_model_that_is_gone_does_not_stop_an_update(place: str | None, tmp_path: Path) -> None:
    into = tmp_path / place if place else None

    def put(llm: Scribe, *rules: str) -> Index:
        how: dict[str, Any] = {"strategy": "paragraphs", "vectors": "none", "context": "neighbors"}
        if into is not None:
            return index(documents(*rules), into=into, llm=llm, **how)
        if not made:
            made.append(index(documents(*rules), llm=llm, **how))
        else:
            made[0]._requested = replace(made[0]._requested, llm=llm)
            made[0].update(documents(*rules))
        return made[0]

    made: list[Index] = []
    with pytest.raises(EndpointError, match="has no key"):
        put(Gone())  # nothing is there yet that could grow old
    put(Scribe())
    changed = ["A new rule.", *RULES, "Another new rule."]
    gone = Gone()
    found = put(gone, *changed)
    assert found.changes
    assert (found.changes.changed, found.changes.unchanged) == (1, 1)
    assert found.changes.plain == 2
    assert "2 of 7 chunks have no context from the model" in found.changes.notes[0]
    assert "has no key" in found.changes.notes[0]
    assert gone.asked <= Gone.concurrency, "it is asked no more once it is known to be gone"
    # Chunks that were written about before keep what was written.
    assert len(found.search("zeppelin", k=20)) == 7
    assert len(found.search("new rule", k=20, retriever="bm25")) >= 2
    good = Scribe()
    found = put(good, *changed)
    assert found.changes
    assert (found.changes.plain, good.asked) == (0, 2)
    assert len(found.search("zeppelin", k=20)) == 9
