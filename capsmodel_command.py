"""The command ``capsmodel``: outside the package, so that Ctrl-C is also heard while the package is imported."""

import gc
import sys


def main() -> None:
    """Import the command line and run it; Ctrl-C on the way ends without a traceback, with the status of a shell."""
    try:
        from capsmodel.cli import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        run()
    finally:
        gc.freeze()  # the process ends: looking for garbage among all that was imported would take 0.1 s
