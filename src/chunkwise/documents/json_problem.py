"""What is wrong with JSON that cannot be read, in the words of a message."""

from __future__ import annotations

import json


def json_problem(error: ValueError | RecursionError, *, line: bool = True) -> str:
    """What is wrong and where; the library's own words end in `at` here and there."""
    if isinstance(error, json.JSONDecodeError):
        what = error.msg.rstrip(": ").removesuffix(" at")
        place = f"line {error.lineno} column" if line else "column"
        return f"{what[:1].lower()}{what[1:]} at {place} {error.colno}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    # The one other thing the library refuses, in words for programmers.
    return "a number has thousands of digits" if "digits" in str(error) else str(error)
