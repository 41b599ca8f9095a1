"""Passages and document names of a test set, found in the documents."""
