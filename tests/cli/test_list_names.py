"""`chunkwise list names` as a user runs it."""

import json
import re
from pathlib import Path

import pytest

from cli.in_process import Run, here

__all__ = ["here"]  # a fixture


@pytest.fixture
def kb(here: Run, tmp_path: Path) -> str:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "kitchen.md").write_text(
        "# Salt Kitchen\n\nThe Salt Kitchen feeds Port Ansel. Anna Orme runs it.\n"
        "She came on 3 May 1981, as [the list](people-of-note.md) says.\n"
    )
    (folder / "port.md").write_text(
        "Port Ansel lies in the north. Its mayor met Anna Orme at the Salt Kitchen.\n"
    )
    done = here("index", "docs", "--into", "kb", "--graph", "--vectors", "none", "-q")
    assert done.returncode == 0, done.stderr
    return "kb"


def test_the_summary_of_an_index_says_how_many_names_it_has(here: Run, kb: str) -> None:
    names = json.loads(here("list", "names", kb, "--json").stdout)["names"]
    words = ("index", "docs", "--into", kb, "--vectors", "none")
    assert f"{names} names; to list them: chunkwise list names kb" in here(*words).stderr
    assert json.loads(here(*words, "--json").stdout)["name_count"] == names
    plain = here("index", "docs", "--into", "plain", "--vectors", "none")
    assert "names" not in plain.stderr


def test_the_overview_in_the_terminal(here: Run, kb: str) -> None:
    done = here("list", "names", kb)
    assert (done.returncode, done.stderr) == (0, "")
    assert "lead from one passage to another" in done.stdout
    assert "Salt Kitchen" in done.stdout
    assert "2 documents" in done.stdout


def test_a_name_in_the_terminal(here: Run, kb: str) -> None:
    done = here("list", "names", kb, "salt", "kitchen", "--show", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 mentions in 2 documents, 2 passages" in done.stdout
    assert "Anna Orme" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Next  chunkwise search kb ")
    shown = here("list", "names", kb, "salt", "kitchen", "--show", "2", "-v").stdout
    assert "… 1 more mention" in shown
    assert re.search("kitchen.md +0–133 +about it", shown)


def test_json_is_exact(here: Run, kb: str, tmp_path: Path) -> None:
    every = json.loads(here("list", "names", kb, "--json").stdout)
    assert every["documents"] == 2
    assert every["most_linked"][0]["passages"] == 2
    found = json.loads(here("list", "names", kb, "Port Ansel", "--json").stdout)
    for place in found["mentions"]:
        text = (tmp_path / "docs" / place["doc_id"]).read_text()
        assert text[place["start"] : place["end"]] == "Port Ansel"
        assert text[slice(*place["sentence"])] == place["text"]


def test_what_is_told_is_the_sum_of_what_is_listed(here: Run, tmp_path: Path) -> None:
    """A title that the text says, too, is one mention; a year is a name, and listed last."""
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "a.md").write_text("# Salt Kitchen\n\nThe Salt Kitchen feeds many.\n")
    (folder / "b.md").write_text("# 1999\n\nAnna Orme left the Salt Kitchen.\n")
    assert (
        here("index", "more", "--into", "kb", "--graph", "--vectors", "none", "-q").returncode == 0
    )
    found = json.loads(here("list", "names", "kb", "--show", "1000", "--json").stdout)
    assert found["names"] == len(found["most_linked"])
    assert found["mentions"] == sum(each["mentions"] for each in found["most_linked"])
    assert found["most_linked"][-1]["name"] == "1999"
    assert here("list", "names", "kb", "--html", "all.html").returncode == 0


def test_a_page_of_each(here: Run, kb: str, tmp_path: Path) -> None:
    for words in ((), ("Salt Kitchen",)):
        done = here("list", "names", kb, *words, "--html", "graph.html")
        assert done.returncode == 0
        assert "written: graph.html" in done.stderr
        assert "Salt Kitchen" in (tmp_path / "graph.html").read_text()


def test_what_is_wrong_is_a_line(here: Run, kb: str) -> None:
    done = here("list", "names", kb, "Nobody")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert here("index", "docs", "--into", "plain", "--vectors", "none", "-q").returncode == 0
    done = here("list", "names", "plain")
    assert done.returncode == 2
    assert "--graph" in done.stderr
    assert "another retriever" not in done.stderr
    assert here("list", "names", kb, "--html", "names.txt").returncode == 2
