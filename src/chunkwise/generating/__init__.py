"""Test questions out of the documents themselves, with exact references."""
