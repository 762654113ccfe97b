"""Property: which mutants a source has, and that the known equivalent ones are among them."""

from pathlib import Path

import mutants
import pytest
from mutant_lines import mutants_of

SOURCE = '''"""Text."""
LIMIT = 3


def room(queue, flags):
    """Return whether there is room."""
    if queue.closed:
        return False
    queue.asked += 1
    queue.full = 1
    return min(queue.packets, LIMIT) < 0.5 and not flags & 2
'''


def test_the_mutants_of_a_small_file(tmp_path: Path) -> None:
    (tmp_path / "room.py").write_text(SOURCE, encoding="utf-8")
    found = mutants_of(tmp_path / "room.py", "room.py")
    last = "return min(queue.packets, LIMIT) < 0.5 and (not flags & 2)"
    changes = {(mutant.function, mutant.before, mutant.after) for mutant in found}
    assert changes == {
        ("", "LIMIT = 3", "LIMIT = 4"),
        ("", "LIMIT = 3", "LIMIT = 2"),
        ("room", "if queue.closed:", "if not queue.closed:"),
        ("room", "return False", "return True"),
        ("room", "queue.asked += 1", "pass"),
        ("room", "queue.asked += 1", "queue.asked -= 1"),
        ("room", "queue.asked += 1", "queue.asked += 2"),
        ("room", "queue.asked += 1", "queue.asked += 0"),
        ("room", "queue.full = 1", "pass"),
        ("room", "queue.full = 1", "queue.full = 0"),
        ("room", last, last.replace(" and (not flags & 2)", " or not flags & 2")),
        ("room", last, last.replace("<", "<=")),
        ("room", last, last.replace("<", ">=")),
        ("room", last, last.replace("min", "max")),
        ("room", last, last.replace("0.5", "0.45")),
        ("room", last, last.replace("(not flags & 2)", "flags & 2")),
        ("room", last, last.replace("&", "|")),
        ("room", last, last.replace("2)", "3)")),
        ("room", last, last.replace("2)", "1)")),
    }
    assert {mutant.lines for mutant in found} == {(2, 2), (7, 7), (8, 8), (9, 9), (10, 10), (11, 11)}
    assert [mutant.before for mutant in found if mutant.at_import] == ["LIMIT = 3", "LIMIT = 3"]


def test_known_equivalent_mutants_are_mutants_still() -> None:
    known = mutants.equivalent([], all_files=False)
    files = {file for file, *_ in known}
    found = [mutant for file in files for mutant in mutants_of(mutants.ROOT / file, file)]
    assert mutants.equivalent(found) == known
    with pytest.raises(SystemExit, match="no such mutant any more"):
        mutants.equivalent([])
