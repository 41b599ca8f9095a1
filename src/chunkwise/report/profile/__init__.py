"""A profile, as a page and in a terminal."""
