"""The choice as a file that commands take, and as code."""
