"""Source code: its syntax tree, and the classes and functions in it."""
