"""Property: every Python block of the guides runs as it stands, and every file they name exists."""

import re
from pathlib import Path

import pytest

from capsmodel.cli import main

ROOT = Path(__file__).resolve().parents[1]
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = [
    (guide.name, number, code) for guide in GUIDES for number, code in enumerate(FENCE.findall(guide.read_text()))
]


def test_the_guides_have_examples():
    assert {name for name, _, _ in BLOCKS} == {"README.md", "CONTRIBUTING.md"}


@pytest.mark.parametrize(("name", "number", "code"), BLOCKS)
def test_python_block_runs(name, number, code):
    exec(compile(code, f"{name}, block {number}", "exec"), {"__name__": "guide"})
    assert code.strip()


def test_the_readme_counts_the_claims_as_the_command_does(capsys):
    with pytest.raises(SystemExit):
        main(["claims", "--totals"])
    printed = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    block = re.search(r"^\$ capsmodel claims --totals\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.M)
    assert [line.split() for line in block.group(1).splitlines()] == [line for line in printed if line]
