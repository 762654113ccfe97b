"""``python -m capsmodel``: the same command line as ``capsmodel``."""

from capsmodel.cli import main

if __name__ == "__main__":
    main()
