"""Runs that are remembered: one file a project, or tables on a server, and what changed from one run to another."""
