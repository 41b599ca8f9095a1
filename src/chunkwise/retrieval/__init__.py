"""Indexes and what searches them: words, vectors, both, and several sizes at once."""
