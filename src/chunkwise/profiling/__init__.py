"""What a corpus looks like before anything is chosen, and where to start."""

from __future__ import annotations

from chunkwise.profiling.profile import Profiler, profile
from chunkwise.profiling.results import DocumentGroup, Profile, ProfileAdvice

__all__ = ["DocumentGroup", "Profile", "ProfileAdvice", "Profiler", "profile"]
