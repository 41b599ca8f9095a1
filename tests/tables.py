"""A table of cases is one test."""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any


def cases(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Runs a test on every row of a table, and shows all rows that fail.

    Unlike `pytest.mark.parametrize` it makes one test of them: for pure functions, which no row leaves changed.

    Args:
        names: The parameters that a row gives, separated by commas; of a single one a row is the value.
        rows: Each a value for every name.
    """
    columns = [name.strip() for name in names.split(",")]
    table = [row if len(columns) > 1 else (row,) for row in rows]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(*arguments: Any, **others: Any) -> None:
            failures = []
            for row in table:
                try:
                    test(*arguments, **others, **dict(zip(columns, row, strict=True)))
                except Exception as error:
                    error.add_note(f"Row: {row!r}")
                    failures.append(error)
            if failures:
                raise failures[0] if len(failures) == 1 else ExceptionGroup("rows fail", failures)

        whole = signature(test)
        left = [parameter for name, parameter in whole.parameters.items() if name not in columns]
        run.__signature__ = whole.replace(parameters=left)  # type: ignore[attr-defined] # what pytest fills in
        return run

    return decorate
