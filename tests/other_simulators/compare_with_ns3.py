"""capsim beside ns-3, scenario by scenario.

``PYTHONPATH=tests python -m other_simulators.compare_with_ns3`` writes two tables of docs/validation.md.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from other_simulators.reference_scenarios import in_run, names, runs, scenario_of, scheme_of, values_file
from page_tables import write_table

from capsim import Scenario, Scheme, simulate
from capsim.base.clock import PS_PER_S
from capsmodel.metrics import percentile

TIMES = (
    *("scenario", "equal flows", "mean, ns-3 (ms)", "mean, capsim (ms)", "ratio of means"),
    *("99th, ns-3 (ms)", "99th, capsim (ms)", "ratio of 99th"),
)
PACKETS = ("scenario", "dropped", "retransmitted", "marked", "waiting")
# Run and shown, but held to no tolerance: docs/validation.md says what is known of the causes.
NOT_COMPARED = {
    "web-search": "without SACK, ns-3 enters recovery again and again without a loss",
    "ties-incast-32": "without SACK, ns-3 sends the segment behind a recovery again; capsim waits for the timer",
    "dctcp-eight-prr": "ns-3 opens DCTCP's window by whole segments and has 6% more marks",
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one simulator says about a scenario, over all its runs.

    Parameters
    ----------
    fct_ps : ndarray of int64, shape (runs, flows)
        Completion times at the receiver, in picoseconds.
    packets_dropped, packets_marked, retransmissions : int
        Totals over ports, flows and runs.
    waiting_packet_s : float
        Packets that wait at a port, summed over ports and runs, integrated over time.
    """

    fct_ps: npt.NDArray[np.int64]
    packets_dropped: int
    packets_marked: int
    retransmissions: int
    waiting_packet_s: float

    @property
    def mean_fct_s(self) -> float:
        """Return the mean completion time in seconds."""
        return float(self.fct_ps.mean()) / PS_PER_S

    @property
    def p99_fct_s(self) -> float:
        """Return the 99th percentile of completion times in seconds."""
        return float(percentile(self.fct_ps.ravel(), q=0.99)) / PS_PER_S


def outcome(found: list[dict[str, Any]]) -> Outcome:
    """Return the sum of the runs."""
    counts = {name: sum(one[name] for one in found) for name in found[0] if name != "fct_ps"}
    return Outcome(fct_ps=np.array([one["fct_ps"] for one in found], np.int64), **counts)


def ns3_outcome(name: str) -> Outcome:
    """Return what ns-3 said when the values were made."""
    return outcome(json.loads(values_file(name).read_text(encoding="utf-8"))["runs"])


def capsim_outcome(name: str, **transport: Any) -> Outcome:
    """Run a scenario in the compiled engine, with some parameters of the transport changed."""
    scenario = scenario_of(name)
    changed = {"transport": scenario.params.get("transport", {}) | transport}
    scenario = scenario.replace(params=scenario.params | changed)
    return outcome_of(scenario, scheme_of(scenario))


def outcome_of(scenario: Scenario, chosen: Scheme) -> Outcome:
    """Run a scenario with a scheme that has its parameters."""
    scenario = scenario.replace(params={})
    return outcome([_run(in_run(scenario, number), chosen) for number in range(runs(scenario))])


def _run(scenario: Scenario, chosen: Scheme) -> dict[str, Any]:
    result = simulate(scenario, scheme=chosen)
    flows, ports = result.flows, result.ports
    waiting = (ports["mean_queue_packets"] - ports["utilisation"]).sum() * result.resources.simulated_s
    return {
        "fct_ps": np.rint(flows["fct_s"].to_numpy() * PS_PER_S).astype(np.int64),
        "packets_dropped": int(ports["packets_dropped"].sum()),
        "packets_marked": int(ports["packets_marked"].sum()),
        "retransmissions": int(flows["retransmissions"].sum()),
        "waiting_packet_s": float(waiting),
    }


def equal_flows(one: Outcome, other: Outcome) -> int:
    """Return how many flows take the same time, to a picosecond."""
    return int(np.sum(np.abs(one.fct_ps - other.fct_ps) <= 1))


def times_row(name: str, ns3: Outcome, ours: Outcome) -> list[str]:
    """Return a row of the table of completion times."""
    cells = [name, f"{equal_flows(ns3, ours)} of {ns3.fct_ps.size}"]
    for quantity in ("mean_fct_s", "p99_fct_s"):
        theirs, mine = getattr(ns3, quantity), getattr(ours, quantity)
        cells += [f"{1e3 * theirs:.4g}", f"{1e3 * mine:.4g}", f"{mine / theirs:.4f}"]
    return cells


def packets_row(name: str, ns3: Outcome, ours: Outcome) -> list[str]:
    """Return a row of the table of packets."""
    counted = ("packets_dropped", "retransmissions", "packets_marked")
    cells = [f"{getattr(ns3, quantity)} / {getattr(ours, quantity)}" for quantity in counted]
    return [name, *cells, f"{ours.waiting_packet_s / ns3.waiting_packet_s:.4f}"]


def main() -> None:
    """Write the tables."""
    compared = [(name, ns3_outcome(name), capsim_outcome(name)) for name in names()]
    write_table("ns3_times", [TIMES, *(times_row(*one) for one in compared)])
    dropped_or_marked = [one for one in compared if one[1].packets_dropped or one[1].packets_marked]
    write_table("ns3_packets", [PACKETS, *(packets_row(*one) for one in dropped_or_marked)])


if __name__ == "__main__":
    main()
