"""HTML pages: their blocks, without what is no main text."""
