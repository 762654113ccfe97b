"""First use compiles and says so; the next process finds everything on disk and says nothing."""

import os
import subprocess
import sys

import pytest

from capsmodel.cli import main

pytestmark = pytest.mark.agreement

LINES = (
    "encode data --code ldpc --n1 5 --k 8 --r 8 --packet-size 100B --out a --force",
    "simulate-loss a --blocking-prob 0.2 --out b --force",
    "inspect b",
    "encode data --code rlnc --k 8 --r 8 --packet-size 100B --out c --force",
    "simulate-loss c --blocking-prob 0.2 --out d --force",
    "decode d --out e --force",
)
COMMANDS = """
import logging, sys
from capsmodel.cli import main

logging.basicConfig(level=logging.INFO, format="%(message)s")
for line in sys.argv[1:]:
    try:
        main(["codec", *line.split()])
    except SystemExit as stop:
        assert not stop.code, line
"""


def told_by_a_process(folder, *lines, **environment):
    """Return what a process that runs these lines writes to standard error."""
    command = [sys.executable, "-c", COMMANDS, *lines]
    environment = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stderr


@pytest.fixture(autouse=True)
def data(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(bytes(range(256)) * 10)
    return path


def test_first_use_says_once_that_it_compiles(tmp_path):
    told = told_by_a_process(tmp_path, "encode data --out a", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert told.count("compiling for this processor, once") == 1


def test_next_process_compiles_nothing(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in LINES:  # in this process, which compiles what no other test has needed
        with pytest.raises(SystemExit) as stop:
            main(["codec", *line.split()])
        assert not stop.value.code
    assert "compil" not in told_by_a_process(tmp_path, *LINES)
    assert (tmp_path / "e").read_bytes() == data.read_bytes()
