"""Weights without foreign code: which files, where from, checked by hash."""
