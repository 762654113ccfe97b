"""Unit: reading a result starts no thread, which Arrow could still have running when the process ends."""

import subprocess
import sys

import pandas as pd
import pyarrow as pa

from capsim import Batch, Dumbbell, Scenario, simulate
from capsmodel.experiments.results import write_part

ROWS = pd.DataFrame({"task_id": [str(row % 40) for row in range(4000)], "wait_s": [row / 7 for row in range(4000)]})
PROGRAM = """
import sys, psutil
from pathlib import Path
from capsim.results.files import read_manifest, read_table
from capsmodel.experiments.results import merge

threads = psutil.Process().num_threads
run, part = map(Path, sys.argv[1:])
before = threads()
read_manifest(run), read_table(run), merge([part])
print(threads() - before)
"""


def test_reading_results_starts_no_thread(tmp_path):
    scenario = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(flows=1, flow_bytes=1, pairs="sides"),))
    simulate(scenario, rng=1).save(tmp_path / "run")
    write_part(
        pa.Table.from_pandas(ROWS, preserve_index=False),
        tmp_path / "part.parquet",
        tasks=[{"id": str(task)} for task in range(40)],
    )
    command = [sys.executable, "-c", PROGRAM, tmp_path / "run" / "flows.parquet", tmp_path / "part.parquet"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"
