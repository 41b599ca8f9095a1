"""Answers: complete, correct, about the question, faithful to their sources."""
