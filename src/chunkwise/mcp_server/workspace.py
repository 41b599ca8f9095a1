"""What a server for assistants was given, and nothing outside of it."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, NotAllowed
from chunkwise.base.own_files import INDEX_FILE
from chunkwise.base.progress import OnProgress
from chunkwise.base.wording import counted
from chunkwise.documents.loader import LoadOptions, leaving_out
from chunkwise.mcp_server.fenced_text import shown_id
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from chunkwise.core import Document
    from chunkwise.retrieval import Index
    from chunkwise.tracking.history import History


Report = Callable[[float, float | None, str], None]
"""Gets how far a call is, of how much where that is known, and what is being done."""
INDEXING_SECONDS = 3600.0
"""For a call that reads documents into an index."""
_MOST_ENTRIES = 200_000
"""Files of a folder that are looked through for links."""


class Stopped(KeyboardInterrupt):
    """The call was canceled; whatever clears up at Ctrl-C does so here."""


class ToolCall:
    """One call at work: says how far it is, and ends where it is told to."""

    def __init__(self, report: Report = lambda done, total, note: None) -> None:
        self._report = report
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def check(self) -> None:
        if self._stopping.is_set():
            raise Stopped

    @contextmanager
    def stages(self, name: str, total: int) -> Iterator[OnProgress]:
        """A stage by its name and the number of its steps; told at the start, and about a hundred times on the way."""
        done, told = 0, 0
        step = max(1, total // 100)
        self.check()
        self._report(0, total or None, name)

        def advance(amount: int, note: str) -> None:
            nonlocal done, told
            self.check()
            done += amount
            # Without a total, a hundredth more than the last time: few messages, however long it takes.
            if done - told >= (step if total else 1 + told // 100):
                told = done
                self._report(done, total or None, one_line(note, 120) or name)

        yield advance
        self.check()


@dataclass(frozen=True, kw_only=True)
class WorkspaceSources:
    """What was named on the command line."""

    index: str = ""
    documents: tuple[str, ...] = ()
    """Where there is no index: they are indexed in memory, when they are first needed."""
    embedder: str = ""
    """For these; empty: words alone."""
    project: Path | None = None
    """The only folder in which tools find files; None: they open none."""
    history: str | None = None
    allow_write: bool = False
    loading: LoadOptions = LoadOptions()


class Workspace:
    """Opens what it was given, as it is now, and refuses every other path."""

    def __init__(self, sources: WorkspaceSources) -> None:
        self.sources = sources
        self.allow_write = sources.allow_write
        self.project: Path | None = None
        if sources.project is not None:
            self.project = Path(os.path.realpath(sources.project))
            if not self.project.is_dir():
                raise InvalidParameter(f"project is {str(sources.project)!r}; expected a folder")
        self._lock = threading.RLock()
        self._index: Index | None = None
        self._seen: tuple[int, int, int] | None = None
        if sources.index:
            self._opened()  # what is wrong with it is told before anybody is served

    @property
    def must_index(self) -> bool:
        """Whether the next call has to index the documents first."""
        return self._index is None and bool(self.sources.documents)

    @contextmanager
    def index(self, call: ToolCall) -> Iterator[Index]:
        """One at a time: an index on a server has one connection."""
        with self._lock:
            call.check()
            yield self._made(call) if self.sources.documents else self._opened()

    @contextmanager
    def index_of_its_own(self, call: ToolCall) -> Iterator[Index]:
        """For what takes long: an index at a place is opened once more, so that searches need not wait."""
        if self.sources.documents:
            with self.index(call) as index:
                yield index
            return
        from chunkwise.retrieval import open_index

        yield open_index(self.sources.index)

    def _made(self, call: ToolCall) -> Index:
        if self._index is None:
            from chunkwise.retrieval import index

            with call.stages("indexing", 0) as advance:
                self._index = index(
                    list(self.sources.documents), embedder=self.sources.embedder or None,
                    vectors=None if self.sources.embedder else "none", options=self.sources.loading,
                    advance=advance,
                )  # fmt: skip
        return self._index

    def _opened(self) -> Index:
        """Opened again where another process has written to its folder meanwhile."""
        state = self._state()
        if self._index is None or state != self._seen:
            from chunkwise.retrieval import open_index

            self._index, self._seen = open_index(self.sources.index), state
        return self._index

    def _state(self) -> tuple[int, int, int] | None:
        if "://" in self.sources.index:
            return None
        try:
            result = os.stat(Path(self.sources.index) / INDEX_FILE)
        except OSError:
            return None  # opening it says what is wrong
        return result.st_mtime_ns, result.st_ino, result.st_size

    def document(self, index: Index, id: str) -> tuple[int, Document]:
        """By its id, as it is or as it was shown; the number that the index knows it by, too."""
        source = index.source
        # On a server another writer may replace documents between two questions.
        with source.snapshot():
            ids = source.ids()
            for number, item in zip(source.document_numbers(), ids, strict=True):
                if id in (item, shown_id(item)):
                    return number, source.document(number)
                # A path, as `lint` and `chunk` name it, begins above the folder that was indexed.
                if id.endswith(f"/{item}") and source.document(number).source.endswith(id):
                    return number, source.document(number)
        known = ", ".join(repr(shown_id(item)) for item in ids[:3])
        raise InvalidParameter(
            f"no document has the id {one_line(id, 120)!r}; use one returned by `search` or the "
            f"resource list{f', such as {known}' if known else ''}"
        )

    def history(self) -> History | None:
        """The one that was named, or that of the project folder; None: there is neither."""
        from chunkwise.tracking.database import FILE, FOLDER, history_place
        from chunkwise.tracking.history import History

        if self.sources.history:
            return History(history_place(self.sources.history))
        if self.project is None:
            return None
        place = self.project / FOLDER / FILE
        if place.parent.is_symlink() or place.is_symlink():
            raise NotAllowed(
                f"{FOLDER}/{FILE} of the project is a link; use --history with its target"
            )
        return History(place)

    def known_history(self) -> History:
        """The same, or a sentence."""
        result = self.history()
        if result is None:
            raise InvalidParameter(
                "no runs: the server was started without --project FOLDER or --history PLACE"
            )
        return result

    def shown(self, text: str) -> str:
        """A text with paths of the project as an assistant names them: where the folder lies is nothing to it."""
        return text.replace(f"{self.project}{os.sep}", "") if self.project else text

    def path(self, name: str) -> Path:
        """A file or folder of the project; whatever lies or leads outside is refused."""
        shown = one_line(name, 120)
        if self.project is None:
            raise NotAllowed(
                f"{shown!r} is a path, but the server was started without --project FOLDER"
            )
        outside = NotAllowed(
            f"{shown!r} is outside of the project folder; expected a path such as 'docs/leave.md'"
        )
        if not name or "\0" in name:
            raise InvalidParameter(f"{shown!r} isn't a path in the project folder")
        lexical = Path(os.path.normpath(self.project / name))
        if lexical != self.project and self.project not in lexical.parents:
            raise outside
        at = self.project
        for part in lexical.relative_to(self.project).parts:
            at = at / part
            try:
                kind = at.lstat().st_mode
            except (OSError, ValueError):
                raise InvalidParameter(f"{shown!r} doesn't exist in the project folder") from None
            if stat.S_ISLNK(kind):
                raise NotAllowed(
                    f"{shown!r} contains a symbolic link, which isn't followed; give the file "
                    "itself"
                )
        if not stat.S_ISREG(lexical.lstat().st_mode) and not lexical.is_dir():
            raise NotAllowed(f"{shown!r} is neither a file nor a folder")
        return lexical

    def file(self, name: str) -> Path:
        """A file of the project whose neighbors lead nowhere else: formats of several files read these, too."""
        path = self.path(name)
        if not path.is_file():
            raise InvalidParameter(f"{one_line(name, 120)!r} is a folder; expected a file")
        if any(self._outward(path.parent)):
            raise NotAllowed(
                f"the folder of {one_line(name, 120)!r} contains a link out of the project "
                f"folder; move the file to a folder without such links"
            )
        return path

    def loading(self, *places: Path) -> LoadOptions:
        """How files at these places are read: as was said at the start, without links that lead out of the project."""
        links = [link for place in places if place.is_dir() for link in self._outward(place)]
        return leaving_out(self.sources.loading, [os.path.realpath(link) for link in links])

    def _outward(self, folder: Path) -> Iterator[Path]:
        assert self.project is not None
        seen = 0
        for at, folders, files in os.walk(folder):
            for name in (*folders, *files):
                seen += 1
                if seen > _MOST_ENTRIES:
                    raise ChunkwiseError(
                        f"{folder.name} has more than {counted(_MOST_ENTRIES, 'file')}; choose a "
                        "smaller folder"
                    )
                path = Path(at) / name
                if path.is_symlink():
                    target = Path(os.path.realpath(path))
                    if target != self.project and self.project not in target.parents:
                        yield path

    def refuse_writing(self, what: str) -> None:
        """What would change something, where only reading is allowed."""
        if not self.allow_write:
            raise NotAllowed(
                f"{what} needs write access; the server must be started with --allow-write"
            )
