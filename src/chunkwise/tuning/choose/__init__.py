"""From what every configuration reached to a choice: ties, costs, baselines, levers, and how sure all of it is."""
