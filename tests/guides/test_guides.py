"""Contract: the commands of README.md run where only the wheel is; so does the line for a cluster, with an address.

Whatever else a page for users shows is run where the site is built (``docs/_ext/shell.py``).
"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import built_wheel
import pytest
from distributed import LocalCluster

from capsmodel.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
FILE = re.compile(r"^```\{file\} (?P<name>\S+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
CLUSTER_LINE = re.compile(r"^\$ (capsmodel study .*--cluster )(tcp://\S+)(.*)$", re.MULTILINE)


def run_command(line):
    """Run one command of a page in this process."""
    program, *arguments = shlex.split(line)
    assert program == "capsmodel"
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code in (0, None), line


def test_the_line_for_a_cluster_runs_with_the_address_of_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "howto" / "cluster.md").read_text(encoding="utf-8")
    for block in FILE.finditer(text):
        Path(block["name"]).write_text(block["text"], encoding="utf-8")
    ((before, _, after),) = CLUSTER_LINE.findall(text)
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        run_command(f"{before}{cluster.scheduler_address}{after}")
    assert Path("on_cluster/table.csv").is_file()


README_LINES = re.findall(r"^\$ (capsmodel .*)$", (DOCS.parent / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
# Where the page shows minutes, the tests run the same line on few flows.
SMALLER = (("--flows 2000", "--flows 20"), ("compare websearch-load-60", "compare websearch-load-60 --flows 20"))
SMALLER += (("--seeds 5", "--seeds 1"),)
STUDY = """
scenario = "p64"
seeds = 1
[axes]
scheme = ["ecmp", "rps"]
"""


# Runs command lines in a process that finds the wheel only; a second item names the file for what one prints.
IN_ORDER = """
import contextlib, io, json, sys
from pathlib import Path
import capsim, capsmodel
from capsmodel.cli import main
assert all(Path(each.__file__).is_relative_to(sys.argv[1]) for each in (capsim, capsmodel))
for arguments, target in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            main(arguments)
        except SystemExit as stop:
            assert not stop.code, arguments
    if target:
        Path(target).write_text(printed.getvalue(), encoding="utf-8")
"""


def test_the_commands_of_the_readme_run_from_the_wheel_in_an_empty_folder(tmp_path):
    assert {line.split()[1] for line in README_LINES} >= {"optimal-k", "simulate", "compare", "study", "rerun", "codec"}
    site, folder = tmp_path / "site", tmp_path / "empty"
    built_wheel.unpack(built_wheel.build("wheel", tmp_path), site)
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    calls = []
    for line in README_LINES:
        for shown, run in SMALLER:
            line = line.replace(shown, run)
        command, _, target = line.partition(" > ")
        calls.append((shlex.split(command)[1:], target))
    line = [sys.executable, "-S", "-c", IN_ORDER, str(site)]
    environment = built_wheel.environment(site)
    done = subprocess.run(line, cwd=folder, env=environment, input=json.dumps(calls), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (folder / "copy.csv").read_bytes() == (folder / "claims.csv").read_bytes()
