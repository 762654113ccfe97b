"""capsim beside htsim, case by case.

``PYTHONPATH=tests python -m other_simulators.compare_with_htsim`` writes three tables of docs/validation.md.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from other_simulators.htsim_cases import (
    ALL_TO_ALL_US,
    CASES,
    FOLDER,
    LONE_GAP_S,
    MARK_LOW_PACKETS,
    ONE_HOST_US,
    SEVERAL,
    WINDOW_PACKETS,
    all_to_all,
    one_host,
    scenario_of,
    scenario_of_flows,
    scheme_of,
)
from page_tables import write_table
from scipy.stats import ttest_ind

from capsim import simulate
from capsim.protocols.queues.ecn import ECN
from capsim.protocols.transports.rack import RACK
from capsmodel.metrics import percentile

COLUMNS = (
    *("case", "mean, htsim (us)", "mean, capsim (us)", "ratio of means", "its 95% interval"),
    *("ratio of 99th", "ratio of last", "headers", "retransmitted"),
)
FIFO = replace(ECN, params=replace(ECN.params, threshold_packets=MARK_LOW_PACKETS))
# What one convention is worth: changes of the scheme, by the case in which they are tried.
CONVENTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "a loss is guessed by time too (RACK)": ("permutation", {"transport": RACK}),
    "no more than 63 packets above the lowest one missing": ("permutation", {"receive_packets": WINDOW_PACKETS}),
    "queue ecn, nothing trimmed: acknowledgements wait behind data, marks at arrival": (
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


def mean_of_several_us(flows: list[tuple[int, int, int, float]]) -> float:
    """Return the mean time of flows at their senders, several of a host at once; nothing may be retransmitted."""
    found = simulate(scenario_of_flows(flows), scheme=scheme_of(SEVERAL)).flows
    if found["retransmissions"].any():
        raise ValueError("a packet was retransmitted")
    return float(1e6 * found["acked_fct_s"].mean())


def interval_of_ratio(htsim: Outcome, ours: Outcome) -> str:
    """Return the 95% interval of the ratio of means, by the scatter of runs in both; empty with one run."""
    if len(ours.finished_us) == 1:
        return ""
    of_runs = [np.log(one.finished_us.mean(axis=1)) for one in (ours, htsim)]
    return "{:.3f} to {:.3f}".format(*np.exp(ttest_ind(*of_runs, equal_var=False).confidence_interval()))


def compared(label: str, htsim: Outcome, ours: Outcome) -> list[str]:
    """Return a row of the table."""
    ratios = [f"{getattr(ours, name) / getattr(htsim, name):.4f}" for name in ("mean_us", "p99_us", "last_us")]
    cells = [label, f"{htsim.mean_us:.2f}", f"{ours.mean_us:.2f}", ratios[0], interval_of_ratio(htsim, ours)]
    cells += ratios[1:]
    cells += [f"{'-' if htsim.headers is None else htsim.headers} / {ours.headers}"]
    cells += [f"{htsim.sent_again} / {ours.sent_again}"]
    return cells


def several_row(label: str, htsim_us: float, flows: list[tuple[int, int, int, float]]) -> list[str]:
    """Return a row of the table of several flows of a host."""
    ours_us = mean_of_several_us(flows)
    return [label, f"{htsim_us:.2f}", f"{ours_us:.2f}", f"{ours_us / htsim_us:.4f}"]


def main() -> None:
    """Write the tables."""
    write_table("htsim", [COLUMNS, *(compared(name, htsim_outcome(name), capsim_outcome(name)) for name in CASES)])
    tried = [
        compared(f"{name}: {label}", htsim_outcome(name), capsim_outcome(name, **changes))
        for label, (name, changes) in CONVENTIONS.items()
    ]
    write_table("htsim_conventions", [COLUMNS, *tried])
    several = [
        several_row(f"{count} of host 0, of 1000 packets", mean_us, one_host(count))
        for count, mean_us in ONE_HOST_US.items()
    ]
    several.append(several_row("all-to-all of 16 hosts, of 100 packets", ALL_TO_ALL_US, all_to_all()))
    write_table("htsim_several", [("flows at once", *COLUMNS[1:4]), *several])


if __name__ == "__main__":
    main()
