"""What is shown, as data: pages, notebooks and terminals read the same values."""
