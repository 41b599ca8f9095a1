"""What a corpus looks like before anything is chosen, and where to start."""

from __future__ import annotations

from chunkwise.profile.profile import Profiler, profile
from chunkwise.profile.results import Advice, Group, Profile

__all__ = ["Advice", "Group", "Profile", "Profiler", "profile"]
