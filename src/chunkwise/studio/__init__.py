"""The product in a browser on one's own machine: pages and the JSON behind them, served on the loopback alone."""
