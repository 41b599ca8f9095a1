"""How the configurations of a sweep are run: one chunking after the other, in one process or in several."""
