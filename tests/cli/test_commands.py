"""How commands are declared: typed options, old flags, and help that shows every command as it is."""

import json
import re
import shlex
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import click
import pytest

from chunkwise.cli.dataclass_options import TypedCommand
from chunkwise.cli.main import group
from cli.in_process import Run, here
from cli.small_corpus import PLAN, write_corpus, write_questions
from tables import cases

__all__ = ["here"]  # a fixture

DOCS = Path(__file__).parents[2] / "docs"


def every_command() -> Iterator[tuple[str, click.Command]]:
    """With the words that call it."""

    def below(words: str, found: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield words, found
        if isinstance(found, click.Group):
            context = click.Context(found)
            for name in found.list_commands(context):
                inner = found.get_command(context, name)
                assert inner is not None
                yield from below(f"{words} {name}", inner)

    for name in group.list_commands(click.Context(group)):
        found = group.get_command(click.Context(group), name)
        assert found is not None
        yield from below(name, found)


COMMANDS = dict(every_command())
TYPED = {words: each for words, each in COMMANDS.items() if isinstance(each, TypedCommand)}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_corpus(tmp_path / "docs")
    write_questions(tmp_path / "queries.json")
    return tmp_path / "docs"


def runtime_type(parameter: click.Parameter) -> Any:
    """Of the values click hands over."""
    kind: Any = {
        "text": str, "integer": int, "integer range": int, "float": float, "float range": float, "boolean": bool,
    }.get(parameter.type.name)  # fmt: skip
    if isinstance(parameter.type, click.Path):
        kind = Path
    if isinstance(parameter.type, click.Choice):
        kind = Literal[tuple(parameter.type.choices)]
    if parameter.nargs == -1 or getattr(parameter, "multiple", False):
        return tuple[kind, ...]
    has_value = parameter.required or getattr(parameter, "is_flag", False)
    default = parameter.to_info_dict().get("default")
    return kind if has_value or default is not None else kind | None


def plain(kind: Any) -> Any:
    """Unions and choices in one form; a choice may be declared as any text."""
    if get_origin(kind) in (Union, types.UnionType):
        return frozenset(map(plain, get_args(kind)))
    return frozenset({str}) if get_origin(kind) is Literal or kind is str else frozenset({kind})


def test_every_command_that_reads_documents_names_them_source() -> None:
    for words, command in COMMANDS.items():
        names = [each.metavar for each in command.params if isinstance(each, click.Argument)]
        assert not {"INPUTS", "DOCUMENTS", "INDEX"} & set(names), words


@cases("words", ["", *COMMANDS])
def test_help_names_every_command_below(here: Run, words: str) -> None:
    shown = here(*words.split(), "--help")
    assert shown.returncode == 0
    command = COMMANDS.get(words, group)
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            assert re.search(rf"^  {name} +\w", shown.stdout, re.M), name


@cases("words", COMMANDS)
def test_questions_have_both_names_wherever_they_are_named(words: str) -> None:
    for each in COMMANDS[words].params:
        assert ("--test-queries" in each.opts) == ("--queries" in each.opts), each.opts


@cases("words", COMMANDS)
def test_every_command_is_in_the_docs(words: str) -> None:
    name = words.removesuffix(" list") if words in ("runs list", "models list") else words
    assert f"## chunkwise {name}\n" in (DOCS / "commands.md").read_text()


def test_a_misspelled_flag_is_answered_with_the_nearest(here: Run, docs: Path) -> None:
    done = here("chunk", "docs", "--hmtl", "x.html")
    assert done.returncode == 2
    assert "--html" in done.stderr


def test_queries_is_another_name_that_stays(here: Run, docs: Path) -> None:
    assert here("index", "docs", "--into", "kb", "--vectors", "none", "-q").returncode == 0
    found = ("search", "kb", "--retriever", "bm25", "--json", "-q")
    one, other = here(*found, "--queries", "queries.json"), here(*found, "--test-queries", "queries.json")  # fmt: skip
    assert one.stdout == other.stdout
    assert (one.stderr, other.stderr) == ("", "")


EXAMPLE = re.compile(r"^ *chunkwise (.*?)(?: +[#|>&].*)?$", re.MULTILINE)


def examples() -> Iterator[str]:
    for command in COMMANDS.values():
        yield from EXAMPLE.findall((command.epilog or "").replace("\\\n", " "))


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("line", dict.fromkeys(examples()))
def test_an_example_can_be_typed_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """Every flag and value is known; what it does with them other tests see."""
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)
    for name in ("queries.json", "squad.json", "questions.csv", "ragas.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "scifact").mkdir()
    command: click.Command = group
    while isinstance(command, click.Group):
        context = click.Context(command)
        known = words and words[0] in command.list_commands(context)
        inner = command.get_command(context, words.pop(0) if known else "")
        assert inner is not None, line
        command = inner
    command.make_context(command.name or "", words)


CHART = "runs chart recall@5 --kind evaluate"
PAGES = [
    ("chunk docs", "ChunksView"),
    ("lint docs --show 0 -s words(max_words=7)", "ChunksView"),
    ("profile docs", "profile"),
    ("evaluate docs --test-queries queries.json --retriever bm25 -o a.json", "evaluation"),
    ("compare a.json b.json", "comparison"),
    ("list names kb", "names"),
    ("tune sweep.toml -o out", "tuning"),
    (CHART, "history"),
]


@pytest.mark.usefixtures("processes")
def test_what_a_page_shows_can_be_had_as_data(here: Run, docs: Path, tmp_path: Path) -> None:
    (docs / "last.md").write_text("Nobody cuts this one well, for it is the longest. " * 60)
    (tmp_path / "sweep.toml").write_text(PLAN)
    assert (
        here("index", "docs", "--into", "kb", "--vectors", "none", "--graph", "-q").returncode == 0
    )
    asked = ("--test-queries", "queries.json", "--retriever", "bm25", "-q", "-o", "b.json")
    assert here("evaluate", "docs", *asked, "--save").returncode == 0
    assert here("tune", "sweep.toml", "-o", "out", "-q").returncode == 0
    data, html = tmp_path / "page.json", tmp_path / "page.html"
    for words, kind in PAGES:
        for name in (data.name, html.name):
            done = here(*words.split(), "--html", name)
            assert done.returncode in (0, 3), (words, done.stderr)
        values = json.loads(data.read_text("utf-8"))
        assert values.get("view", values.get("kind")) == kind
        assert html.read_text("utf-8").startswith("<!doctype html>")
        if words.startswith("lint"):  # it is opened where there is most to see
            assert values["documents"][values["first"] - 1]["id"] == "last.md"
