"""Differences between results, in a terminal."""
