"""What a corpus looks like before anything is chosen."""

from __future__ import annotations

from chunkwise.profiling.profile import Profiler, profile
from chunkwise.profiling.results import DocumentGroup, Profile

__all__ = ["DocumentGroup", "Profile", "Profiler", "profile"]
