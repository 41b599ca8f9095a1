"""Options declared once: the same bounds, help and error on every surface."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidOption, UnknownOption
from chunkwise.base.schema import Amount, Count, Names, Share, json_schema, option, schema
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.options import FilterOptions, LlmOption, SearchOptions, parse_pages


@dataclass(frozen=True, kw_only=True)
class BoilOptions(SearchOptions):
    """A verb's options with one more than a search has."""

    minutes: Annotated[Count | None, option("Minutes in hot water", flag="-t", common=True)] = None
    salt: Annotated[Share, option("Share of salt in the water")] = 0.0
    eggs: Annotated[Amount, option("Eggs in the pot")] = 2
    kind: Annotated[Literal["soft", "hard"], option("How they end")] = "soft"
    names: Annotated[Names, option("Names of the eggs", long_flag="--name")] = ()


BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"minutes": 0}, ["-t", "0"]),
    ({"salt": 1.5}, ["--salt", "1.5"]),
    ({"eggs": -1}, ["--eggs", "-1"]),
    ({"names": ("",)}, ["--name", ""]),
    ({"neighbors": -1}, ["--neighbors", "-1"]),
]


def run(*words: str) -> BoilOptions:
    given: list[BoilOptions] = []
    command = dataclass_command("boil", BoilOptions, examples="")(given.append)
    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return given[0]


@pytest.mark.parametrize(("values", "words"), BAD)
def test_a_bad_value_is_the_same_error_on_every_surface(
    values: dict[str, Any], words: list[str]
) -> None:
    (name,) = values
    errors = []
    for make in (
        lambda: BoilOptions(**values),
        lambda: BoilOptions.read(json.loads(json.dumps(values))),
        lambda: BoilOptions().override(**values),
        lambda: run(*words),
    ):
        with pytest.raises(InvalidOption) as caught:
            make()
        assert caught.value.field == name
        errors.append(str(caught.value).partition(";")[2])
    assert len(set(errors)) == 1


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
    command = dataclass_command("boil", BoilOptions, examples="")(lambda _: None)
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
    command = dataclass_command("boil", BoilOptions, examples="")(lambda _: None)
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
