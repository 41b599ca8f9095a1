"""An evaluation, as a page and in a terminal."""
