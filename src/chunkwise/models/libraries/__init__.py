"""Models of libraries the user has, by name."""
