"""Contract: every file, command and Python block of the pages for users runs, in the order of the page."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from distributed import LocalCluster

from capsmodel.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = [DOCS / "tutorial.md", DOCS / "papers_numbers.md", *sorted((DOCS / "howto").glob("*.md"))]
FENCE = re.compile(r"^```(python|\{shell\}|\{file\} (?P<name>\S+))\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


CLUSTER_LINE = re.compile(r"^\$ (capsmodel sweep .*--cluster )(tcp://\S+)(.*)$", re.MULTILINE)


def run_command(line):
    """Run one command of a page, in this process unless it is a script of the shell."""
    program, *arguments = shlex.split(line)
    if program == "python":
        runpy.run_path(str(Path(arguments[0]).resolve()), run_name="__main__")  # processes it starts read it again
        return
    if program == "env":
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run([program, *arguments], env=os.environ | {"PATH": programs}, check=True)
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


def test_the_line_for_a_cluster_runs_with_the_address_of_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "howto" / "cluster.md").read_text(encoding="utf-8")
    for block in FENCE.finditer(text):
        if block["name"]:
            Path(block["name"]).write_text(block["text"], encoding="utf-8")
    ((before, _, after),) = CLUSTER_LINE.findall(text)
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        run_command(f"{before}{cluster.scheduler_address}{after}")
    assert Path("on_cluster/table.csv").is_file()


README_LINES = re.findall(r"^\$ (capsmodel .*)$", (DOCS.parent / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
# Where the page shows minutes, the tests run the same line on few flows.
SMALLER = (("--flows 2000", "--flows 20"), ("compare websearch-load-60", "compare websearch-load-60 --flows 20"))
SMALLER += (("--seeds 5", "--seeds 1"),)
STUDY = """
scenario = "p64"
seeds = 1
[grid]
scheme = ["ecmp", "rps"]
"""


def test_the_commands_of_the_readme_run_in_its_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    assert {line.split()[1] for line in README_LINES} >= {"optimal-k", "simulate", "compare", "sweep", "rerun", "codec"}
    for line in README_LINES:
        for shown, run in SMALLER:
            line = line.replace(shown, run)
        command, _, target = line.partition(" > ")
        capsys.readouterr()
        run_command(command)
        if target:
            Path(target).write_text(capsys.readouterr().out, encoding="utf-8")
    assert Path("copy.csv").read_bytes() == Path("claims.csv").read_bytes()
