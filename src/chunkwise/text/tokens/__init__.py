"""Tokenizers, and the size of any span of a text."""
