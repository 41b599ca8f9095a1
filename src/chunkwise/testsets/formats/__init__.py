"""One format a file: what others write, and how it is written back."""
