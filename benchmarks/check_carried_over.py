"""Does a setting change the fabric of a paper by the factor by which it changes the reduced one?

``python benchmarks/check_carried_over.py data/papers/carried_over.csv out/results``; 40 minutes of processor time, and
what is in the folder is not run again. The ledger carries over what a setting changes
(:mod:`capsim.study.claims.looks`): this runs some settings of three fabrics at both scales and writes the factors
beside each other, with the 95% interval of their ratio, for all that claims compare, that settings change, and that is
above 0 in all runs.
"""

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from capsim.study.claims.samples import compared_columns
from capsim.study.points import Scale
from capsmodel._files import atomic_writer
from capsmodel.checks import FloatArray
from capsmodel.experiments.executors import all_cores
from capsmodel.experiments.statistics.intervals import welch_difference
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.sweep import Progress, gather
from capsmodel.papers.studies import published_studies

SEEDS: dict[Scale, range] = {"reduced": range(1, 17), "paper": range(1, 5)}
COLUMNS = (
    *("study", "setting", "scheme", "metric"),
    *("reduced_factor", "paper_factor", "ratio", "ratio_low", "ratio_high"),
)
Logs = Mapping[str, FloatArray]
"""Of each metric, the logarithm of what each seed's run has measured."""


@dataclass(frozen=True)
class Check:
    """A study at one of its points: the schemes and the settings that are run at both scales."""

    study: str
    at: Mapping[str, Any]
    schemes: Sequence[str]
    settings: Sequence[str]

    def rows(self, folder: Path) -> Iterator[tuple[str, ...]]:
        """Yield a row for each setting, scheme and metric: the factors at both scales, and their ratio."""
        for scheme in self.schemes:
            text = {scale: self._logs(folder, scheme, TEXT, scale) for scale in SEEDS}
            for setting in self.settings:
                other = {scale: self._logs(folder, scheme, setting, scale) for scale in SEEDS}
                for metric in compared_columns(published_studies()[self.study]):
                    with np.errstate(invalid="ignore"):  # infinity where a metric is 0, which is left out
                        shifts = {scale: other[scale][metric] - text[scale][metric] for scale in SEEDS}
                    if all(np.isfinite(one).all() for one in shifts.values()) and any(map(np.any, shifts.values())):
                        yield self.study, setting, scheme, metric, *_factors(**shifts)

    def _logs(self, folder: Path, scheme: str, setting: str, scale: Scale) -> Logs:
        study = published_studies()[self.study]
        points = study.selected({**self.at, "scheme": scheme})
        runs = study.tasks(points, SEEDS[scale], setting=setting, scale=scale)
        progress = Progress(label=f"{self.study}, {scheme}, {setting}, {scale}")
        rows = gather([*runs.values()], folder, executor=all_cores(), progress=progress)
        with np.errstate(divide="ignore"):
            return {metric: np.log(rows[metric].to_numpy(float)) for metric in compared_columns(study)}


CHECKS = (
    Check(
        "mmptcp-t1-100",
        {},
        ("MPTCP", "MMPTCP"),
        (
            "transport.initial_rto_s = 1.5",
            "run_s = 5",
            "run_s = 5, transport.initial_rto_s = 1.5, transport.header_bytes = 40, coupling = linked",
        ),
    ),
    Check(
        "dc2mtcp-random-fct",
        {"factor": 4, "subflows": 4},
        ("IETF-MPTCP", "DC2-MTCP"),
        (
            "fabric.buffer_packets = 50",
            "size_scale = 10",
            "transport.initial_window_packets = 10, fabric.buffer_packets = 50, receive_buffer_packets = 64",
        ),
    ),
    Check(
        "repflow-ns3-ws",
        {"workload": "websearch", "load": 0.2},
        ("TCP", "RepFlow"),
        ("transport.min_rto_s = 0.01", "transport.handshake = true"),
    ),
)
"""Settings that change completion times, queues or traffic most, in fabrics that have a reduced one."""


def _factors(reduced: FloatArray, paper: FloatArray) -> Iterator[str]:
    """Yield the factors by which a setting changes both scales, and the interval of their ratio."""
    found = welch_difference(paper, reduced)
    for logarithm in (reduced.mean(), paper.mean(), found.value, found.low, found.high):
        yield f"{np.exp(logarithm):.4g}"


def main(target: Path, folder: Path) -> None:
    """Write the table."""
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    rows = [row for check in CHECKS for row in check.rows(folder)]
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
    with atomic_writer(target) as file:
        file.write(text.getvalue().encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
