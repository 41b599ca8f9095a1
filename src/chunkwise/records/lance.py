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
    """What Lance does not find by itself: a server of one's own of S3, a connection string of Azure."""
    if uri.startswith("s3://"):
        own = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        return {"aws_endpoint": own, **_by_http(own)} if own else None
    if uri.startswith("az://"):
        return _of_azure(os.environ.get("AZURE_STORAGE_CONNECTION_STRING", "")) or None
    return None


def _by_http(endpoint: str) -> dict[str, str]:
    return {"allow_http": str(endpoint.startswith("http://")).lower()}


_OF_AZURE = {
    "AccountName": "azure_storage_account_name", "AccountKey": "azure_storage_account_key",
    "SharedAccessSignature": "azure_storage_sas_token", "BlobEndpoint": "azure_storage_endpoint",
}  # fmt: skip


def _of_azure(connection: str) -> dict[str, str]:
    """`AccountName=…;AccountKey=…`, as the tools of Azure take it; a value may have `=` in it."""
    parts = (each.partition("=") for each in connection.split(";"))
    given = {name: value for name, _, value in parts if value}
    account, suffix = given.get("AccountName"), given.get("EndpointSuffix")
    if account and suffix:  # of another cloud than the public one; a whole address goes before it
        protocol = given.get("DefaultEndpointsProtocol", "https")
        given.setdefault("BlobEndpoint", f"{protocol}://{account}.blob.{suffix}")
    known = {_OF_AZURE[name]: value for name, value in given.items() if name in _OF_AZURE}
    endpoint = known.get("azure_storage_endpoint")
    return {**known, **_by_http(endpoint)} if endpoint else known


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
