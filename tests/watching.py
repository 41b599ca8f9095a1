"""Where coverage looks: what is watched takes half as long again, and most of it shows no line that was not seen."""

import sys
from collections.abc import Generator
from contextlib import suppress
from functools import wraps
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest

import chunkwise
from chunkwise.base.errors import MissingExtra

_EXAMPLES = 10
"""Of a property that are watched; the others pass the same lines."""

_TRACER: pytest.StashKey[Any] = pytest.StashKey()
"""What watches, while nothing is to be watched: None where nobody asked for coverage."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What runs on import is watched once, by the process that has the workers; how tests are found is not."""
    tracer = session.stash[_TRACER] = sys.gettrace()
    if tracer is not None and not hasattr(session.config, "workerinput"):
        for module in walk_packages(chunkwise.__path__, f"{chunkwise.__name__}."):
            if not module.name.endswith("__main__"):
                with suppress(MissingExtra):  # adapters, which are tested elsewhere
                    import_module(module.name)
    sys.settrace(None)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    with _Watched(item.session.stash[_TRACER]):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    with _Watched(item.session.stash[_TRACER]):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Function) -> Generator[None]:
    """Tests marked `unwatched` are not watched, properties on their first examples."""
    tracer = item.session.stash[_TRACER]
    handle = getattr(item.obj, "hypothesis", None)
    if handle is None or tracer is None:
        marked = item.get_closest_marker("unwatched") is not None
        with _Watched(None if marked else tracer):
            return (yield)
    inner = handle.inner_test
    handle.inner_test = _watched_at_first(inner, tracer)
    try:
        return (yield)
    finally:
        handle.inner_test = inner


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """pytest-cov, which ends its work around this, finds things as it left them."""
    try:
        return (yield)
    finally:
        sys.settrace(session.stash[_TRACER])


class _Watched:
    """Watches between entry and exit."""

    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer

    def __enter__(self) -> None:
        sys.settrace(self._tracer)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)


def _watched_at_first(test: Any, tracer: Any) -> Any:
    tried = 0

    @wraps(test)
    def watched(*values: Any, **more: Any) -> Any:
        nonlocal tried
        tried += 1
        with _Watched(tracer if tried <= _EXAMPLES else None):
            return test(*values, **more)

    return watched
