"""Documents with their cuts, as a page and in a terminal."""
