"""What the tests have done in another process, which imports it by its name."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from chunkwise.base.limited_processes import Ask

_SPENT = 64 << 20


def numbers(count: int, _: Ask) -> Iterator[object]:
    yield from range(count)


def pid(_: Ask) -> Iterator[int]:
    yield os.getpid()


def grow(_: Ask) -> Iterator[object]:
    held = []
    yield "begun"
    while True:
        held.append(b"x" * _SPENT)


def ask_for_too_much(_: Ask) -> Iterator[object]:
    """In one step, which nobody sees grow."""
    yield len(bytearray(1 << 50))


def spin(_: Ask) -> Iterator[object]:
    yield from [os.getpid()] * 64  # as many as are sent together
    yield re.fullmatch("(a*)*b", "a" * 200)  # and lets nobody else run meanwhile


def wait(seconds: float, _: Ask) -> Iterator[object]:
    time.sleep(seconds)
    yield "waited"


def slowly(_: Ask) -> Iterator[object]:
    """More processor time than one outcome may take, in many outcomes."""
    for number in range(8):
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass
        yield number


def die(how: int, _: Ask) -> Iterator[object]:
    yield "begun"
    if how:
        os.kill(os.getpid(), how)
        signal.pause()
    os._exit(7)


def die_and_leave_one_behind(path: str, _: Ask) -> Iterator[object]:
    """One that holds all that its parent had open."""
    child = os.fork()
    if not child:
        time.sleep(3600)
    Path(path).write_text(str(child))
    yield os._exit(7)


def have_others_work(_: Ask) -> Iterator[object]:
    """More processor time than it may take, next to nothing of it its own."""
    while True:
        subprocess.run([sys.executable, "-I", "-S", "-c", "sum(range(10**7))"], check=True)
    yield


def unfit(_: Ask) -> Iterator[object]:
    yield from range(64)
    yield lambda: None


def crash(_: Ask) -> Iterator[object]:
    raise ZeroDivisionError


def asking(_: object, ask: Ask) -> Iterator[object]:
    yield ask("double", 21)
    try:
        ask("double", None)
    except Exception as error:
        yield str(error)
    yield os.getcwd()


def printing(_: Ask) -> Iterator[object]:
    print("a parser's chatter", flush=True)
    yield 1
