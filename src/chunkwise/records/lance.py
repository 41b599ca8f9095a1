"""Tables of Lance, each a folder whose name ends in `.lance`, here or in a store: opened, and replaced as a whole."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from chunkwise.base.errors import ChunkwiseError, MissingExtra

SUFFIX = ".lance"
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_STORES = ("s3", "gs", "az")
"""Those that Lance and fsspec call alike."""


def is_lance(address: str) -> bool:
    """Whether a folder is such a table, by its name."""
    return address.rstrip("/").endswith(SUFFIX)


def lance_storage_options(uri: str) -> dict[str, str] | None:
    """A server of one's own, as the tools of AWS are told of it; keys and region Lance finds by itself."""
    own = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if not own or not uri.startswith("s3://"):
        return None
    return {"aws_endpoint": own, "allow_http": str(own.startswith("http://")).lower()}


class LanceFolder:
    """A table by the address of its folder, which need not be there yet."""

    def __init__(self, address: str, what: str) -> None:
        """`what`, in words, needs the library."""
        try:
            import lancedb
            import pyarrow  # noqa: F401
        except ImportError:
            raise MissingExtra(what, "lancedb") from None
        parent, _, name = address.rstrip("/").rpartition("/")
        self._parent, self._name = parent or ".", name.removesuffix(SUFFIX)
        self._library = lancedb

    def _database(self) -> Any:
        options = lance_storage_options(self._parent)
        return self._library.connect(self._parent, storage_options=options)

    def table(self) -> Any:
        """As it is now."""
        return self._database().open_table(self._name)

    def replace(self, batches: Any, *, is_new: bool) -> int:
        """Its rows are these, of a reader of Arrow, from one moment to the next; older ones go. The new version."""
        mode = "create" if is_new else "overwrite"
        table = self._database().create_table(self._name, batches, mode=mode)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # who reads an older one is told so by our pages
            table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
        return int(table.version)


def check_lance_name(address: str, shown: str) -> None:
    """Refuses, before the work, what Lance would refuse behind it."""
    scheme, found, _ = address.partition("://")
    if found and scheme not in _STORES:
        allowed = ", ".join(f"{each}://" for each in _STORES)
        raise ChunkwiseError(
            f"{shown}: a table of Lance lies in a folder of this machine or in {allowed}; name one, or a data set of "
            "Parquet (a name without ending)"
        )
    name = address.rstrip("/").rpartition("/")[2].removesuffix(SUFFIX)
    if not _NAME.fullmatch(name):
        raise ChunkwiseError(
            f"{shown}: the name of a table of Lance is made of A-Z, a-z, 0-9, '_', '-' and '.'; name another"
        )


@contextmanager
def lance_errors(shown: str, doing: str) -> Iterator[None]:
    """What the library says, in one line: it is of another language, and its errors are of any kind."""
    try:
        yield
    except (ChunkwiseError, MemoryError):
        raise
    except Exception as error:
        why = " ".join(str(error).split())[:300]
        raise ChunkwiseError(f"cannot {doing} {shown}: {why}") from error
