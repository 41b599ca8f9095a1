"""Files that a command writes: checked before any work begins, by what their options declare."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from chunkwise.base.schema import Field, Options, schema

_PAGES = (".html", ".htm", ".json", ".md")


def written_files(options: Options) -> list[Path]:
    """The files that a command will write, behind all links."""
    return [place for _, _, place in _outputs(options)]


def _outputs(options: Options) -> Iterator[tuple[Field, Path, Path]]:
    for field in schema(type(options)):
        if field.writes and (path := getattr(options, field.name)) is not None and str(path) != "-":
            # Unlike `Path.resolve`, it takes a loop of links for a place.
            yield field, Path(path), Path(os.path.realpath(path))


def check_outputs(options: Options) -> None:
    """Refuse files that cannot be written, those that are read, and those that only others can make again."""
    from chunkwise.base.atomic_files import check_writable

    places: list[Path] = []
    for field, path, place in _outputs(options):
        if place in places:
            raise click.UsageError(f"two outputs have the same path {path}; rename one")
        places.append(place)
        if field.long_flag == "--html" and path.suffix.lower() not in _PAGES:
            raise click.UsageError(
                f"{path} is not a report name; expected an ending of {', '.join(_PAGES)}"
            )
        if any(os.path.realpath(name) == str(place) for name in _other_words(options)):
            raise click.UsageError(
                f"{path} is an input and would be overwritten; write to another file"
            )
        if field.writes == "new" and not getattr(options, "force", False) and _is_of_others(path):
            more = ", or add --force" if hasattr(options, "force") else ""
            raise click.UsageError(
                f"{path} isn't a chunkwise file and would be overwritten; write to another "
                f"file{more}"
            )
        if not place.is_dir():
            check_writable(path)


def _other_words(options: Options) -> Iterator[str | Path]:
    """Whatever else was given: a tokenizer, a plan or a model may be a file, too."""
    for field in schema(type(options)):
        value = getattr(options, field.name)
        if not field.writes:
            words = value if isinstance(value, tuple) else (value,)
            yield from (word for word in words if isinstance(word, str | Path))


def _is_of_others(path: Path) -> bool:
    """Whether writing here would destroy what chunkwise cannot write again."""
    from chunkwise.base.object_store import address_of, look_up
    from chunkwise.documents.walk import is_written_by_us

    try:
        if address := address_of(path):
            stored, is_folder = look_up(address)
            return not is_folder and stored.size != 0 and not is_written_by_us(path, stored)
        return path.is_file() and path.stat().st_size > 0 and not is_written_by_us(path)
    except FileNotFoundError:
        return False
    except OSError:  # a file that cannot be looked at is not overwritten
        return True
