"""Contract: a scheme from a Python file runs in commands, scenarios and studies, and a result knows its text."""

import os
import sys
from pathlib import Path

import pytest

from capsim import (
    ParameterError,
    Result,
    Study,
    compare,
    load_scenario,
    load_study,
    scheme,
    simulate,
)
from capsim.results.files import read_manifest
from capsim.roles.scheme_files import same_source, source_of
from capsmodel.cli import main
from capsmodel.experiments.sweep import all_cores

OWN = '''"""Packets go to the last of the ports."""
from __future__ import annotations
from dataclasses import dataclass, replace
from capsim import Balancer, scheme
from beside import NAME
@dataclass(frozen=True)
class Params:
    """Parameters.

    Parameters
    ----------
    place : int
        From the end, from 1.
    """
    place: int = 1
def last(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    """Take the last one."""
    return len(candidates) - params.place
BALANCER = Balancer(name=NAME, choose=last, params=Params(), reads_queues=False)
SCHEME = replace(scheme("ecmp"), name=NAME, summary="the last port", cite="none", balancer=BALANCER)
OTHER = 3
'''
SMALL = ["--fabric", "leaf-spine:2x2x3", "--workload", "solar2022", "--flows", "10", "--load", "0.5"]
SMALL += ["--engine", "reference"]
SCENARIO = """scheme = "own/last.py:SCHEME"
[fabric]
kind = "leaf-spine"
leaves = 2
hosts_per_leaf = 2
spines = 3
[[traffic]]
kind = "batch"
pairs = "other-leaf"
flow_bytes = 20000
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/last.py").write_text(OWN)
    (tmp_path / "own/beside.py").write_text('NAME = "last"\n')
    return tmp_path


def status(*arguments: str) -> int:
    with pytest.raises(SystemExit) as raised:
        main(list(arguments))
    return int(raised.value.code or 0)


def used_spines(result: Result) -> set[str]:
    up = result.ports.query("layer == 'leaf>spine' and packets_out > 0")
    return {name.partition(">")[2] for name in up["name"]}


def test_simulate_runs_it_and_the_manifest_has_its_text_but_no_path(folder: Path) -> None:
    assert status("simulate", *SMALL, "--scheme", "own/last.py:SCHEME", "--out", "out") == 0
    result = Result.load("out")
    assert (result.scenario.scheme, used_spines(result)) == ("last", {"spine2"})
    manifest = read_manifest(folder / "out/flows.parquet")
    assert manifest["scheme_file"]["file"] == "last.py"
    assert "own/" not in repr(manifest)
    assert "scheme_file" not in simulate(load_scenario("p64").replace(end_s=1e-9), engine="reference").manifest


def test_a_parameter_of_it_is_set_and_listed_like_any(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--scheme", "own/last.py:SCHEME", "--set", "balancer.place=3", "--out", "out"]
    assert status("simulate", *SMALL, *arguments) == 0
    assert used_spines(Result.load("out")) == {"spine0"}
    capsys.readouterr()
    assert status("schemes", "own/last.py:SCHEME", "balancer") == 0
    assert "From the end, from 1." in capsys.readouterr().out
    assert status("schemes", "own/last.py:SCHEME") == 0
    printed = "".join(capsys.readouterr())
    assert "capsmodel schemes own/last.py:SCHEME transport says" in " ".join(printed.split())


def test_its_run_is_that_of_the_scheme_itself() -> None:
    (Path("s.toml")).write_text(SCENARIO)
    by_file = simulate("s.toml", engine="reference")
    by_object = simulate("s.toml", scheme=scheme("own/last.py:SCHEME"), engine="reference")
    assert by_file.flows.equals(by_object.flows)
    assert by_file.manifest["id"] == by_object.manifest["id"]


def test_the_file_in_a_scenario_is_beside_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "s.toml").write_text(SCENARIO)
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert used_spines(simulate("../s.toml", engine="reference")) == {"spine2"}


def test_rerun_takes_the_same_text_and_no_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("simulate", *SMALL, "--scheme", "own/last.py:SCHEME", "--out", "out") == 0
    capsys.readouterr()
    assert status("rerun", "out/flows.parquet", "--engine", "reference") == 2
    assert "made with the scheme in last.py: go to the folder that it is in" in capsys.readouterr().err
    (folder / "out/../last.py").write_text(OWN)
    (folder / "beside.py").write_text('NAME = "last"\n')
    assert status("rerun", "out/flows.parquet", "--engine", "reference") == 0
    (folder / "last.py").write_text(OWN + "# a comment\n")
    capsys.readouterr()
    assert status("rerun", "out/flows.parquet", "--engine", "reference") == 2
    told = capsys.readouterr().err
    assert "the run was made with another last.py, of SHA-256" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("file", ["../last.py", "own/last.py", "{folder}/last.py", "last.txt", ""])
def test_a_manifest_names_a_file_of_the_folder_itself(folder: Path, file: str) -> None:
    """A result of a stranger would else choose which file of this machine is run."""
    (folder / "last.py").write_text(OWN)
    named = source_of("last.py:SCHEME")
    assert same_source(named, folder) == f"{folder}/last.py:SCHEME"
    with pytest.raises(ParameterError, match="that is no name of a Python file"):
        same_source(named | {"file": file.format(folder=folder)}, folder, folder / "own")


@pytest.mark.parametrize(
    "entry", ["", '[[scenario.traffic]]\nkind = "batch"\nflow_bytes = 1000\nstack = "evil.py:S"\n']
)
def test_a_study_is_printed_without_running_the_files_that_it_names(
    folder: Path, capsys: pytest.CaptureFixture[str], entry: str
) -> None:
    """Its points and runs are known without; a parameter of the scheme in the file cannot be checked then."""
    (folder / "evil.py").write_text(f"{OWN}open('{folder}/harm', 'w').close()\nS = SCHEME\n")
    (folder / "beside.py").write_text('NAME = "last"\n')
    axes = '[axes]\nscheme = ["ecmp", "evil.py:SCHEME"]\n"balancer.place" = [1, 2]\n'
    scenario = SCENARIO.replace('scheme = "own/last.py:SCHEME"\n', "").replace("[fabric]", "[scenario.fabric]")
    (folder / "s.toml").write_text(axes + scenario.replace("[[traffic]]", "[[scenario.traffic]]") + entry)
    assert status("study", "s.toml", "--expand") == 0
    shown = capsys.readouterr().out
    assert "s: 4 points, 20 runs" in shown
    assert "evil.py:SCHEME, balancer.place 2" in shown
    assert not (folder / "harm").exists()
    assert status("study", "s.toml", "--costs") == 0
    assert (folder / "harm").exists(), "ids of runs depend on what the file says"


def test_a_file_that_was_edited_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also within the second, with as many characters: byte code that is kept beside it looks valid then."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (folder / "s.toml").write_text(SCENARIO)
    assert used_spines(simulate("s.toml", engine="reference")) == {"spine2"}
    file, before = folder / "own/last.py", (folder / "own/last.py").stat()
    file.write_text(OWN.replace("place: int = 1", "place: int = 2"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert used_spines(simulate("s.toml", engine="reference")) == {"spine1"}


def test_processes_of_a_comparison_and_of_a_study_load_it(folder: Path) -> None:
    """Both engines; a row of a study has the file as the value of its axis."""
    (folder / "s.toml").write_text(SCENARIO)
    found = compare("s.toml", schemes=["ecmp", "own/last.py:SCHEME"], seeds=1, jobs=2)
    assert found.schemes == ("ecmp", "last")
    assert set(found.runs["scheme"]) == {"ecmp", "last"}
    axes = '[axes]\nscheme = ["rps", "own/last.py:SCHEME"]\n'
    (folder / "study.toml").write_text(f'scenario = "s.toml"\nseeds = 1\nengine = "reference"\n{axes}')
    study: Study = load_study("study.toml")
    assert study.run("rows", executor=all_cores(2)).runs["scheme"].tolist() == ["rps", "own/last.py:SCHEME"]


def test_the_compiled_engine_agrees_and_finds_its_code_again() -> None:
    Path("s.toml").write_text(SCENARIO)
    fast, slow, again = (simulate("s.toml", engine=engine) for engine in ("compiled", "reference", "compiled"))
    assert fast.flows.equals(slow.flows)
    assert again.flows.equals(slow.flows)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "return len(candidates) // (now_ps - now_ps)",
            "last.py, line 18: ZeroDivisionError in last:",
        ),
        ("return None", "last.py, line 16: last returned None, but choose returns a whole number"),
        ("return 99", "balancer 'last': choose returned 99, but there are 3 candidates: return 0 to 2"),
    ],
)
def test_a_hook_that_fails_ends_the_command_in_one_line(
    line: str, text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wrong line: what a hook raises is passed on, and ends the command in a traceback."""
    (folder / "own/last.py").write_text(OWN.replace("return len(candidates) - params.place", line))
    assert status("simulate", *SMALL, "--scheme", "own/last.py:SCHEME") == 2
    told = capsys.readouterr().err
    assert text in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("none.py:SCHEME", "there is no file none.py"),
        ("own/last.py", "name the scheme in the file, as in last.py:SCHEME"),
        ("own/last.py:", "name the scheme in the file, as in last.py:SCHEME"),
        ("own/last.py:MINE", "there is no MINE in last.py: its schemes are SCHEME"),
        ("own/beside.py:SCHEME", "there is no SCHEME in beside.py: it has no Scheme"),
        ("own/last.py:OTHER", "OTHER in last.py is no Scheme, but of type int"),
        ("own/last.py:BALANCER", "BALANCER in last.py is no Scheme, but of type Balancer"),
        ("broken.py:SCHEME", "broken.py cannot be loaded, SyntaxError:"),
        ("fails.py:SCHEME", "fails.py cannot be loaded, ZeroDivisionError: division by zero"),
        ("leaves.py:SCHEME", "leaves.py cannot be loaded, SystemExit: 3"),
        ("own:SCHEME", "scheme = 'own:SCHEME': no scheme has this name; capsmodel schemes lists all"),
    ],
)
def test_what_is_no_scheme_is_told_in_one_line(
    name: str, text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.py").write_text("SCHEME = (\n")
    (folder / "fails.py").write_text("1 / 0\n")
    (folder / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(ParameterError) as error:
        scheme(name)
    assert text in str(error.value)
    assert "\n" not in str(error.value)
    assert status("simulate", *SMALL, "--scheme", name) == 2
    told = capsys.readouterr().err
    assert "Traceback" not in told
    assert text.split()[0] in told
