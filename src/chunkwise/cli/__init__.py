"""The command line: one command a file, each imported when it is run; the only place that prints."""
