"""Identity: every figure of a summary and of a comparison, from tables made by hand and numbers worked out by hand."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.engine_setups import flow_list, setup_of
from support.scripted import PAIR

from capsim import (
    ACCEPT,
    REFUSE,
    Batch,
    Dumbbell,
    Queue,
    Result,
    Scenario,
    Summary,
    records,
    scheme,
    simulate,
)
from capsim.engines.initial_state import initial_state
from capsim.engines.state import RawRecords
from capsim.records import DATA
from capsim.results import tables
from capsim.results.summary import summarise
from capsim.study.metrics import METRICS
from capsim.study.scheme_runs import SHOWN_METRICS, metric_table

COUNTERS = ("retransmissions", "fast_retransmits", "timeouts", "winner_timeouts", "reordered_packets")
COUNTERS += ("coded_packets", "repair_packets", "units", "units_stalled", "packets_dropped")
NONE_OF_IT = dict.fromkeys(COUNTERS, 0)


def flow(start_s: float, *, short: bool, fct_s: float = math.nan, **columns: Any) -> dict[str, Any]:
    """Return a row of the flows table, with ten packets sent of 1500 bytes; it is finished if it has a time."""
    sent = {"flow_bytes": 10_000, "delivered_bytes": 10_000, "packets_sent": 10, "bytes_sent": 15_000}
    done = {"start_s": start_s, "short": short, "fct_s": fct_s, "finished": not math.isnan(fct_s), "slowdown": math.nan}
    done["counted"] = True
    delivered = columns.get("delivered_bytes", sent["delivered_bytes"])
    return NONE_OF_IT | sent | done | {"measured_bytes": delivered} | columns


EARLY = flow(
    0.999, short=True, counted=False, fct_s=7.0, slowdown=900.0, packets_sent=999, bytes_sent=10**9,
    **dict.fromkeys(COUNTERS, 50),
)  # fmt: skip
FLOWS = [
    EARLY,
    flow(1.0, short=True, fct_s=0.010, slowdown=2.0, retransmissions=1, reordered_packets=6, packets_dropped=4),
    # Replicated: the copy that lost timed out three times, the one that won never.
    flow(1.1, short=True, fct_s=0.030, slowdown=6.0, timeouts=3, packets_sent=20, bytes_sent=30_000),
    flow(1.2, short=True, fct_s=0.260, slowdown=40.0, timeouts=2, winner_timeouts=2, fast_retransmits=1),
    flow(1.3, short=True, delivered_bytes=0, timeouts=5, winner_timeouts=-1),
    flow(
        2.0, short=False, fct_s=2.0, slowdown=4.0, flow_bytes=10**7, delivered_bytes=10**7, retransmissions=3,
        fast_retransmits=1, coded_packets=15, repair_packets=5, units=4, units_stalled=1,
    ),
    flow(
        3.0, short=False, flow_bytes=9_000_000, delivered_bytes=2_000_000, bytes_sent=37_990_000, packets_dropped=2,
        winner_timeouts=-1, coded_packets=60, repair_packets=10, units=6, units_stalled=1, reordered_packets=1,
    ),
]  # fmt: skip
EXPECTED = {
    "flows": 6,  # the first started before the warm-up ended
    "unfinished_flows": 2,
    "short_flows": 4,
    "long_flows": 2,
    "unstarted_flows": 0,
    "mean_fct_short_s": 0.1,  # (10 + 30 + 260) / 3 ms
    "p99_fct_short_s": 0.260,
    "timeout_ratio_short": 1 / 3,
    "mean_fct_short_without_timeouts_s": 0.020,  # (10 + 30) / 2 ms
    "mean_fct_long_s": 2.0,
    "mean_slowdown_short": 16.0,  # (2 + 6 + 40) / 3
    "p99_slowdown_short": 40.0,
    "mean_slowdown": 13.0,  # (2 + 6 + 40 + 4) / 4
    "mean_throughput_long_bps": 22e6,  # of 8e7 bit in 2 s and 1.6e7 bit in the 4 s until the end
    "mean_goodput_long_bps": 22e6,  # both began after the warm-up
    "reorder_ratio": 0.1,  # 7 of 70
    "packets_dropped": 6,
    "retransmissions": 4,
    "fast_retransmits": 2,
    "timeouts": 10,
    "coding_overhead": 0.25,  # 15 over the 60 of 75 that are source packets
    "stalled_unit_ratio": 0.2,  # 2 of 10
    "traffic_ratio": 2.0,  # 38,080 kB of packets for 19,040 kB of payload
}


def test_every_figure_of_a_summary() -> None:
    found = summarise(pd.DataFrame(FLOWS), end_s=7.0, warm_up_s=1.0).to_dict()
    assert list(found) == list(EXPECTED)
    assert found == pytest.approx(EXPECTED, rel=1e-12)


def test_of_a_table_without_coding_columns_no_share_of_coding_is_a_number() -> None:
    coding = ["coded_packets", "repair_packets", "units", "units_stalled"]
    found = summarise(pd.DataFrame(FLOWS).drop(columns=coding), end_s=7.0, warm_up_s=1.0)
    without = EXPECTED | {"coding_overhead": math.nan, "stalled_unit_ratio": math.nan}
    assert found.to_dict() == pytest.approx(without, rel=1e-12, nan_ok=True)


def test_goodput_is_of_the_time_after_the_warm_up() -> None:
    """Both began at 0 s and the warm-up ends at 1 s: 1 MB in 1 s, then 3 MB in the 2 s until the run ends."""
    ended = flow(0.0, short=False, fct_s=2.0, delivered_bytes=9_000_000, measured_bytes=1_000_000)
    endless = flow(0.0, short=False, delivered_bytes=5_000_000, measured_bytes=3_000_000)
    over = flow(0.0, short=False, fct_s=1.0, measured_bytes=0)
    found = summarise(pd.DataFrame([ended, endless, over]), end_s=3.0, warm_up_s=1.0)
    assert found.mean_goodput_long_bps == pytest.approx((8e6 + 12e6) / 2, rel=1e-12)


def test_flows_that_would_start_after_the_end_are_told_apart() -> None:
    found = summarise(pd.DataFrame([flow(0.5, short=True), flow(1.0, short=True), flow(1.5, short=True)]), end_s=1.0)
    assert (found.flows, found.unfinished_flows, found.unstarted_flows) == (3, 3, 1)


def test_a_long_flow_that_has_not_started_has_no_throughput() -> None:
    """One sends 1 MB in the second of the run, the other would start after it."""
    sends = flow(0.0, short=False, delivered_bytes=1_000_000)
    later = flow(1.5, short=False, delivered_bytes=0)
    found = summarise(pd.DataFrame([sends, later]), end_s=1.0)
    assert found.mean_throughput_long_bps == pytest.approx(8e6, rel=1e-12)
    assert found.unstarted_flows == 1


def test_counters_of_a_flow_are_sums_but_for_the_timeouts_of_the_winner() -> None:
    """Flow 0 has two subflows, of which the second was complete first; flow 1 has one and is not complete."""
    flows, subs = np.zeros(2, records.FLOW), np.zeros(3, records.SUBFLOW)
    flows["first_sub"], flows["n_subs"], flows["winner"] = (0, 2), (2, 1), (1, records.NONE)
    flows["mss_bytes"], subs["flow"] = 1000, (0, 0, 1)
    flows["flow_bytes"], flows["short"], flows["begin_ps"] = (2500, 99_000), (1, 0), (10**12, 2 * 10**12)
    flows["received_ps"], flows["acked_ps"] = (3 * 10**12, records.NONE), (4 * 10**12, records.NONE)
    subs["receive_next"] = 1, 3, 7
    for column, name in enumerate(tables.SUMMED):
        subs[name] = 10 * column, 1, 5
    subs["timeouts"], subs["dup_acks_received"] = (4, 1, 5), (2, 1, 6)
    setup = setup_of(PAIR, flow_list([(0, 1, 2500, 0.0), (0, 1, 99_000, 0.0)]))
    own, nothing = (
        initial_state(setup).own,
        dict.fromkeys(["ports", "trace", "probes", "counters", "queue_counts", "extents"], flows),
    )
    raw = RawRecords(flows=flows, subs=subs, own=own, **nothing)
    table = tables.flows_table(raw, setup, ideal_fct_s=np.array([0.5, 1.0]))
    assert table["winner_timeouts"].tolist() == [1, -1]
    assert table["timeouts"].tolist() == [5, 5]
    assert table["duplicate_acks"].tolist() == [3, 6]
    for column, name in enumerate(tables.SUMMED):
        if name != "timeouts":
            assert table[name].tolist() == [10 * column + 1, 5]
    (done, open_flow) = table.to_dict("records")
    assert (done["start_s"], done["fct_s"], done["acked_fct_s"], done["slowdown"]) == (1.0, 2.0, 3.0, 4.0)
    assert (done["delivered_bytes"], done["finished"], done["short"], done["subflows"]) == (2500, True, True, 2)
    assert np.isnan([open_flow[name] for name in ("fct_s", "acked_fct_s", "slowdown")]).all()
    assert (open_flow["delivered_bytes"], open_flow["finished"], open_flow["short"]) == (7000, False, False)


def lose_first(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Refuse all data of subflow 0."""
    return REFUSE if packet.sub == 0 and packet.kind == DATA else ACCEPT


def lose_second(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Refuse all data of subflow 1."""
    return REFUSE if packet.sub == 1 and packet.kind == DATA else ACCEPT


def flow_through(name: str, admit: Any, *, packets: int, **sharing: Any) -> Result:
    """Return the result of one flow of so many full packets, in a window of ten for each subflow, through a queue."""
    scenario = Scenario(
        fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(pairs="sides", flow_bytes=1460 * packets),), end_s=4.0
    )
    losing = replace(scheme(name), queue=Queue(name=admit.__name__, admit=admit))
    transport = {"initial_rto_s": 1.0, "handshake": False}
    return simulate(scenario, scheme=losing.with_params(transport=transport, sharing=sharing), engine="reference")


def test_timeouts_of_the_copy_that_lost_do_not_count_as_the_flows() -> None:
    """Two copies of ten packets, a window: the first arrives at once, the second times out at 1 and 3 s, in vain."""
    result = flow_through("repflow", lose_second, packets=10)
    (row,) = result.flows.to_dict("records")
    assert (row["subflows"], row["timeouts"], row["winner_timeouts"]) == (2, 2, 0)
    assert result.summary.timeouts == 2
    assert result.summary.timeout_ratio_short == 0.0
    assert result.summary.mean_fct_short_without_timeouts_s == row["fct_s"] < 1e-3


def test_a_timeout_whose_data_another_subflow_brought_counts_as_the_flows() -> None:
    """Ten packets on each of two subflows; those of the first are lost, time out after 1 s and go to the second."""
    result = flow_through("ietf_mptcp", lose_first, packets=20, subflows=2, join_after_first=False)
    (row,) = result.flows.to_dict("records")
    assert 1.0 < row["fct_s"] < 1.1
    assert row["winner_timeouts"] == row["timeouts"] > 0
    assert result.summary.timeout_ratio_short == 1.0
    assert math.isnan(result.summary.mean_fct_short_without_timeouts_s)


def test_without_warm_up_every_flow_counts() -> None:
    found = summarise(pd.DataFrame(FLOWS).assign(counted=True), end_s=7.0)
    assert (found.flows, found.short_flows, found.packets_dropped) == (7, 5, 56)
    assert found.timeout_ratio_short == 0.5


def test_the_99th_percentile_is_the_198th_of_200() -> None:
    rows = [flow(1.0, short=True, fct_s=rank / 1000, slowdown=2.0 * rank) for rank in range(1, 201)]
    found = summarise(pd.DataFrame(rows), end_s=7.0)
    assert (found.p99_fct_short_s, found.p99_slowdown_short) == (0.198, 396.0)


def test_what_no_flow_can_tell_is_nan() -> None:
    long_only = summarise(pd.DataFrame([flow(0.0, short=False, fct_s=1.0)]), end_s=2.0)
    for name in ("mean_fct_short_s", "p99_fct_short_s", "timeout_ratio_short", "mean_fct_short_without_timeouts_s"):
        assert math.isnan(getattr(long_only, name))
    assert math.isnan(long_only.coding_overhead)
    assert math.isnan(long_only.stalled_unit_ratio)
    assert (long_only.reorder_ratio, long_only.short_flows, long_only.long_flows) == (0.0, 0, 1)
    late = summarise(pd.DataFrame([flow(0.0, short=True, fct_s=1.0, slowdown=1.0, winner_timeouts=1)]), end_s=2.0)
    assert late.timeout_ratio_short == 1.0
    assert math.isnan(late.mean_fct_short_without_timeouts_s)


def of_schemes(runs: pd.DataFrame, names: Sequence[str], metrics: Sequence[str]) -> pd.DataFrame:
    """Return the table of schemes, the first of which the others are compared with."""
    return metric_table(runs, [{"scheme": name} for name in names], metrics, first_scheme=names[0])


# Student's t, 97.5%, as printed in tables: 1, 2, 4 and 9 degrees of freedom.
def test_one_seed_has_no_interval() -> None:
    row = of_schemes(pd.DataFrame({"scheme": ["a"], "seed": [1], "x": [3.0]}), ["a"], ["x"]).iloc[0]
    assert (row["mean"], row["ratio"], row["seeds"]) == (3.0, 1.0, 1)
    assert np.isnan(
        [row["half_width"], row["low"], row["high"], row["skewness"], row["ratio_low"], row["ratio_high"]]
    ).all()
    assert (row["pairs"], row["pairs_with_0"]) == (1, 0)


def compared() -> pd.DataFrame:
    """Return two schemes over four seeds, rows in no order; y is missing for a seed, and 0 under the first scheme."""
    runs = [
        *(("b", seed, x, y) for seed, x, y in [(7, 9.0, 1.0), (5, 1.0, 3.0), (6, 4.0, 5.0), (8, 6.0, 7.0)]),
        *(("a", seed, x, y) for seed, x, y in [(5, 2.0, 0.0), (8, 4.0, math.nan), (6, 2.0, 5.0), (7, 3.0, 0.5)]),
    ]
    return pd.DataFrame(runs, columns=["scheme", "seed", "x", "y"])


def test_the_table_of_a_comparison_pairs_runs_by_seed() -> None:
    table = of_schemes(compared(), ["a", "b"], ["x", "y"]).set_index(["scheme", "metric"])
    assert table.index.tolist() == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert table["mean"].tolist() == pytest.approx([2.75, 5.5 / 3, 5.0, 4.0])
    assert table["seeds"].tolist() == [4, 3, 4, 4]
    # t of 3 degrees of freedom is 3.182; squares about the mean: 2.75, 34.
    expected = [3.182 * math.sqrt(2.75 / 3 / 4), 3.182 * math.sqrt(34 / 3 / 4)]
    assert table["half_width"].loc[:, "x"].tolist() == pytest.approx(expected, rel=3e-4)
    # Of a the half-width is 0.55 of the mean and of b 1.1, so that both intervals are on a log scale.
    for name, half in zip("ab", expected, strict=True):
        mean, low, high = table.loc[(name, "x"), ["mean", "low", "high"]]
        assert (low, high) == pytest.approx((mean * math.exp(-half / mean), mean * math.exp(half / mean)), rel=1e-3)
    # Cubes about the mean: of a 1.125, of b 0; sqrt(4 * 3) / 2 corrects a sample of four.
    skewed = [3**0.5 * (1.125 / 4) / (2.75 / 4) ** 1.5, 0.0]
    assert table["skewness"].loc[:, "x"].tolist() == pytest.approx(skewed, rel=1e-12, abs=1e-15)
    # x: 1/2, 4/2, 9/3, 6/4, whose product is 4.5; y: three pairs have values, in one the first scheme's is 0.
    assert table["ratio"].tolist() == pytest.approx([1.0, math.nan, 4.5**0.25, math.nan], nan_ok=True)
    assert table["pairs"].tolist() == [4, 3, 4, 3]
    assert table["pairs_with_0"].tolist() == [0, 1, 0, 1]
    squares = sum((math.log(ratio) - math.log(4.5) / 4) ** 2 for ratio in (0.5, 2.0, 3.0, 1.5))
    half = 3.182 * math.sqrt(squares / 3 / 4)
    ends = table.loc[("b", "x"), ["ratio_low", "ratio_high"]].tolist()
    assert ends == pytest.approx([4.5**0.25 * math.exp(sign * half) for sign in (-1, 1)], rel=1e-3)
    assert ends[0] > 0


def test_a_ratio_and_the_one_the_other_way_round_are_reciprocal() -> None:
    there, back = (of_schemes(compared(), names, ["x"]).iloc[1] for names in (["a", "b"], ["b", "a"]))
    assert there["ratio"] * back["ratio"] == pytest.approx(1.0, rel=1e-14)
    assert there["ratio_low"] * back["ratio_high"] == pytest.approx(1.0, rel=1e-14)


def test_a_ratio_leaves_no_zero_out_whichever_scheme_has_it() -> None:
    """All other pairs say 2; a table over them alone would."""
    for own, base in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0)):
        rows = [("a", seed, 1.0) for seed in (1, 2)] + [("b", seed, 2.0) for seed in (1, 2)]
        rows += [("a", 3, base), ("b", 3, own)]
        table = of_schemes(pd.DataFrame(rows, columns=["scheme", "seed", "x"]), ["a", "b"], ["x"]).iloc[1]
        assert math.isnan(table["ratio"])
        assert (table["pairs"], table["pairs_with_0"], table["seeds"]) == (3, 1, 3)


def test_a_metric_that_no_run_has_is_nan_over_no_seeds() -> None:
    runs = pd.DataFrame({"scheme": ["a", "a"], "seed": [1, 2], "x": [math.nan, math.nan]})
    (row,) = of_schemes(runs, ["a"], ["x"]).to_dict("records")
    assert row["seeds"] == 0
    assert np.isnan([row["mean"], row["half_width"], row["ratio"], row["ratio_low"], row["ratio_high"]]).all()


def test_every_mean_of_short_flows_stands_beside_its_timeouts() -> None:
    first = SHOWN_METRICS.index("mean_fct_short_s")
    beside = ("mean_fct_short_s", "timeout_ratio_short", "mean_fct_short_without_timeouts_s")
    assert SHOWN_METRICS[first : first + 3] == beside
    assert set(SHOWN_METRICS) | set(Summary.__dataclass_fields__) <= set(METRICS)
