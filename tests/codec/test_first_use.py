"""First use compiles and says so; the next process finds everything on disk and says nothing."""

import os
import subprocess
import sys

COMMANDS = """
import logging, sys
from capsmodel.cli import main

logging.basicConfig(level=logging.INFO, format="%(message)s")
for line in (
    "encode data --code ldpc --n1 5 --k 8 --r 8 --packet-size 100B --out a --force",
    "simulate-loss a --blocking-prob 0.2 --out b --force",
    "inspect b",
    "encode data --code rlnc --k 8 --r 8 --packet-size 100B --out c --force",
    "simulate-loss c --blocking-prob 0.2 --out d --force",
    "decode d --out e --force",
):
    try:
        main(["codec", *line.split()])
    except SystemExit as stop:
        assert not stop.code, line
"""


def test_next_process_compiles_nothing(tmp_path):
    (tmp_path / "data").write_bytes(bytes(range(256)) * 10)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run = [
        subprocess.run(
            [sys.executable, "-c", COMMANDS], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stderr
        for _ in range(2)
    ]
    assert "compiling for this processor, once" in run[0]
    assert "compil" not in run[1]
    assert (tmp_path / "e").read_bytes() == (tmp_path / "data").read_bytes()
