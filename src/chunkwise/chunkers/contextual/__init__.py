"""What a language model writes about a chunk and its place: indexed beside the chunk, never part of it."""
