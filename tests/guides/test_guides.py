"""Contract: README, the tutorial and the page on codecs run where only the wheel is; the line for a cluster works.

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

pytestmark = pytest.mark.agreement

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
    text = (DOCS / "howto" / "study.md").read_text(encoding="utf-8")
    for block in FILE.finditer(text):
        Path(block["name"]).write_text(block["text"], encoding="utf-8")
    ((before, _, after),) = CLUSTER_LINE.findall(text)
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        run_command(f"{before}{cluster.scheduler_address}{after}")
    assert Path("on_cluster/table.csv").is_file()


ROOT = DOCS.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
README_LINES = re.findall(r"^\$ (capsmodel .*)$", README, re.MULTILINE)
README_LINES += re.findall(r"\| `(capsmodel [^`]*)` \|", README)  # the table of questions
# Where the page shows seconds to a minute, the tests run the same line with one seed, or the small version of a study.
SMALLER = (("--seeds 5", "--seeds 1"), (" --quick", ""), ("capsmodel study ", "capsmodel study --quick "))
BLOCK = re.compile(r"^```\{(?P<kind>file|shell|python)\} ?(?P<name>\S*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


# Does what pages show in a process that finds the wheel only: writes files, runs command lines and Python.
IN_ORDER = """
import contextlib, io, json, sys
from pathlib import Path
import capsim, capsmodel
from capsmodel.cli import main
assert all(Path(each.__file__).is_relative_to(sys.argv[1]) for each in (capsim, capsmodel))
names = {}
def run(arguments, target):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            main(arguments)
        except SystemExit as stop:
            assert not stop.code, arguments
    if target:
        Path(target).write_text(printed.getvalue(), encoding="utf-8")
def write(text, target):
    Path(target).write_text(text, encoding="utf-8")
def python(text, target):
    exec(text, names)
for kind, what, target in json.load(sys.stdin):
    {"file": write, "shell": run, "python": python}[kind](what, target)
"""


def command(line):
    words, _, target = line.partition(" > ")
    return "shell", shlex.split(words)[1:], target


def steps_of_readme():
    for line in README_LINES:
        for shown, run in SMALLER:
            line = line.replace(shown, run)
        yield command(line)


def steps_of(page):
    for block in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
        if block["kind"] == "shell":
            yield from map(command, block["text"].splitlines())
        else:
            yield block["kind"], block["text"], block["name"]


@pytest.fixture(scope="module")
def from_the_wheel(tmp_path_factory):
    """Return a function that does steps in a folder, where only the wheel is."""
    folder = tmp_path_factory.mktemp("wheel")
    site = folder / "site"
    built_wheel.unpack(built_wheel.build("wheel", folder), site)

    def do(steps, place):
        line = [sys.executable, "-S", "-c", IN_ORDER, str(site)]
        settings = {"cwd": place, "env": built_wheel.environment(site), "capture_output": True, "text": True}
        done = subprocess.run(line, input=json.dumps([*steps]), **settings)
        assert done.returncode == 0, done.stderr

    return do


def test_the_commands_of_the_readme_run_from_the_wheel_in_an_empty_folder(from_the_wheel, tmp_path):
    assert {line.split()[1] for line in README_LINES} >= {"optimal-k", "simulate", "compare", "study", "rerun", "codec"}
    assert sum(line.startswith("capsmodel study") for line in README_LINES) > 4
    from_the_wheel(steps_of_readme(), tmp_path)
    assert (tmp_path / "copy.csv").read_bytes() == (tmp_path / "claims.csv").read_bytes()


def test_a_file_goes_over_udp_though_packets_are_lost(from_the_wheel, tmp_path):
    """From the wheel no kernel is compiled yet: a receiver that compiles while packets arrive loses most of them."""
    steps = [*steps_of("docs/howto/codec.md")]
    assert [name for kind, _, name in steps if kind == "file"] == ["send.py", "receive.py"]
    from_the_wheel(steps, tmp_path)
    assert (tmp_path / "sent.bin").stat().st_size >= 1_000_000
    assert (tmp_path / "received.bin").read_bytes() == (tmp_path / "sent.bin").read_bytes()


def test_the_receiver_over_udp_says_what_is_missing(tmp_path):
    for kind, text, name in steps_of("docs/howto/codec.md"):
        if kind == "file":
            (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "sent.bin").write_bytes(bytes(100_000))  # three units
    pipes = {"cwd": tmp_path, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "receive.py", "received.bin"], **pipes) as receiver:
        port = receiver.stdout.readline().strip()
        subprocess.run([sys.executable, "send.py", "sent.bin", "127.0.0.1", port, "0.8"], cwd=tmp_path, check=True)
        _, printed = receiver.communicate()
    assert receiver.returncode == 1
    assert re.fullmatch(
        r"received.bin.part ends after 0 bytes: the stream is incomplete: "
        r"(unit \d: \d+ packets arrived, at least \d+ more needed for k = \d+(; )?){3}\n",
        printed,
    )
    assert not (tmp_path / "received.bin").exists()


def test_the_tutorial_runs_from_the_wheel(from_the_wheel, tmp_path):
    """What a stranger does: own sizes at 100 Gbps, a figure, a table in LaTeX, a study with a claim."""
    steps = [*steps_of("docs/tutorial.md")]
    assert {kind for kind, *_ in steps} == {"file", "shell", "python"}
    from_the_wheel(steps, tmp_path)
    assert (tmp_path / "mine.pdf").read_bytes().startswith(b"%PDF")
    assert "DCTCP" in (tmp_path / "mine" / "table.csv").read_text(encoding="utf-8")
    assert "mine" in (tmp_path / "mine" / "verdicts.csv").read_text(encoding="utf-8")
