"""Headings, paragraphs, list items, table rows and code of a text, and the sections they make."""
