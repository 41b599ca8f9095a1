"""Pages of PDFs as pictures, and the boxes of a span on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from chunkwise.base import limited_processes as limited
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.limits import limits_of
from chunkwise.core import Document
from chunkwise.report.view import View
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import ApiRequest, NotFound, Position

_MOST_BOXES = 500
_LARGEST_FILE = 200_000_000


class BoxesRequest(ApiRequest, frozen=True):
    """Which span of which document."""

    number: Annotated[Position, Meta(description="document, from 0")] = 0
    start: Annotated[Position, Meta(description="first character")] = 0
    end: Annotated[Position, Meta(description="end")] = 1


@dataclass(frozen=True, slots=True)
class BoxView:
    """A rectangle on a page, in points from its lower left corner."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class BoxesView(View):
    """Where a span stands on the pages it was read from."""

    boxes: tuple[BoxView, ...]
    sizes: dict[str, tuple[float, float]]
    """Width and height of each of these pages, in points."""


def boxes(project: Project, request: BoxesRequest) -> BoxesView:
    document = project.corpus.document(request.number)
    result = document.boxes_of(request.start, min(request.end, len(document.text)))[:_MOST_BOXES]
    sizes = {}
    for page in sorted({box.page for box in result})[:20]:
        _, width, height = _drawn(project, request.number, page)
        sizes[str(page)] = width, height
    return BoxesView(tuple(BoxView(*box) for box in result), sizes)


def picture(project: Project, number: int, page: int) -> bytes:
    """A page as a PNG."""
    return _drawn(project, number, page)[0]


def _drawn(project: Project, number: int, page: int) -> tuple[bytes, float, float]:
    made: tuple[bytes, float, float] = project.pictures.get(
        (number, page), lambda: _draw(project, number, page)
    )
    return made


def _draw(project: Project, number: int, page: int) -> tuple[bytes, float, float]:
    document = project.corpus.document(number)
    file = _file(project, document)
    if file is None or document.boxes is None:
        raise NotFound(f"document {number} has no page images")
    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise InvalidParameter(f"{file.name} is too large to render its pages here")
        data = file.read_bytes()
        # A file of others is drawn where it can do no harm: in a process with limits.
        result = list(
            limited.readers.outcomes("chunkwise.documents.ocr:page_picture", (data, page - 1), limits_of(None), {})
        )  # fmt: skip
    except OSError as error:
        raise NotFound(f"{file.name} can no longer be read: {error.strerror}") from None
    except limited.CannotBeSent:
        result = []
    if not result or result[0] is None:
        raise ChunkwiseError(f"page {page} of {file.name} cannot be rendered")
    drawn: tuple[bytes, float, float] = result[0]
    return drawn


def _file(project: Project, document: Document) -> Path | None:
    """The file it was read from, inside the working folder or what was named; None: it is not there."""
    if document.format != "pdf" or not document.source:
        return None
    file = Path(document.source).resolve()
    roots = [Path().resolve(), *(Path(item).resolve() for item in project.sources.documents)]
    inside = any(file == root or root in file.parents for root in roots)
    return file if inside and file.is_file() else None
