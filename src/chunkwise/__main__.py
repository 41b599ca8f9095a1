"""`python -m chunkwise`, and the `chunkwise` command."""

import sys


def run() -> None:
    """Ctrl-C is one line or none from the start on, also while the command is still being imported."""
    try:
        from chunkwise.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
