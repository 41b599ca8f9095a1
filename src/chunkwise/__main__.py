"""`python -m chunkwise`."""

from chunkwise.cli.main import main

main()
