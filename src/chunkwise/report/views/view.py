"""What every view is: plain frozen values that go to JSON and come back; and the parts that several views share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from chunkwise.base.own_files import PAGE_FORMAT
from chunkwise.records.json import json_text

if TYPE_CHECKING:
    pass

PAGE_VERSION = 1
"""Of the form of a page as data."""


@dataclass(frozen=True, slots=True)
class View:
    """What one page, fragment or terminal shows."""

    page_template: ClassVar[str] = ""
    """Of the whole page; empty: it has none."""
    fragment_template: ClassVar[str] = ""
    """Of the element that a notebook shows."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: fields by their names, lists for tuples."""
        found: dict[str, Any] = json.loads(json_text(self))
        return found

    def to_page_dict(self) -> dict[str, Any]:
        """The same behind what it is, as a page is written: nobody takes such a file for a document."""
        about = {"format": PAGE_FORMAT, "version": PAGE_VERSION, "view": type(self).__name__}
        return {**about, **self.to_dict()}
