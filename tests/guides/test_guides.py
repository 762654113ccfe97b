"""Contract: the commands of README.md run, and the line for a cluster, whose address no page can know.

Whatever else a page for users shows is run where the site is built (``docs/_ext/shell.py``).
"""

import re
import shlex
from pathlib import Path

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


def test_the_commands_of_the_readme_run_in_its_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    assert {line.split()[1] for line in README_LINES} >= {"optimal-k", "simulate", "compare", "study", "rerun", "codec"}
    for line in README_LINES:
        for shown, run in SMALLER:
            line = line.replace(shown, run)
        command, _, target = line.partition(" > ")
        capsys.readouterr()
        run_command(command)
        if target:
            Path(target).write_text(capsys.readouterr().out, encoding="utf-8")
    assert Path("copy.csv").read_bytes() == Path("claims.csv").read_bytes()
