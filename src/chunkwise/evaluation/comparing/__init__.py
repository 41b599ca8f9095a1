"""Two results or more, held against each other question by question."""
