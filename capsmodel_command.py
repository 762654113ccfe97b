"""The command ``capsmodel``: outside the package, so that Ctrl-C is also heard while the package is imported."""

import sys


def main() -> None:
    """Import the command line and run it; Ctrl-C on the way ends without a traceback, with the status of a shell."""
    try:
        from capsmodel.cli import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()
