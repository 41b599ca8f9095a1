"""Measures over spans and rankings, for all questions at once."""
