"""The same as `chunkwise evaluate`, for those who know it by this name."""

import sys

from chunkwise.cli.main import main

if __name__ == "__main__":
    sys.argv[1:1] = ["evaluate"]
    main()
