"""One format of test sets a file."""

from chunkwise.testsets.formats.registry import (
    FORMATS,
    WHOLE,
    CarriesDocuments,
    Format,
    Losses,
    detect,
)

__all__ = ["FORMATS", "WHOLE", "CarriesDocuments", "Format", "Losses", "detect"]
