"""Passages and documents that a file names, found in the documents there are."""
