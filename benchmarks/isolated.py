"""A function run in a child process with a time limit, so that a hang costs only that cell."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from contextlib import redirect_stdout
from multiprocessing.connection import Connection
from typing import Any


class TooSlow(Exception):
    """The child did not answer in time."""


def isolated(work: Callable[[], Any], seconds: float) -> Any:
    """What `work` returns; its exception, or TooSlow, is raised here."""
    # Forked: the texts are already in memory and a lambda needs no pickling.
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_answer, args=(work, there), daemon=True)
    child.start()
    there.close()
    try:
        if not here.poll(seconds):
            raise TooSlow(f"over {seconds:.0f} s")
        kind, value = here.recv()
    except EOFError:
        raise RuntimeError("the process died") from None
    finally:
        child.kill()
        child.join()
    if kind == "error":
        raise RuntimeError(value)
    return value


def _answer(work: Callable[[], Any], pipe: Connection) -> None:
    try:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):  # some peers print
            value = work()
        pipe.send(("value", value))
    except Exception as error:
        told = " ".join(str(error).split())[:80]
        pipe.send(("error", f"{type(error).__name__}: {told}"))
