"""One format of test sets a file."""

from chunkwise.testsets.formats.registry import (
    FORMATS,
    WHOLE,
    CarriesDocuments,
    Format,
    detect,
)

__all__ = ["FORMATS", "WHOLE", "CarriesDocuments", "Format", "detect"]
