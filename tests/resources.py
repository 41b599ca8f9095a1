"""What a test needs beyond its own process decides when it runs: see CONTRIBUTING.md.

A test that asks for one of `RESOURCES` belongs to `make thorough`, except those marked `smoke`: one path through each
resource stays in `make test`. A test that starts a process and asks for none of them fails.
"""

import sys
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from typing import Any

import pytest

RESOURCES = frozenset(
    {"browser", "database", "large_inputs", "local_model", "postgres", "processes", "ray_cluster"}
)

_started: list[str] = []
"""By the test that runs now."""


def resources_of(item: pytest.Item) -> frozenset[str]:
    """Those that it asks for by a fixture, or by the value of a parameter (`engine="postgres"`)."""
    parameters = getattr(item, "callspec", None)
    values = parameters.params.values() if parameters else ()
    asked = {
        *getattr(item, "fixturenames", ()),
        *(each for each in values if isinstance(each, str)),
    }
    return RESOURCES & asked


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if resources_of(item) and not item.get_closest_marker("smoke"):
            item.add_marker(pytest.mark.thorough)


def note_start(what: str) -> None:
    """Tells that the test uses something that an earlier test may have started."""
    _started.append(what)


@pytest.fixture(autouse=True)
def resources_are_asked_for(request: pytest.FixtureRequest) -> Iterator[None]:
    """Otherwise a test that takes seconds slips into `make test` unseen."""
    _started.clear()
    yield
    assert not _started or resources_of(request.node), (
        f"the test starts {_started[0]}: add @pytest.mark.usefixtures('processes'), or another of tests/resources.py, "
        "which makes it part of make thorough"
    )


@pytest.fixture(scope="session")
def processes() -> None:
    """Other processes: workers, commands, kills and signals."""


@pytest.fixture(scope="session")
def postgres() -> None:
    """A PostgreSQL server, the one of `postgres_server.new_url`."""


@pytest.fixture(scope="session")
def browser() -> None:
    """Chromium, as `real_browser` opens it."""


@pytest.fixture(scope="session")
def database() -> None:
    """LanceDB, Qdrant or OpenSearch: their clients take a second to import."""


@pytest.fixture(scope="session")
def large_inputs() -> None:
    """Inputs so large, or so many, that the test takes about a second or longer."""


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    # Of which revision a run is, git says in milliseconds.
    if event == "subprocess.Popen" and arguments[1][0] != "git":
        _started.append(str(arguments[1])[:200])
    elif event in ("os.fork", "os.posix_spawn", "os.system"):
        _started.append(event)


def _start(process: BaseProcess, start: Any = BaseProcess.start) -> None:
    _started.append(process.name)
    start(process)


sys.addaudithook(_audit)
BaseProcess.start = _start  # type: ignore[method-assign] # multiprocessing has no event of its own
