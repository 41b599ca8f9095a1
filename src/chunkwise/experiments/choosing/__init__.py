"""From what every configuration reached to a choice: ties, costs, defaults, levers, and how sure all of it is."""
