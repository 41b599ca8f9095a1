"""How sure a figure is: pure NumPy, seeded, no knowledge of what is measured."""
