"""What answers say, and whether a text says it."""
