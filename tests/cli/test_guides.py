"""Contract: every file, command and Python block of the pages for users runs, in the order of the page."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from capsmodel.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = [DOCS / "tutorial.md", DOCS / "papers_numbers.md", *sorted((DOCS / "howto").glob("*.md"))]
FENCE = re.compile(r"^```(python|\{shell\}|\{file\} (?P<name>\S+))\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


def run_command(line):
    """Run one command of a page in this process."""
    program, *arguments = shlex.split(line)
    if program == "python":
        runpy.run_path(arguments[0], run_name="__main__")
        return
    assert program == "capsmodel"
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code in (0, None), line


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_the_blocks_of_a_guide_run(guide, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = {"__name__": "guide"}
    blocks = list(FENCE.finditer(guide.read_text(encoding="utf-8")))
    assert blocks
    for block in blocks:
        if block["name"]:
            Path(block["name"]).write_text(block["text"], encoding="utf-8")
        elif block[1] == "python":
            exec(compile(block["text"], str(guide), "exec"), names)
        else:
            for line in block["text"].splitlines():
                run_command(line)
