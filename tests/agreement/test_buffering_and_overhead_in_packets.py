"""Agreement: wait for a unit (CAPS Eq. 3), redundancy (VI-B) and overhead (Eq. 7) counted in simulated packets.

With r given all is exact: without long flows packets arrive back to back on equal paths, and r and eta are counts.
With r from the sender's own estimate of p_B the rule is exact too, and the estimate is the finding. Where units are
acknowledged when they decode (``caps_decode``), an acknowledgement shows when its unit decoded, not when its packet
arrived: in units of a window all ACKs come together after the slowest packet that was needed, none later than twice the
others, and no repair packet is sent. Where each packet is acknowledged (``caps``), the sender measures most of p_B.
"""

import pytest
from agreement.measured.unit_overhead import by_reading, live_redundancy, packets_sent

from capsmodel import repair_packets, traffic_overhead
from capsmodel.coding.window_delay import buffering_delay_s
from capsmodel.experiments.agreement import LEVEL
from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.papers.measurements.unit_delays import lone_unit_waits

pytestmark = pytest.mark.agreement


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("k", [1, 2, 8, 16, 32, 64])
def test_mean_wait_of_lone_units(k, engine, measured):
    """One unit at a time; packets of different paths arrive in sending order. Tolerance: picosecond rounding."""
    units = 20 if engine == "compiled" else 2
    found = measured(lone_unit_waits, {"k": k, "units": units, "seed": 2, "engine": engine}).iloc[0]
    expected = buffering_delay_s(k, packet_bytes=1500, rate_bps=1e9)
    assert [found["least_wait_s"], found["largest_wait_s"]] == pytest.approx([expected, expected], abs=1e-11)
    assert found["units"] == units


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(("k", "long_flows"), [(4, 1), (10, 2), (10, 3), (32, 3)])
def test_repair_packets_are_those_of_the_rule(k, long_flows, engine, measured):
    r = repair_packets(k, blocking_prob=long_flows / 10)
    sent = {"k": k, "r": r, "n_paths": 10, "long_flows": 0, "windows": 2, "seed": 4, "engine": engine}
    found = measured(packets_sent, {**sent, "window_packets": k}).iloc[0]
    assert found["least_n_packets"] == found["largest_n_packets"] == k + r
    assert found["repair_packets"] * k == found["source_packets"] * r


@pytest.mark.parametrize(("k", "long_flows"), [(16, 1), (16, 2), (32, 3)])
def test_overhead_of_all_packets(k, long_flows, measured):
    """The share of repair packets, with the g of the run; an identity of the counters. k divides the window."""
    p = long_flows / 10
    sent = {"k": k, "r": repair_packets(k, blocking_prob=p), "n_paths": 10, "long_flows": long_flows, "windows": 40}
    found = measured(packets_sent, {**sent, "seed": 6}).iloc[0]
    assert found["retransmitted_packets"] == 0
    overhead = found["repair_packets"] / found["all_packets"]
    expected = traffic_overhead(p, long_short_ratio=found["long_packets"] / found["source_packets"], k=k)
    assert overhead == pytest.approx(expected, rel=1e-12)


FLOWS, SEEDS = 20, range(16)
LIVE_SETTINGS = [("window", 10, 3), ("window", 40, 4), ("fixed", 40, 4), ("optimal", 10, 3)]
BEGIN_WITH = {"optimal": 1 / 6}  # at p_B = 0 the optimal unit is the window


def live(measured, unit_size, n_paths, long_flows, **more):
    """Return runs with the sender's own estimate; eta of each, and eta at n_L / n."""
    setting = {"unit_size": unit_size, "n_paths": n_paths, "long_flows": long_flows, "flows": FLOWS}
    setting |= {"initial_blocking_prob": BEGIN_WITH.get(unit_size, 0.0)} | more
    seed = 100 * (10 * n_paths + long_flows)
    rows = measured(live_redundancy, *({**setting, "seed": seed + one} for one in SEEDS))
    g = rows["long_packets"] / rows["source_packets"]
    return rows.assign(
        overhead_ratio=rows["repair_packets"] / rows["all_packets"],
        true_overhead_ratio=traffic_overhead(long_flows / n_paths, long_short_ratio=g),
    )


@pytest.mark.parametrize(("unit_size", "n_paths", "long_flows"), LIVE_SETTINGS)
def test_r_of_each_unit_follows_from_the_estimate(unit_size, n_paths, long_flows, measured):
    """``caps_decode``. The estimate is computed again from the packet trace; not one unit may differ."""
    rows = live(measured, unit_size, n_paths, long_flows)
    assert (rows["units_by_rule"] == rows["units"]).all()
    assert rows["units"].sum() >= 3 * FLOWS * len(SEEDS)
    assert (rows["retransmitted_packets"] == 0).all()
    rounded_up = rows["repair_packets"] - rows["needed_packets"]
    assert rounded_up.between(0, rows["units"], inclusive="left").all()


@pytest.mark.parametrize(("unit_size", "n_paths", "long_flows"), LIVE_SETTINGS)
def test_the_sender_underestimates_and_sends_less_than_n_l_over_n_requires(unit_size, n_paths, long_flows, measured):
    """A finding about ``caps_decode``: in units of a window less than a fifth."""
    rows = live(measured, unit_size, n_paths, long_flows)
    of_true = mean_interval(rows["overhead_ratio"] / rows["true_overhead_ratio"], confidence=1 - LEVEL)
    p = mean_interval(rows["mean_held_prob"], confidence=1 - LEVEL)
    share = 0.2 if unit_size == "window" else 1.0
    assert of_true.high < share
    assert p.high < share * long_flows / n_paths


def test_starting_from_the_true_blocking_probability_does_not_help(measured):
    """At decoding, units of a window, initial p_B = n_L / n: units of 10 and 20 hold it, the first measurement is 0.

    The acknowledgements of the first unit come together, none late beside the others, so the last 34 of 64 packets go
    without redundancy.
    """
    rows = live(measured, "window", 10, 3, initial_blocking_prob=0.3)
    assert (rows["units_by_rule"] == rows["units"]).all()
    measured_part = rows["mean_held_prob"] - 0.3 * (10 + 20) / 64
    assert mean_interval(measured_part, confidence=1 - LEVEL).high < 0.03 * 34 / 64


def sent_ratio(measured, reading, seeds):
    """Return r / k of runs with 3 long flows on 10 paths, all r from what the sender measures."""
    setting = {"reading": reading, "n_paths": 10, "long_flows": 3, "flows": FLOWS, "initial_blocking_prob": 0.0}
    rows = measured(by_reading, *({**setting, "seed": 700 + one} for one in seeds))
    assert (rows["source_packets"] == FLOWS * 64).all()
    return rows["repair_packets"] / rows["source_packets"]


def test_acks_of_packets_measure_blocking_and_acks_of_units_do_not(measured):
    """``caps`` sends r/k of 0.20 to 0.33 where p/(1 - p) is 0.43; ``caps_decode`` none.

    It is less than 0.43 because a flow starts with r = 0, and because the latest packets of a unit, those that were
    blocked, are no longer needed when they arrive and are never acknowledged.
    """
    found = mean_interval(sent_ratio(measured, "caps", SEEDS), confidence=1 - LEVEL)
    assert 0.20 < found.low < found.high < 0.33 < 0.3 / 0.7
    assert (sent_ratio(measured, "caps_decode", range(6)) == 0).all()


def test_ns2_code_sends_what_it_is_set_to(measured):
    """r = 2 of 10, whatever it measures, none for the last 4 of 64 packets, and one more with each retransmission."""
    setting = {"reading": "caps_ns2", "n_paths": 10, "long_flows": 3, "flows": FLOWS, "initial_blocking_prob": 0.0}
    row = measured(by_reading, {**setting, "seed": 700}).iloc[0]
    assert row["repair_packets"] == FLOWS * 6 * 2 + row["retransmitted_packets"]
