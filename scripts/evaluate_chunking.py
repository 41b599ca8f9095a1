#!/usr/bin/env python3
"""The same as `chunkwise evaluate`, for those who know it by this name."""

import sys

try:
    from chunkwise.cli.main import main
except ModuleNotFoundError as error:
    sys.exit(
        f"chunkwise is not installed here ({error.name} is missing): run `pip install chunkwise`, "
        "or this script with the Python of the environment it is installed in"
    )

if __name__ == "__main__":
    sys.argv[1:1] = ["evaluate"]
    main()
