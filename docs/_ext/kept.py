"""What a build of the site computed, kept for the next ones in ``out/kept``: what commands print, and drawings.

An entry is found by what it is made of: text of a page, and all that it may depend on besides, which is every file of
the packages and their data, measurements of the tests that pages show, these extensions, Python, and the version of
everything installed. An edit of any of these makes all entries anew.
"""

import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
MADE_OF = ("capsmodel", "sim/capsim", "data", "docs/_ext", "tests/agreement/measured")


@cache
def everything_else() -> str:
    """Return the SHA-256 of all but the page that an entry may depend on."""
    digest = sha256(sys.version.encode())
    for line in sorted(f"{found.name} {found.version}" for found in distributions()):
        digest.update(line.encode())
    for path in sorted(path for folder in MADE_OF for path in (ROOT / folder).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(ROOT)}\n".encode())
            digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def key_of(*parts: str) -> str:
    """Return the name of an entry, from all that tells it from others.

    Examples
    --------
    >>> key_of("a", "b") == key_of("ab")
    False
    """
    return sha256("\0".join((everything_else(), *parts)).encode()).hexdigest()


def kept(app: Sphinx, name: str, make: Callable[[], bytes]) -> bytes:
    """Return an entry; one that is not there is made, and kept unless that fails."""
    file = Path(app.doctreedir).parent / "kept" / name
    if not file.is_file():
        made = make()
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_bytes(made)
        part.replace(file)
    return file.read_bytes()
