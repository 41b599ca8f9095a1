"""How far a judge can be trusted, to be read."""
