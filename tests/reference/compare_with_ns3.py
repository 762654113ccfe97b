"""capsim beside ns-3, scenario by scenario; ``PYTHONPATH=tests python -m reference.compare_with_ns3`` prints the table."""

import json
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from reference.reference_scenarios import names, scenario_of, scheme_of, values_file

from capsim.clock import PS_PER_S
from capsim.simulate import simulate
from capsmodel.metrics import percentile


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one simulator says about a scenario.

    Parameters
    ----------
    fct_ps : ndarray of int64, shape (flows,)
        Completion times at the receiver, in picoseconds.
    packets_dropped, packets_marked, retransmissions : int
        Totals of the run.
    """

    fct_ps: npt.NDArray[np.int64]
    packets_dropped: int
    packets_marked: int
    retransmissions: int

    @property
    def mean_fct_s(self) -> float:
        """Return the mean completion time in seconds."""
        return float(self.fct_ps.mean()) / PS_PER_S

    @property
    def p99_fct_s(self) -> float:
        """Return the 99th percentile of completion times in seconds."""
        return float(percentile(self.fct_ps, q=0.99)) / PS_PER_S


def ns3_outcome(name: str) -> Outcome:
    """Return what ns-3 said when the values were made."""
    values: dict[str, Any] = json.loads(values_file(name).read_text(encoding="utf-8"))
    return Outcome(
        fct_ps=np.array(values["fct_ps"], np.int64),
        packets_dropped=values["packets_dropped"],
        packets_marked=values["packets_marked"],
        retransmissions=sum(values["retransmissions"]),
    )


def capsim_outcome(name: str) -> Outcome:
    """Run a scenario in the compiled engine."""
    scenario = scenario_of(name)
    result = simulate(scenario, scheme=scheme_of(scenario))
    return Outcome(
        fct_ps=np.rint(result.flows["fct_s"].to_numpy() * PS_PER_S).astype(np.int64),
        packets_dropped=int(result.ports["packets_dropped"].sum()),
        packets_marked=int(result.ports["packets_marked"].sum()),
        retransmissions=int(result.flows["retransmissions"].sum()),
    )


def row(name: str) -> str:
    """Return a line of the table."""
    ns3, ours = ns3_outcome(name), capsim_outcome(name)
    same = int(np.sum(np.abs(ns3.fct_ps - ours.fct_ps) <= 1))
    cells = [name, f"{same} of {len(ns3.fct_ps)}"]
    for quantity in ("mean_fct_s", "p99_fct_s"):
        theirs, mine = getattr(ns3, quantity), getattr(ours, quantity)
        cells += [f"{1e3 * theirs:.4g}", f"{1e3 * mine:.4g}", f"{mine / theirs:.4f}"]
    for quantity in ("packets_dropped", "retransmissions", "packets_marked"):
        cells.append(f"{getattr(ns3, quantity)} / {getattr(ours, quantity)}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table of the scenarios named on the command line, of all without a name."""
    print("| scenario | equal flows | mean FCT (ms): ns-3 | capsim | ratio | 99th (ms): ns-3 | capsim | ratio |", end="")
    print(" dropped | sent again | marked |")
    print("|" + "---|" * 11)
    for name in sys.argv[1:] or names():
        print(row(name))


if __name__ == "__main__":
    main()
