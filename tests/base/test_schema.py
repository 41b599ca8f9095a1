"""Options declared once: the same bounds, help and error on every surface."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidOption, InvalidParameter, UnknownOption
from chunkwise.base.schema import Amount, Count, Names, Option, Options, Share, json_schema, schema
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.main import group
from chunkwise.core import Query, Reference
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.options import (
    FilterOptions,
    LlmOption,
    ScoreOptions,
    SearchOptions,
    TuneOptions,
    parse_pages,
)
from chunkwise.tuning.plan.sweep_file import read_sweep
from chunkwise.tuning.tune import tune
from tables import cases


class BoilOptions(SearchOptions):
    """A verb's options with one more than a search has."""

    minutes: Annotated[Count | None, Option("Minutes in hot water", flag="-t", common=True)] = None
    salt: Annotated[Share, Option("Share of salt in the water")] = 0.0
    eggs: Annotated[Amount, Option("Eggs in the pot")] = 2
    kind: Annotated[Literal["soft", "hard"], Option("How they end")] = "soft"
    names: Annotated[Names, Option("Names of the eggs", long_flag="--name")] = ()


class Cook:
    """A part that a user makes."""


class PanOptions(Options, group="Pan"):
    """An option of every kind, one of them without a default."""

    lid: Annotated[Literal["glass", "steel"] | None, Option("Lid", flag="-l --cover")] = None
    litres: Annotated[Count, Option("Litres", common=True)]
    pages: Annotated[tuple[int, int] | None, Option("Pages", parse=parse_pages)] = None
    eggs_in_it: Annotated[tuple[Share, ...], Option("Eggs", long_flag="--egg", group="Eggs")] = ()
    spices: Annotated[str | None, Option("Spices", repeated=True)] = None
    sizes: Annotated[tuple[int, int], Option("Sizes")] = (1, 2)
    noted: int = 0


class StoveOptions(PanOptions, group="Stove", hides_inherited=True):
    heat: Annotated[Share | None, Option("Heat", common=True)] = None
    cook: Annotated[str | Any | None, Option("Cook")] = None


def test_every_field_is_declared_by_its_annotation_and_its_class() -> None:
    told = [
        (each.name, each.flags, each.group, each.common, each.repeated, each.is_required, each.kind)
        for each in schema(StoveOptions)
    ]
    lid = Literal["glass", "steel"]
    assert told == [
        ("lid", ("-l", "--cover", "--lid"), "Pan", False, False, False, lid),
        ("litres", ("--litres",), "Pan", False, False, True, int),
        ("pages", ("--pages",), "Pan", False, False, False, tuple[int, int]),
        ("eggs_in_it", ("--egg",), "Eggs", False, True, False, float),
        ("spices", ("--spices",), "Pan", False, True, False, str),
        ("sizes", ("--sizes",), "Pan", False, False, False, tuple[int, int]),
        ("heat", ("--heat",), "Stove", True, False, False, float),
        ("cook", ("--cook",), "Stove", False, False, False, str),
    ]
    assert [each.name for each in schema(PanOptions) if each.common] == ["litres"]
    assert [each.choices for each in schema(PanOptions)] == [("glass", "steel"), *[()] * 5]
    described = json_schema(StoveOptions)
    assert described["title"] == "StoveOptions"
    assert described["additionalProperties"] is False
    # Whoever asks for the schema gives some options beside those of the request.
    assert "required" not in described
    assert list(described["properties"]) == [each.name for each in schema(StoveOptions)]
    for each in schema(StoveOptions):
        assert described["properties"][each.name]["description"] == each.help
    assert [part["type"] for part in described["properties"]["cook"]["anyOf"]] == ["string", "null"]


def test_values_are_checked_read_changed_and_taken_apart() -> None:
    cook = Cook()
    given = {"litres": 3, "pages": "2-4", "eggs_in_it": [0.5, 1], "lid": "steel", "cook": cook}
    made = StoveOptions.read(given)
    assert made == StoveOptions(
        litres=3, pages=(2, 4), eggs_in_it=(0.5, 1.0), lid="steel", cook=cook
    )
    assert made.cook is cook
    assert made.changed() == {**given, "pages": (2, 4), "eggs_in_it": (0.5, 1)}
    assert made.part(PanOptions) == PanOptions(
        litres=3, pages=(2, 4), eggs_in_it=(0.5, 1), lid="steel"
    )
    assert made.override(heat=None, lid=None) is made
    assert made.override(heat=0, lid=None) == StoveOptions(**made.changed(), heat=0)
    assert StoveOptions(litres=1, noted=4).changed() == {"litres": 1}
    assert StoveOptions(litres=1, pages=(1, 2)).pages == (1, 2)


@cases(
    "given",
    [
        {"lid": "wood"}, {"litres": 0}, {"litres": None}, {"pages": "x"}, {"pages": (1, 2, 3)}, {"heat": 2},
        {"eggs_in_it": (0.5, 7)}, {"eggs_in_it": 0.5}, {"spices": 3}, {"sizes": (1, "2")},
    ],
)  # fmt: skip
def test_the_error_names_the_option_and_what_was_given(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(InvalidOption) as caught:
        StoveOptions(**{"litres": 1, **given})
    assert caught.value.field == name
    told, _, reason = str(caught.value).partition("; ")
    assert f"{name} is " in told
    assert reason
    assert not set("`$[]") & set(reason)  # marks and paths of the library below
    if name == "lid":
        assert "glass" in reason
        assert "steel" in reason


BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"minutes": 0}, ["-t", "0"]),
    ({"salt": 1.5}, ["--salt", "1.5"]),
    ({"eggs": -1}, ["--eggs", "-1"]),
    ({"names": ("",)}, ["--name", ""]),
    ({"neighbors": -1}, ["--neighbors", "-1"]),
]


def run(*words: str) -> BoilOptions:
    given: list[BoilOptions] = []
    command = dataclass_command("boil", BoilOptions)(given.append)
    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return given[0]


@pytest.mark.parametrize(("values", "words"), BAD)
def test_a_bad_value_is_the_same_error_on_every_surface(
    values: dict[str, Any], words: list[str]
) -> None:
    (name,) = values
    refused_alike(
        name,
        lambda: BoilOptions(**values),
        lambda: BoilOptions.read(json.loads(json.dumps(values))),
        lambda: BoilOptions().override(**values),
        lambda: run(*words),
    )


def refused_alike(name: str, *surfaces: Callable[[], object]) -> None:
    reasons = set()
    for make in surfaces:
        with pytest.raises(InvalidParameter) as caught:
            make()
        assert f"{name} is " in str(caught.value)
        reasons.add(str(caught.value).rpartition(";")[2])
    assert len(reasons) == 1


def test_scoring_and_sweeps_are_refused_alike_by_verbs_commands_and_files(tmp_path: Path) -> None:
    def call(*words: object) -> None:
        group.main([str(word) for word in words], standalone_mode=False)

    documents = tmp_path / "a.md"
    documents.write_text("Leave is asked for in writing.", encoding="utf-8")
    queries = [Query("1", "How is leave asked for?", references=(Reference("a.md", 0, 30),))]
    saved = tmp_path / "queries.json"
    saved.write_text('[{"query": "How?", "relevant_text": "Leave"}]', encoding="utf-8")
    for name, value in {"relevance_threshold": 1.5, "similarity_threshold": -2, "seed": -1}.items():
        flag = f"--{name.replace('_', '-')}"
        refused_alike(
            name,
            lambda: ScoreOptions(**{name: value}),  # noqa: B023
            lambda: evaluate(documents, queries, score=ScoreOptions.read({name: value})),  # noqa: B023
            lambda: call("evaluate", documents, "-Q", saved, flag, value),  # noqa: B023
        )
    for name, value in {
        "k": 0,
        "seed": -1,
        "test_share": 1,
        "time": "soon",
    }.items():
        flag = {"k": "-k", "time": "--time-limit"}.get(name, f"--{name.replace('_', '-')}")
        plan = tmp_path / "sweep.toml"
        plan.write_text(
            f'[sweep]\nsource = "a.md"\n{name} = {json.dumps(value)}\n', encoding="utf-8"
        )
        refused_alike(
            name,
            lambda: TuneOptions(**{name: value}),  # noqa: B023
            lambda: tune(documents, queries, sweep=TuneOptions.read({name: value})),  # noqa: B023
            lambda: call("tune", documents, "-Q", saved, flag, value),  # noqa: B023
            lambda: read_sweep(plan),  # noqa: B023
        )


def test_one_declaration_is_a_flag_a_line_of_help_and_a_schema() -> None:
    options = run(
        "-t", "4", "--eggs", "3", "--kind", "hard", "--name", "a", "--name", "b", "-k", "7"
    )
    assert (options.minutes, options.eggs, options.kind) == (4, 3, "hard")
    assert options.names == ("a", "b")
    assert options.part(SearchOptions) == SearchOptions(k=7)
    assert options.changed() == {
        "minutes": 4, "eggs": 3, "kind": "hard", "names": ("a", "b"), "k": 7
    }  # fmt: skip
    described = json_schema(BoilOptions)
    assert set(described["properties"]) == {field.name for field in schema(BoilOptions)}
    assert described["properties"]["eggs"]["minimum"] == 0
    assert described["properties"]["kind"]["enum"] == ["hard", "soft"]
    assert "required" not in described
    # Parts that a user makes are given by their names.
    choices = json_schema(LlmOption)["properties"]["llm"]["anyOf"]
    assert choices == [{"type": "string"}, {"type": "null"}]
    command = dataclass_command("boil", BoilOptions)(lambda _: None)
    common = CliRunner().invoke(command, ["--help"]).output
    every = CliRunner().invoke(command, ["--help-all"]).output
    assert "Minutes in hot water" in common
    assert "Share of salt" not in common
    for field in schema(BoilOptions):
        assert field.long_flag in every


def test_an_unknown_name_is_an_error_with_the_nearest_one() -> None:
    with pytest.raises(UnknownOption, match="did you mean 'minutes'") as caught:
        BoilOptions.read({"minuets": 3})
    assert caught.value.field == "minuets"


def test_a_wrong_choice_is_refused_by_the_command() -> None:
    command = dataclass_command("boil", BoilOptions)(lambda _: None)
    with pytest.raises(click.UsageError):
        command.main(["--kind", "raw"], standalone_mode=False)
    with pytest.raises(InvalidOption):
        BoilOptions(kind="raw")  # type: ignore[arg-type]


def test_pages_are_one_or_a_range() -> None:
    for text, pages in [("3", (3, 3)), ("3-5", (3, 5)), ("3–5", (3, 5)), (" 3 - 5 ", (3, 5))]:
        assert parse_pages(text) == pages
    for text in ("", "-", "-5", "+3", "1_0", "3--5", "3-+5", "3-4-5", "²"):
        with pytest.raises(ValueError, match="a range"):
            parse_pages(text)


@given(
    st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.booleans(), st.lists(st.text()))
)
def test_only_values_within_the_declaration_are_accepted(value: object) -> None:
    fits = value is None or (
        isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1 << 40
    )
    if fits:
        assert SearchOptions(k=value).k == value  # type: ignore[arg-type]
        return
    with pytest.raises(InvalidOption) as caught:
        SearchOptions(k=value)  # type: ignore[arg-type]
    assert caught.value.field == "k"


def test_parts_made_by_the_user_pass_as_they_are() -> None:
    class Mine:
        def rank(self) -> None: ...

    mine = Mine()
    assert SearchOptions(retriever=mine).retriever is mine  # type: ignore[arg-type]
    assert FilterOptions(documents=["a"]).documents == ("a",)  # type: ignore[arg-type]
