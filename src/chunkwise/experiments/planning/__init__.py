"""What is tried: the grid as it is written, expanded, and how much work it is."""
