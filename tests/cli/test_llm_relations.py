"""`--graph --llm` as a user types it: priced before anything is sent, limited, kept, told, shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkwise.models.home_folder import HOME_VARIABLE
from cli.in_process import Run, here
from models.chat_server import asked, chat_server

__all__ = ["here"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.delenv("CHUNKWISE_LLM", raising=False)


@pytest.fixture
def films(tmp_path: Path) -> Path:
    folder = tmp_path / "films"
    folder.mkdir()
    (folder / "film.md").write_text("# Silent Harbour\n\nIt was directed by Anna Orme.\n")
    (folder / "orme.md").write_text("# Anna Orme\n\nAnna Orme lies in Ghent.\n")
    return folder


def relations(payload: dict[str, Any]) -> str:
    """One that is there, and one that is not; of passages together, what they are about."""
    if "Summarize" in asked(payload):
        return "It is about films."
    film = "Silent Harbour" in asked(payload)
    told = (
        ("Silent Harbour", "was directed by", "Anna Orme", "It was directed by Anna Orme.")
        if film
        else ("Anna Orme", "lies in", "Ghent", "Anna Orme lies in Ghent.")
    )
    made_up = ("Anna Orme", "was married to", "Emil Vane", "Anna Orme married Emil Vane.")
    keys = ("subject", "relation", "object", "quote")
    rows = [dict(zip(keys, row, strict=True)) for row in (told, made_up)]
    return json.dumps(
        {"names": [{"name": "Anna Orme", "description": "A director."}], "relations": rows}
    )


def words(films: Path, llm: str, *more: str) -> tuple[Any, ...]:
    return ("index", films, "--into", "kb", "--vectors", "none", "--graph", "--llm", llm, *more)


def test_relations_are_priced_asked_once_and_shown(here: Run, films: Path) -> None:
    with chat_server(relations) as server:
        dry = here(*words(films, server.name(), "--dry-run", "--price", "1/2", "--json"))
        assert dry.returncode == 0, dry.stderr
        told = json.loads(dry.stdout)
        assert told["calls"] == 3  # two documents, and both together
        assert told["money"] > 0
        assert not server.requests
        assert not Path("kb").exists()
        first = here(*words(films, server.name()))
        assert first.returncode == 0, first.stderr
        assert "2 relations with quotes; skipped 2 more" in first.stderr
        assert len(server.requests) == 3
        again = here(*words(films, server.name()))
        assert "2 unchanged" in again.stderr
        assert len(server.requests) == 3
        rebuilt = here(*words(films, server.name(), "--rebuild"))
        assert rebuilt.returncode == 0, rebuilt.stderr
        assert len(server.requests) == 3
        assert "3 from the cache" in rebuilt.stderr
    shown = here("list", "names", "kb", "Anna Orme")
    assert "Silent Harbour — was directed by → Anna Orme" in shown.stdout
    assert "“It was directed by Anna Orme.”" in shown.stdout
    assert "A director." in shown.stdout
    assert "Emil Vane" not in shown.stdout
    rows = json.loads(here("list", "names", "kb", "Anna Orme", "--json").stdout)
    assert [row["object"] for row in rows["relations"]] == ["Anna Orme", "Ghent"]
    assert here("list", "names", "kb", "--html", "graph.html").returncode == 0
    assert "was directed by" in Path("graph.html").read_text()


def test_a_limit_of_cost_is_kept_and_what_is_missing_is_asked_for_again(
    here: Run, films: Path
) -> None:
    with chat_server(relations) as server:
        done = here(*words(films, server.name(), "--max-cost", "0", "--price", "1/2"))
        assert done.returncode == 3
        assert "relations of 2 passages" in done.stderr
        assert not server.requests
        assert "1 summary of a community" in done.stderr
        assert here(*words(films, server.name())).returncode == 0
        assert len(server.requests) == 3


def test_summaries_are_priced_where_documents_go_or_summaries_are_missing(
    here: Run, films: Path
) -> None:
    """No document is new, and the next update asks all the same."""
    is_mute = True

    def answer(payload: dict[str, Any]) -> str:
        return "" if is_mute and "Summarize" in asked(payload) else relations(payload)

    with chat_server(answer) as server:

        def priced(*more: str) -> int:
            dry = here(*words(films, server.name(), "--dry-run", "--json", *more))
            assert dry.returncode == 0, dry.stderr
            return int(json.loads(dry.stdout)["calls"])

        done = here(*words(films, server.name()))
        assert "1 summary of a community" in done.stderr
        assert priced() == 1
        is_mute = False
        assert here(*words(films, server.name())).returncode == 0
        assert priced() == 0
        (films / "orme.md").rename(films.parent / "orme.md")
        asked_before = len(server.requests)
        assert priced() == 1
        assert priced("--add") == 0
        assert here(*words(films, server.name())).returncode == 0
        assert len(server.requests) == asked_before + 1


def test_a_model_of_the_environment_is_not_asked_unless_the_command_says_so(
    here: Run, films: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with chat_server(relations) as server:
        monkeypatch.setenv("CHUNKWISE_LLM", server.name())
        done = here("index", films, "--into", "kb", "--vectors", "none", "--graph", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["graph"] == "names"
        assert not server.requests


def test_without_work_for_it_a_model_is_refused(here: Run, films: Path) -> None:
    done = here("index", films, "--into", "kb", "--vectors", "none", "--llm", "local")
    assert done.returncode == 2
    assert "or --graph" in done.stderr


def test_contexts_and_relations_together(here: Run, films: Path) -> None:
    def both(payload: dict[str, Any]) -> str:
        return relations(payload) if "relations" in asked(payload) else "It is about the sea."

    with chat_server(both) as server:
        dry = here(*words(films, server.name(), "--context", "neighbors", "--dry-run", "--json"))
        calls = json.loads(dry.stdout)["calls"]
        done = here(*words(films, server.name(), "--context", "neighbors", "--json"))
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == calls > 2
    told = json.loads(done.stdout)
    assert (told["context"], told["graph"]) == ("neighbors", "relations")


def test_a_question_about_the_whole(here: Run, films: Path) -> None:
    with chat_server(relations) as server:
        assert here(*words(films, server.name())).returncode == 0
    done = here("search", "kb", "what are the main themes?", "--retriever", "communities")
    assert done.returncode == 0, done.stderr
    assert "It is about films." in done.stdout
    assert "summary of 2 passages of 2 documents, level 1" in " ".join(done.stdout.split())
    assert "· 2 documents" in done.stdout
    (row,) = map(
        json.loads,
        here("search", "kb", "themes?", "--retriever", "communities", "--json").stdout.splitlines(),
    )
    hits = row.get("hits", [row])
    assert {hits[0]["doc_id"]} | {each["doc_id"] for each in hits[0]["elsewhere"]} == {
        "film.md",
        "orme.md",
    }
    assert "It is about films." in here("list", "names", "kb", "-v").stdout
    here("list", "names", "kb", "--html", "graph.html")
    assert "It is about films." in Path("graph.html").read_text()
    plain = here("index", films, "--into", "plain", "--vectors", "none", "--graph")
    assert plain.returncode == 0
    refused = here("search", "plain", "themes?", "--retriever", "communities")
    assert refused.returncode != 0
    assert "--graph --llm NAME" in refused.stderr
