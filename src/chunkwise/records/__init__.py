"""Rows in files, read and written in one way: JSON, JSON lines, CSV and Parquet, with the line that is wrong."""
