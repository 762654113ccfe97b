"""capsim beside htsim, case by case.

``PYTHONPATH=tests python -m other_simulators.compare_with_htsim`` prints the tables of docs/validation.md.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from other_simulators.htsim_cases import (
    CASES,
    FOLDER,
    LONE_GAP_S,
    MARK_LOW_PACKETS,
    WINDOW_PACKETS,
    scenario_of,
    scheme_of,
)
from scipy.stats import ttest_ind

from capsim import simulate
from capsim.protocols.queues.ecn import ECN
from capsim.protocols.transports.rack import RACK
from capsmodel.metrics import percentile

COLUMNS = (
    *("case", "mean: htsim (us)", "capsim (us)", "ratio", "its 95% interval"),
    *("99th: ratio", "last: ratio", "headers", "retransmitted"),
)
FIFO = replace(ECN, params=replace(ECN.params, threshold_packets=MARK_LOW_PACKETS))
# What one convention is worth: changes of the scheme, by the case in which they are tried.
CONVENTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "a loss is guessed by time too (RACK)": ("permutation", {"transport": RACK}),
    "no more than 63 packets above the lowest one missing": ("permutation", {"receive_packets": WINDOW_PACKETS}),
    "queue `ecn`, nothing trimmed: acknowledgements wait behind data, marks at arrival": (
        "permutation-reps",
        {"queue": FIFO},
    ),
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one simulator says about a case, over all its runs.

    Parameters
    ----------
    finished_us : ndarray, shape (runs, flows)
        When senders have the last acknowledgement, from the beginning of the run; of lone flows from their start.
    sent_again : int
        Packets sent again, over all runs.
    headers : int, optional
        Packets trimmed of which a header told, if it is counted.
    """

    finished_us: npt.NDArray[np.float64]
    sent_again: int
    headers: int | None

    @property
    def mean_us(self) -> float:
        """Return the mean over flows and runs."""
        return float(self.finished_us.mean())

    @property
    def p99_us(self) -> float:
        """Return the 99th percentile over flows and runs."""
        return float(percentile(self.finished_us.ravel(), q=0.99))

    @property
    def last_us(self) -> float:
        """Return when the last flow of a run ends, on average over runs."""
        return float(self.finished_us.max(axis=1).mean())


@cache
def values() -> dict[str, Any]:
    """Return what htsim said when the values were made."""
    found: dict[str, Any] = json.loads((FOLDER / "values.json").read_text(encoding="utf-8"))
    return found


def htsim_outcome(name: str) -> Outcome:
    """Return what htsim said about a case."""
    runs = values()["cases"][name]["runs"]
    return Outcome(
        finished_us=np.array([run["finished_us"] for run in runs], np.float64),
        headers=None if runs[0]["headers"] is None else sum(run["headers"] for run in runs),
        sent_again=sum(run["sent_again"] for run in runs),
    )


def capsim_outcome(name: str, *, seeds: int | None = None, **changes: Any) -> Outcome:
    """Run a case in the compiled engine, perhaps with fewer seeds or another convention."""
    case = CASES[name]
    chosen, finished, headers, again = scheme_of(case, **changes), [], 0, 0
    for seed in range(1, (seeds or case.seeds) + 1):
        result = simulate(scenario_of(case, seed), scheme=chosen)
        flows = result.flows.sort_values("input_row")
        starts = 0 if case.matrix else flows["input_row"] * LONE_GAP_S
        finished.append((flows["start_s"] + flows["acked_fct_s"] - starts).to_numpy() * 1e6)
        headers += int(result.ports["packets_trimmed"].sum())
        again += int(flows["retransmissions"].sum())
    return Outcome(finished_us=np.array(finished), headers=headers, sent_again=again)


def printed_digits(one: Outcome) -> list[str]:
    """Return the times as htsim prints them, with six digits."""
    return [f"{at:.6g}" for at in one.finished_us.ravel()]


def line(cells: tuple[str, ...] | list[str]) -> str:
    """Return a line of a table."""
    return "| " + " | ".join(cells) + " |"


def interval_of_ratio(htsim: Outcome, ours: Outcome) -> str:
    """Return the 95% interval of the ratio of means, by the scatter of runs in both; empty with one run."""
    if len(ours.finished_us) == 1:
        return ""
    of_runs = [np.log(one.finished_us.mean(axis=1)) for one in (ours, htsim)]
    return "{:.3f} to {:.3f}".format(*np.exp(ttest_ind(*of_runs, equal_var=False).confidence_interval()))


def compared(label: str, htsim: Outcome, ours: Outcome) -> str:
    """Return a line of the table."""
    ratios = [f"{getattr(ours, name) / getattr(htsim, name):.4f}" for name in ("mean_us", "p99_us", "last_us")]
    cells = [label, f"{htsim.mean_us:.2f}", f"{ours.mean_us:.2f}", ratios[0], interval_of_ratio(htsim, ours)]
    cells += ratios[1:]
    cells += [f"{'-' if htsim.headers is None else htsim.headers} / {ours.headers}"]
    cells += [f"{htsim.sent_again} / {ours.sent_again}"]
    return line(cells)


def main() -> None:
    """Print both tables."""
    print(line(COLUMNS))
    print("|" + "---|" * len(COLUMNS))
    for name in CASES:
        print(compared(name, htsim_outcome(name), capsim_outcome(name)))
    for label, (name, changes) in CONVENTIONS.items():
        print(compared(f"{name}: {label}", htsim_outcome(name), capsim_outcome(name, **changes)))


if __name__ == "__main__":
    main()
