"""Chunks as files: JSON lines, Parquet, CSV."""
