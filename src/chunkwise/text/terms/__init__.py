"""The terms that word search counts."""
