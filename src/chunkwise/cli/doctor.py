"""`chunkwise doctor`: each check tells one thing, and the command that puts it right."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple
from urllib.parse import unquote

from chunkwise.base.cores import cores
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.schema import Name, Option
from chunkwise.base.secrets import address_secrets, mask
from chunkwise.base.version import __version__
from chunkwise.base.wording import counted, format_number, listed, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import leave
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.models.http_client import excerpt
from chunkwise.report.report import Code, Column, Headline, Report, ValueTable

if TYPE_CHECKING:
    from chunkwise.models.weights.catalog import Weights

CheckState = Literal["works", "absent", "fails"]

_LITTLE_DISK = 200_000_000
_NAME = re.compile(r"[\w.-]+")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w.-]+)['\"]")
_ADDRESS = "psql 'postgresql://user@host:5432/database'"
_SIGNS = {"works": "✓", "absent": "–", "fails": "✗"}
_TITLES = {"machine": "This machine", "extras": "Extras", "model": "Model", "keys": "Keys"}


class Check(NamedTuple):
    """One finding; what is `needed` decides the exit status, the rest is there for who wants it."""

    group: str
    name: str
    state: CheckState
    detail: str
    command: str = ""
    needed: bool = False


class DoctorOptions(JsonOrReport):
    """The options of `chunkwise doctor`."""

    postgres: Annotated[Name | None, Option(
        "PostgreSQL server to check, with pgvector", metavar="URL", common=True
    )] = None  # fmt: skip


@dataclass_command("doctor", DoctorOptions)
def command(options: DoctorOptions) -> None:
    """Check the installation, and show a command for each repair.

    Examples:
      chunkwise doctor
      chunkwise doctor --json
      chunkwise doctor --postgres postgresql://localhost/handbook

    Exit status: 0 if embedding and search work (and the server, if one is named), 1 otherwise.
    """
    checks = list(all_checks(options.postgres))
    works = all(check.state == "works" for check in checks if check.needed)
    options.print_result(
        lambda: _report(checks, works),
        lambda: {"works": works, "checks": [check._asdict() for check in checks]},
    )
    leave(failed=not works)


def _report(checks: list[Check], works: bool) -> Report:
    tables = []
    for group, members in groupby(checks, key=lambda check: check.group):
        rows = tuple((f"{_SIGNS[check.state]} {check.name}", check.detail) for check in members)
        columns = (Column(""), Column(""))
        tables.append(ValueTable(columns, rows, _TITLES.get(group, group), brief_rows=len(rows)))
    commands = [
        f"{check.name}: {f'{check.detail}; ' if check.state == 'fails' else ''}{check.command}"
        for check in checks
        if check.command or check.state == "fails"
    ]
    headline = (
        Headline("Embedding and search work on this machine.", "good")
        if works
        else Headline("Embedding and search don't work on this machine.", "bad")
    )
    return Report(
        "Installation", (headline, *tables, Code("\n".join(commands), "To install or repair"))
    )


def all_checks(postgres: str | None = None) -> Iterator[Check]:
    """Each as soon as it is known; the model is tried only where its parts are there."""
    yield _python()
    yield from _folder()
    yield from _extras()
    from chunkwise.models.weights.catalog import MINILM

    weights = _weights(MINILM, needed=True)
    yield weights
    if weights.state == "works":
        yield _embedding()
    yield from _language_model()
    yield from _keys()
    if postgres is not None:
        yield from _postgres(postgres)


def _python() -> Check:
    machine = f"{platform.system()} {platform.machine()}"
    detail = f"{platform.python_version()} on {machine}, {counted(cores(), 'core')}"
    state: CheckState = "works" if sys.version_info >= (3, 11) else "fails"
    return Check("machine", "Python", state, f"{detail}; chunkwise {__version__}", needed=True)


def _folder() -> Iterator[Check]:
    """Where weights and vectors are kept; looked at, not made."""
    from chunkwise.models.home_folder import CACHE_VARIABLE, HOME_VARIABLE, home, keeps_results

    folder = home()
    other = f"export {HOME_VARIABLE}=/a/folder/of/yours"
    there = next((package for package in (folder, *folder.parents) if package.exists()), Path("/"))
    try:
        if not there.is_dir():
            raise NotADirectoryError(f"{there} is a file")
        if there == folder:
            with tempfile.TemporaryFile(dir=folder):
                pass
        elif not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(f"{there} isn't writable")
    except OSError as error:
        reason = f"cannot use {folder}: {error.strerror or error}"
        yield Check("machine", "cache folder", "fails", reason, other, needed=True)
        return
    yield Check("machine", "cache folder", "works", f"{folder} is writable", needed=True)
    try:
        if not keeps_results():
            message = f"off ({CACHE_VARIABLE}): model results aren't cached"
            yield Check("machine", "cache", "works", message)
    except InvalidParameter as error:
        yield Check("machine", "cache", "fails", str(error), f"unset {CACHE_VARIABLE}", needed=True)
    free = shutil.disk_usage(there).free
    enough = free >= _LITTLE_DISK
    yield Check(
        "machine", "disk", "works" if enough else "fails", f"{format_number(free, 'bytes')} free",
        "" if enough else other, needed=True,
    )  # fmt: skip


def _extras() -> Iterator[Check]:
    """The packages that each extra asks for, as our own metadata has them."""
    from importlib.metadata import PackageNotFoundError, requires, version

    try:
        lines = requires("chunkwise") or []
    except PackageNotFoundError:  # run from a folder, not installed
        return
    packages: dict[str, set[str]] = {}
    for line in lines:
        if (marked := _EXTRA.search(line)) and (named := _NAME.match(line)):
            packages.setdefault(marked[1], set()).add(named[0])
    for extra in sorted(packages.keys() - {"all", "dev"}):
        texts, missing = [], []
        for package in sorted(packages[extra], key=str.lower):
            try:
                texts.append(f"{package} {version(package)}")
            except PackageNotFoundError:
                missing.append(package)
        if missing:
            command = f"pip install 'chunkwise[{extra}]'"
            yield Check("extras", extra, "absent", f"not here: {', '.join(missing)}", command)
        else:
            yield Check("extras", extra, "works", listed(texts, 5))


def _weights(weights: Weights, use: str = "", *, needed: bool = False) -> Check:
    """Whether every byte is here; `use` is what they are for, where nobody needs them."""
    from chunkwise.models.weights.installed import model_status

    status = model_status(weights, read=True)
    name = f"weights of {weights.name}"
    if status.state == "here":
        folders = sorted({str(path.parent) for path in status.files.values()})
        size = format_number(status.bytes, "bytes")
        detail = f"complete and verified, {size} in {' and '.join(folders)}"
        return Check("model", name, "works", detail, needed=needed)
    detail = f"{status.state}{use}; one download of {format_number(weights.size, 'bytes')}"
    state: CheckState = "fails" if needed or status.state != "not here" else "absent"
    return Check("model", name, state, detail, f"chunkwise models get {weights.name}", needed)


def _embedding() -> Check:
    """A question must come out nearer to its answer than to another sentence."""
    texts = [
        "When are the lamps lit?",
        "The lamps are lit at dusk.",
        "Leave is asked for in writing.",
    ]
    try:
        from chunkwise.models.embed.pretrained import minilm

        model = minilm()
        vectors = model.embed(texts)
        began = time.perf_counter()
        model.embed(texts[:1])
        took = time.perf_counter() - began
        right, wrong = (float(vectors[0] @ other) for other in vectors[1:])
    except Exception as error:  # whatever the libraries below do on this machine
        reason = excerpt(f"{type(error).__name__}: {error}")
        again = "pip install --force-reinstall chunkwise"
        return Check("model", "embedding", "fails", reason, again, needed=True)
    detail = f"one sentence in {format_number(took, 'seconds')}, {counted(vectors.shape[1], 'dimension')}"
    if not right > wrong + 0.1:
        detail += f", but an answer scores {right:.2f} and another sentence {wrong:.2f}"
        command = "chunkwise models verify minilm"
        return Check("model", "embedding", "fails", detail, command, needed=True)
    return Check("model", "embedding", "works", detail, needed=True)


def _language_model() -> Iterator[Check]:
    """The small one on this machine; nobody needs it, so nothing here is a failure of the whole."""
    from chunkwise.models.weights.catalog import SMOLLM2

    weights = _weights(SMOLLM2, "; for --llm local")
    yield weights
    # That its library is missing is said among the extras.
    if weights.state == "works" and find_spec("xllamacpp") is not None:
        yield _answering()


def _answering() -> Check:
    """It must answer in the form it is held to; how well it judges is for `chunkwise testset calibrate`."""
    schema = {"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}},
              "required": ["answer"], "additionalProperties": False}  # fmt: skip
    try:
        from chunkwise.models.llm.client import read_structured
        from chunkwise.models.llm.language_model import Request
        from chunkwise.models.llm.local import packaged

        request = Request("Answer.", "Are the lamps lit at dusk?", schema=schema, max_tokens=32)
        answer, read, written = packaged().timed(request)
        read_structured(answer.text, schema)
    except Exception as error:  # whatever the library below does on this machine
        reason = excerpt(f"{type(error).__name__}: {error}")
        again = "pip install --force-reinstall 'chunkwise[llm]'"
        return Check("model", "answering", "fails", reason, again)
    detail = (
        f"in the required format; reads {counted(read, 'token')}/s, writes {thousands(written)}/s"
    )
    return Check("model", "answering", "works", detail)


def _keys() -> Iterator[Check]:
    """Names only; a value is never read further than whether it is empty."""
    from chunkwise.models.http_client import ANY_OTHER, BY_HOST

    for host, variable in (*BY_HOST.items(), ("other endpoints", ANY_OTHER)):
        there = bool(os.environ.get(variable, "").strip())
        detail = f"{'set' if there else 'not set'}, for {host}"
        yield Check("keys", variable, "works" if there else "absent", detail)


def _postgres(url: str) -> Iterator[Check]:
    """Whether it answers and has pgvector; nothing is changed there."""
    try:
        import psycopg
    except ImportError:
        command = "pip install 'chunkwise[postgres]'"
        yield Check("PostgreSQL", "server", "fails", "no client installed", command, needed=True)
        return
    from chunkwise.retrieval.postgres.connection import is_postgres, parse_address

    try:
        url = parse_address(url).url if is_postgres(url) else url
    except InvalidParameter as error:
        yield Check("PostgreSQL", "server", "fails", str(error), _ADDRESS, needed=True)
        return
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            (server,) = connection.execute("show server_version").fetchone()
            vector = connection.execute(
                "select installed_version, default_version from pg_available_extensions"
                " where name = 'vector'"
            ).fetchone()
    except psycopg.Error as error:
        reason = str(error)
        for secret in address_secrets(url):
            reason = reason.replace(secret, "***").replace(unquote(secret), "***")
        reason = excerpt(mask(reason)) or type(error).__name__
        command = _ADDRESS
        yield Check("PostgreSQL", "server", "fails", reason, command, needed=True)
        return
    yield Check("PostgreSQL", "server", "works", f"answers, version {server}", needed=True)
    make = "psql -c 'create extension vector'"
    if vector is None:
        detail = "not installed on the server; ask its administrator for pgvector"
        yield Check("PostgreSQL", "pgvector", "fails", detail, make, needed=True)
    elif vector[0] is None:
        # Making an index does it, too, where the user may.
        detail = f"version {vector[1]} is available, but not enabled in this database"
        yield Check("PostgreSQL", "pgvector", "absent", detail, make)
    else:
        yield Check("PostgreSQL", "pgvector", "works", f"version {vector[0]}", needed=True)
