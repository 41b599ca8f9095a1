"""The index that needs no server: arrays in memory, or the same arrays in a folder."""
