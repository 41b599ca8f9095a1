"""Language models: local or behind an endpoint, one client for all that is asked of them."""
