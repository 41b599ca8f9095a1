"""Tokens, sentences, structure: the offsets of everything, once a document."""
