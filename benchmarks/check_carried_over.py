"""Does a setting change the fabric of a paper by the factor by which it changes the reduced one?

``python benchmarks/check_carried_over.py data/papers/carried_over.csv out/results``; ten minutes of processor time, and
what is in the folder is not run again. The ledger carries over what a setting changes (`capsmodel/papers/evidence.py`):
this runs some settings at both scales and writes the factors beside each other, with the 95% interval of their ratio.

MMPTCP's fabric of 512 hosts at 100 Mbps, whose reduced one has 64: the setting that changes completion times most, the
one that changes the number of flows, and both with two more.
"""

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from capsmodel._files import atomic_writer
from capsmodel.experiments.executors import all_cores
from capsmodel.experiments.statistics.intervals import welch_difference
from capsmodel.experiments.sweep import Progress, gather
from capsmodel.papers.experiments import Scale, published_experiment
from capsmodel.papers.settings import TEXT

EXPERIMENT = published_experiment("mmptcp-t1-100")
SETTINGS = (
    "transport.initial_rto_s = 1.5",
    "run_s = 5",
    "run_s = 5, transport.initial_rto_s = 1.5, transport.header_bytes = 40, coupling = linked",
)
SEEDS: dict[Scale, range] = {"reduced": range(1, 17), "paper": range(1, 5)}
METRICS = ("mean_fct_short_s", "p99_fct_short_s", "fct_short_std_s", "mean_throughput_long_bps", "core_utilisation")
SCHEMES = ("mptcp", "mmptcp")
COLUMNS = ("setting", "scheme", "metric", "reduced_factor", "paper_factor", "ratio", "ratio_low", "ratio_high")


def measured(folder: Path) -> dict[tuple[str, Scale, str], Sequence[dict[str, float]]]:
    """Return the rows of all seeds by setting, scale and scheme."""
    (place,) = EXPERIMENT.sampled
    tasks = {
        (setting, scale, scheme, seed): runs[(scheme, place), seed]
        for setting in (TEXT, *SETTINGS)
        for scale, seeds in SEEDS.items()
        for scheme in SCHEMES
        for runs in [EXPERIMENT.tasks([(scheme, place)], seeds, setting=setting, scale=scale)]
        for seed in seeds
    }
    progress = Progress(label=EXPERIMENT.name, log=True)
    rows = gather(list(tasks.values()), folder, executor=all_cores(), progress=progress).to_dict("records")
    found: dict[tuple[str, Scale, str], list[dict[str, float]]] = {}
    for (*kind, _), row in zip(tasks, rows, strict=True):
        found.setdefault(tuple(kind), []).append(row)
    return found


def compared(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield a row for each setting, scheme and metric: the factors at both scales, and their ratio."""
    rows = measured(folder)
    for setting in SETTINGS:
        for scheme in SCHEMES:
            for metric in METRICS:
                logs = {}
                for scale in SEEDS:
                    after, before = ([row[metric] for row in rows[one, scale, scheme]] for one in (setting, TEXT))
                    logs[scale] = np.log(after) - np.log(before)
                found = welch_difference(logs["paper"], logs["reduced"])
                numbers = [logs["reduced"].mean(), logs["paper"].mean(), found.value, found.low, found.high]
                yield setting, scheme, metric, *(f"{np.exp(number):.4g}" for number in numbers)


def main(target: Path, folder: Path) -> None:
    """Write the table."""
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *compared(folder)])
    with atomic_writer(target) as file:
        file.write(text.getvalue().encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
