r"""CAPS, its variants and the schemes compared with it, in the settings of its appendices; one row for each run.

=================================== ============================= ===== =================================
Quantity                            Column                        Unit  Equation
=================================== ============================= ===== =================================
completion time of short flows      `mean_fct`                    s     caps Fig. 26(e), 28(c)
short flows with a timeout          `timed_out`                   1
timeouts of short flows             `timeouts`, `winner_timeouts` 1     caps Fig. 26(c)
throughput of long flows, a mean    `throughput`                  bit/s caps Fig. 29(b)
repair over source packets          `repair`                      1     caps Sec. VI-B, r/k
short flows' lost over sent packets `lost`                        1     caps Fig. 28(a)
same, packets that were overtaken   `reordered`                   1     caps Fig. 28(b)
=================================== ============================= ===== =================================

- :func:`incast` is the preset ``caps-incast``, Appendix A;
- :func:`beside_long_flows` is the preset ``caps-fig1`` as Appendix B has it: 12 paths, 3 long flows.

For one seed all schemes send the same flows. When one copy of a RepFlow flow has finished, the other one continues, and
its timeouts count among `timeouts`, not among `winner_timeouts`. Lost packets are data packets and acknowledgements
together.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from pandas import DataFrame

from capsim import Result, Scenario, load_scenario, simulate
from capsim.study.metrics import FCT_PERCENTILES
from capsmodel.checks import require
from capsmodel.experiments.measurement import measurement
from capsmodel.metrics import percentile
from capsmodel.units import BITS_PER_BYTE

__all__ = [
    "FORMS",
    "LONG_FLOWS",
    "MAX_BYTES",
    "MIN_BYTES",
    "PATHS",
    "SHARED_BUFFER",
    "WITHOUT_REPAIR",
    "appendix_b",
    "beside_long_flows",
    "incast",
]

WITHOUT_REPAIR = "caps, r = 0"
"""CAPS in units without a repair packet."""
SHARED_BUFFER = {"ecmp_pq": "ecmp_pq, tail drop", "rps_pq": "rps_pq, tail drop"}
"""Strict priority with one buffer shared by both classes."""
_PLAIN = ("ecmp", "rps", "repflow", "ecmp_pq", "rps_pq", "caps", "caps_dark", "caps_decode", "caps_ns2")
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in _PLAIN},
    WITHOUT_REPAIR: ("caps", {"layer": {"max_overhead": 0.0}}),
    **{form: (name, {"queue": {"push_out": False}}) for name, form in SHARED_BUFFER.items()},
}
"""Scheme of the simulator and parameters that differ from its own, by name of the form."""
PATHS, LONG_FLOWS = 12, 3
"""Paths and long flows of Appendix B."""
MIN_BYTES, MAX_BYTES = 15_000, 100_000
"""Sizes of short flows in the appendices."""


@measurement("caps-incast", revision=1)
def incast(
    form: str, *, senders: int, buffer_packets: int, runs: int, seed: int, engine: str = "compiled"
) -> DataFrame:
    """Simulate flows of 15 to 100 KB, each from its own host, to one receiver, all at the same time.

    Parameters
    ----------
    form : str
        One of `FORMS`.
    senders, buffer_packets : int
        Flows, and packets that each port of a switch holds.
    runs, seed : int
        Runs, and the seed of the first; the next ones have the next seeds.
    engine : str
        ``"compiled"`` or ``"reference"``.

    Returns
    -------
    DataFrame
        A row for each `seed`: columns of the table above except `throughput_bps`, and `goodput_bps`,
        payload of all flows over the time until the last is complete.
    """
    base = load_scenario("caps-incast")
    (traffic,) = base.traffic
    scenario = base.replace(
        fabric=msgspec.structs.replace(base.fabric, buffer_packets=buffer_packets),
        traffic=(msgspec.structs.replace(traffic, senders_per_round=senders),),
    )

    def goodput(result: Result) -> dict[str, float]:
        payload_bits = BITS_PER_BYTE * result.flows["flow_bytes"].sum()
        return {"goodput_bps": float(payload_bits / result.flows["fct_s"].max())}

    return _over_seeds(lambda one: _run(scenario, form, one, engine), goodput, range(seed, seed + runs))


@measurement("caps-beside-long-flows", revision=1)
def beside_long_flows(form: str, *, short_flows: int, runs: int, seed: int, engine: str = "compiled") -> DataFrame:
    """Simulate flows of 15 to 100 KB beside 3 long ones, over 12 paths, each to a receiver of its own.

    Parameters
    ----------
    form : str
        One of `FORMS`.
    short_flows : int
        How many; they start within 0.1 ms.
    runs, seed : int
        Runs, and the seed of the first; the next ones have the next seeds.
    engine : str
        ``"compiled"`` or ``"reference"``.

    Returns
    -------
    DataFrame
        A row for each `seed`: columns of the table above, and the quantiles
        `fct_p05_s`, `fct_p10_s`, ..., `fct_p95_s` of the completion time of short flows.
    """
    scenario = appendix_b(short_flows)

    def quantiles(result: Result) -> dict[str, float]:
        fct_s = result.flows.loc[result.flows["short"], "fct_s"]
        times_s = {name: float(percentile(fct_s, q=percent / 100)) for name, percent in FCT_PERCENTILES.items()}
        return {"throughput_bps": result.summary.mean_throughput_long_bps} | times_s

    return _over_seeds(lambda one: _run(scenario, form, one, engine), quantiles, range(seed, seed + runs))


def appendix_b(short_flows: int) -> Scenario:
    """Return the preset ``caps-fig1`` with so many short flows beside three long ones over 12 paths."""
    base = load_scenario("caps-fig1")
    short, long = base.traffic
    sizes = {"min_bytes": MIN_BYTES, "max_bytes": MAX_BYTES}
    return base.replace(
        fabric=msgspec.structs.replace(base.fabric, paths=PATHS, hosts_per_side=short_flows + LONG_FLOWS),
        traffic=(
            msgspec.structs.replace(short, hosts=short_flows, flows=short_flows, **sizes),
            msgspec.structs.replace(long, skip_hosts=short_flows, flows=LONG_FLOWS),
        ),
        short_bytes=MAX_BYTES,
    )


def _over_seeds(run: Callable[[int], Result], extra: Callable[[Result], dict[str, float]], seeds: range) -> DataFrame:
    """Return a row for each seed: the columns of short flows, and those that `extra` adds."""
    rows = []
    for seed in seeds:
        result = run(seed)
        rows.append({"seed": seed} | _of_short_flows(result) | extra(result))
    return DataFrame(rows)


def _run(scenario: Scenario, form: str, seed: int, engine: str) -> Result:
    scheme, params = FORMS[form]
    result = simulate(scenario.replace(scheme=scheme, params=params, seed=seed), engine=engine, progress=None)
    require(result.summary.unfinished_flows == 0, f"{form}: flows are unfinished, so completion times are too good")
    return result


def _of_short_flows(result: Result) -> dict[str, float]:
    short = result.flows[result.flows["short"]]
    total = short.sum(numeric_only=True)
    return {
        "mean_fct_s": float(short["fct_s"].mean()),
        "timed_out_ratio": float((short["winner_timeouts"] > 0).mean()),
        "timeouts": float(total["timeouts"]),
        "winner_timeouts": float(total["winner_timeouts"]),
        "repair_ratio": _or_zero(result.summary.coding_overhead),
        "lost_ratio": float(total["packets_dropped"] / total["packets_sent"]),
        "reordered_ratio": float(total["reordered_packets"] / total["packets_sent"]),
    }


def _or_zero(ratio: float) -> float:
    """Return the ratio, 0 in place of NaN: uncoded flows send no repair packet."""
    return 0.0 if np.isnan(ratio) else ratio
