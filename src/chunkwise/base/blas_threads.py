"""How many threads BLAS has, where the cores have threads of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_limiting = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Ours have a core each, and those of BLAS would only wait for them.

    Their number is the process's: of two searches at once only the first changes it, and puts it back.
    """
    if not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limiting.release()


@cache
def _blas() -> Any:
    """Found once, which takes some milliseconds: numpy has loaded its library before."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
