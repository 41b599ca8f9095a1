"""Models behind an endpoint: one client, careful with keys, patient with servers."""
