"""Scores of questions from the verdicts of a language model: one metric a file."""
