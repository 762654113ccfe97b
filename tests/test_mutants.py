"""Property: which mutants a source has, that the known equivalent ones are among them, and what is run for them."""

import os
import subprocess
import sys
from pathlib import Path

import mutants
import pytest
import support.engine_setups  # noqa: F401 - what every forked process imports, once before the first fork
from mutant_lines import mutants_of

pytestmark = [pytest.mark.agreement, pytest.mark.linux]

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


TINY = "def room(packets):\n    return packets < 3\n"
TINY_TESTS = {
    "test_room.py": "from tiny import room\n\n\ndef test_room():\n    assert room(2) and not room(4)\n",
    "test_nothing.py": "def test_nothing():\n    pass\n",
}
BASELINE_RUNS = "test files without a mutant"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one line whose tests notice 2 in place of 3 and >= in place of <, but neither 4 nor <=."""
    (tmp_path / "tests").mkdir()
    for name, text in TINY_TESTS.items():
        (tmp_path / "tests" / name).write_text(text, encoding="utf-8")
    (tmp_path / "tiny.py").write_text(TINY, encoding="utf-8")
    (tmp_path / "equivalent.toml").write_text("mutant = []", encoding="utf-8")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "COPIED", ("tiny.py", "tests"))
    monkeypatch.setattr(mutants, "TARGETS", {"tiny.py": mutants.Tests(("tests/test_*.py",))})
    for name, file in {"EQUIVALENT": "equivalent.toml", "OUTCOMES": "outcomes", "BASELINE": "baseline"}.items():
        monkeypatch.setattr(mutants, name, tmp_path / file)
    return tmp_path


def called(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    """Return the exit status of a call with these options."""
    monkeypatch.setattr("sys.argv", ["mutants.py", *options])
    return mutants.main()


def test_what_is_known_of_the_same_code_is_not_run_again(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(monkeypatch) == 1
    first = capsys.readouterr().out
    assert f"running 2 {BASELINE_RUNS}" in first
    assert "2 killed, 2 survived, 0 untested: 50% killed" in first
    assert called(monkeypatch, "--least", "0.5") == 0
    again = capsys.readouterr().out
    assert BASELINE_RUNS not in again
    assert again.splitlines()[-2:] == first.splitlines()[-2:]
    mutants.OUTCOMES.unlink()
    called(monkeypatch)
    assert BASELINE_RUNS not in capsys.readouterr().out
    (tiny / "tiny.py").write_text(f"{TINY}\n# Edited.\n", encoding="utf-8")
    called(monkeypatch)
    assert f"running 2 {BASELINE_RUNS}" in capsys.readouterr().out


def test_tests_without_a_mutant_go_on_where_they_were_ended(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called(monkeypatch)
    kept, _ = mutants.BASELINE.read_text(encoding="utf-8").splitlines()
    mutants.BASELINE.write_text(f"{kept}\n", encoding="utf-8")
    mutants.OUTCOMES.unlink()
    capsys.readouterr()
    called(monkeypatch)
    found = capsys.readouterr().out
    assert f"running 1 {BASELINE_RUNS}" in found
    assert "2 killed, 2 survived" in found


def test_minutes_that_do_not_hold_the_tests_without_a_mutant_are_refused_in_a_line(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as ended:
        called(monkeypatch, "--minutes", "0")
    assert str(ended.value) == (
        "time is over after 0 of 2 test files without a mutant: no mutant was run; "
        "the next call goes on from there, with more --minutes or fewer files (--only)"
    )


def test_minutes_that_hold_no_mutant_leave_all_to_the_next_call(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called(monkeypatch)
    mutants.OUTCOMES.unlink()
    capsys.readouterr()
    assert called(monkeypatch, "--minutes", "0") == 0
    assert "time is over, 4 mutants left for the next call" in capsys.readouterr().out
    assert not mutants.OUTCOMES.exists()


def test_tests_that_fail_without_a_mutant_are_an_error(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tiny / "tiny.py").write_text(TINY.replace("3", "5"), encoding="utf-8")
    with pytest.raises(SystemExit, match="tests fail without any mutant"):
        called(monkeypatch)


def test_a_process_sees_all_sources_and_helpers_of_tests_in_the_copy(tmp_path: Path) -> None:
    mutants._copy_to(tmp_path)
    assert mutants.sources(tmp_path) == mutants.sources(mutants.ROOT)
    command = "import mutant_runs, pathlib, sys; mutant_runs._prepare(pathlib.Path.cwd()); "
    command += "print(sys.modules['support.engine_setups'].__file__)"
    environment = os.environ | {"PYTHONPATH": str(mutants.ROOT / "tests")}
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert str(tmp_path) in done.stdout
