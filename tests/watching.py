"""Where coverage looks: what is watched takes half as long again, and most of it shows no line that was not seen."""

import sys
from collections.abc import Generator
from functools import wraps
from typing import Any

import pytest

_EXAMPLES = 10
"""Of a property that are watched; the others pass the same lines."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Function) -> Generator[None]:
    """Tests marked `unwatched` are not watched, properties on their first examples."""
    tracer = sys.gettrace()
    handle = getattr(item.obj, "hypothesis", None)
    if tracer is None or (handle is None and item.get_closest_marker("unwatched") is None):
        return (yield)
    inner = getattr(handle, "inner_test", None)
    if handle is not None:
        handle.inner_test = _watched_at_first(inner, tracer)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)
        if handle is not None:
            handle.inner_test = inner


def _watched_at_first(test: Any, tracer: Any) -> Any:
    tried = 0

    @wraps(test)
    def watched(*values: Any, **more: Any) -> Any:
        nonlocal tried
        tried += 1
        sys.settrace(tracer if tried <= _EXAMPLES else None)
        try:
            return test(*values, **more)
        finally:
            sys.settrace(None)

    return watched
