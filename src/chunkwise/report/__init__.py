"""Results people look at: pages, tables and terminal views."""
