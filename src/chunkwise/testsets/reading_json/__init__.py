"""Our own format: JSON as people write it."""
