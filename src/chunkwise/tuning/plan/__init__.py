"""What a sweep tries: the grid as it is written, expanded, and how much work it is."""
