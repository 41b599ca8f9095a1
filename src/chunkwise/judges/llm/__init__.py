"""Judgements of a language model: one kind a file, each verdict kept by what it is about."""
