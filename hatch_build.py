"""What the page of the package index shows: README with addresses in place of paths, and where the project is.

The address stands in one place, ``repository-code`` of CITATION.cff. Without it links become plain text and pictures
are left out, since a relative path leads nowhere on that page.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[([^]]*)\]\((?!\w+:)([^)#\s]+)\)\n*")
LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?!\w+:|#)([^)\s]+)\)")
ADDRESS = re.compile(r"^repository-code: *(\S+)$", re.MULTILINE)
PAGES = {"Source": "", "Documentation": "/blob/main/docs/index.md", "Changes": "/blob/main/CHANGELOG.md"}


def repository(citation: str) -> str:
    """Return the address that CITATION.cff names; empty if it names none."""
    found = ADDRESS.search(citation)
    return found[1].strip("\"'").rstrip("/") if found else ""


def for_the_index(text: str, address: str, version: str) -> str:
    """Return README as the index shows it: each path is one of the release's tag."""
    if not address:
        return LINK.sub(r"\1", PICTURE.sub("", text))
    text = PICTURE.sub(rf"![\1]({address}/raw/v{version}/\2)\n\n", text)
    return LINK.sub(rf"[\1]({address}/blob/v{version}/\2)", text)


class Front(MetadataHookInterface):
    """Fills in `readme` and `urls` of the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set both fields."""
        root = Path(self.root)
        address = repository((root / "CITATION.cff").read_text(encoding="utf-8"))
        text = for_the_index((root / "README.md").read_text(encoding="utf-8"), address, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = {name: address + page for name, page in PAGES.items() if address}
