"""`.index.json`: what is in the folder, and which of its sub-folders counts. Replaced as a whole."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkwise.atomic import replacing, says_what_it_writes
from chunkwise.errors import ChunkwiseError
from chunkwise.retrieval.embedded.layout import expected
from chunkwise.retrieval.embedded.store.files import Stored
from chunkwise.retrieval.refusals import REBUILD
from chunkwise.retrieval.settings import Settings, read_settings

NAME = ".index.json"
"""Hidden, so that documents read from around an index do not include it."""
FORMAT = 3
_KIND = "chunkwise index"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What has to be known before anything else is read."""

    generation: str
    """The sub-folder with the arrays."""
    settings: Settings
    languages: tuple[str, ...]
    """Codes of what the documents were read as; a question is read as each of them."""
    files: dict[str, Stored]

    def write(self, folder: Path) -> None:
        values = {"kind": _KIND, "format": FORMAT, **dataclasses.asdict(self)}
        values["files"] = {name: stored._asdict() for name, stored in self.files.items()}
        text = json.dumps(values, indent=1)
        with replacing(folder / NAME) as temporary, says_what_it_writes(folder / NAME):
            temporary.write_text(text, "utf-8")
        sync_folder(folder)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; every other thing than a sound one is an error that says what to do."""
    path = folder / NAME
    try:
        values = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise _absent(folder) from None
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(values, dict) or values.get("kind") != _KIND:
        raise _foreign(path)
    if values.get("format") != FORMAT:
        raise ChunkwiseError(
            f"{folder} has the index format {values.get('format')!r}, this version of chunkwise reads {FORMAT}; "
            f"{REBUILD}, or use the version that wrote it"
        )
    try:
        return _made(values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error


def check_ours(folder: Path, known: bool) -> None:
    """An error where the file is somebody else's; one that cannot be read is, unless the folder is known as ours."""
    try:
        values = json.loads((folder / NAME).read_text("utf-8"))
    except (OSError, ValueError):
        if not known:
            raise _foreign(folder / NAME) from None
        return
    if not isinstance(values, dict) or values.get("kind") != _KIND:
        raise _foreign(folder / NAME)


def _foreign(path: Path) -> ChunkwiseError:
    return ChunkwiseError(f"{path} is not the manifest of a chunkwise index; name another folder")


def _absent(folder: Path) -> ChunkwiseError:
    within = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    own = {name for name in within if name.startswith((".generation-", ".index."))}
    if within == own and any(name.startswith(".generation-") for name in own):
        return ChunkwiseError(
            f"{folder} holds an index that was not finished (there is no {NAME} in it); run the command that began it "
            f"again: chunkwise index DOCUMENTS --into {folder}"
        )
    # A folder of documents is named by mistake: an index among them is not what is wanted.
    command = f"index {folder} --into kb" if within - own else f"index DOCUMENTS --into {folder}"
    return ChunkwiseError(
        f"{folder} holds no index (there is no {NAME} in it); make one: chunkwise {command}"
    )


def current_generation(folder: Path) -> str | None:
    """The sub-folder that counts, even if the rest of the manifest cannot be used."""
    try:
        found = json.loads((folder / NAME).read_text("utf-8"))["generation"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None


def former_settings(folder: Path) -> Settings | None:
    """What an index that will be made anew was made with, by whatever version; None: it cannot be read."""
    try:
        return read_settings(json.loads((folder / NAME).read_text("utf-8"))["settings"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _made(values: dict[str, Any]) -> Manifest:
    files = {
        str(name): Stored(each["dtype"], tuple(map(int, each["shape"])), each["check"])
        for name, each in values["files"].items()
    }
    for name in (values["generation"], *files):
        if os.path.basename(name) != name or name in ("", ".", ".."):
            raise ValueError(f"{name!r} is no name of a file in the folder")
    settings = Settings(**values["settings"])
    wanted = expected(settings.vectors, settings.dimensions)
    if {name: (each.dtype, each.shape[1:]) for name, each in files.items()} != wanted:
        raise ValueError("its arrays are not those of an index with its settings")
    return Manifest(values["generation"], settings, tuple(values["languages"]), files)


def _damaged(path: Path, why: str) -> ChunkwiseError:
    return ChunkwiseError(f"{path} is damaged ({why}); {REBUILD}")


def sync_folder(folder: Path) -> None:
    """Names of new files survive a loss of power, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
