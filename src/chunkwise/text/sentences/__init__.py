"""Where sentences start."""
