"""Golden: numbers in the text of lessons are those that formulas and kept runs give."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import capsmodel as cm
from capsim import load_scenario
from capsmodel.datafiles import data_path
from capsmodel.fct.completion import tail_fct
from capsmodel.fct.replication import effective_load
from capsmodel.papers.claim_list import read_claims
from capsmodel.queueing.mg1 import effective_bandwidth_wait_prob

SOURCES = Path(__file__).parents[2] / "notebooks" / "src"
LEAF = "all-leaf-spine-websearch"
SHORT, LONG = "mean_fct_short_without_timeouts_s", "mean_throughput_long_bps"
TWICE = {"replicas": 2, "short_byte_share": 0.05}


def prose(number):
    """Return the text of a lesson in one line."""
    (path,) = SOURCES.glob(f"{number:02}_*.py")
    cells = re.findall(r"^# %% \[markdown\]\n((?:#.*\n)*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return " ".join("".join(cells).replace("#", "").split())


def test_lesson_3_ten_packets_and_two_for_two_long_flows():
    assert f"Eq. 2 gives {cm.decode_prob(10, r=2, blocking_prob=2 / 40):.3f}." in prose(3)


def test_lesson_4_units_with_repair_packets_by_the_mean_rule():
    k = np.arange(1, 65)
    of_unit = cm.decode_prob(k, r=cm.repair_packets(k, blocking_prob=0.2), blocking_prob=0.2)
    large, of_window = of_unit[k >= 10], of_unit ** (64 / k)
    assert f"$p_S$ is {large.min():.2f} to {large.max():.2f} for all units of ten packets or more" in prose(4)
    assert f"rises from $k={k[of_window.argmin()]}$ to {k[of_window.argmax()]}, in a sawtooth" in prose(4)


def test_lesson_5_packets_more_than_k_with_two_elements():
    more = np.sum(1 / (2.0 ** np.arange(1, 64) - 1))
    assert f"With $q=2$ the sum in the last line is {more:.1f} packets." in prose(5)


def test_lesson_6_largest_gain_of_the_equations_of_repflow():
    load, sizes = np.linspace(0.3, 0.8, 501), cm.PacketSizes.fixed(1)
    once, twice = (cm.mean_fct(load, sizes=sizes, replicas=copies, short_byte_share=0.05) for copies in (1, 2))
    assert f"with its $k=12$ they give {100 * np.max(1 - twice / once):.1f}% at most" in prose(6)


def test_lesson_13_slopes_of_the_tail_at_load_02():
    """Per packet, where packets are drawn: of Eq. 9, and of the exact tail of bursts of 44."""
    ends, m = np.array([0.0, 100.0]), 44.0
    tails = (
        effective_bandwidth_wait_prob(ends + 20, load=0.2, mean_service=m, second_moment_service=m**2),
        cm.mg1_wait_prob(ends + 20, load=0.2, service=cm.Deterministic(m)),
    )
    of_eq9, exact = (-np.diff(np.log(tail))[0] for tail in tails)
    assert round(of_eq9 / exact) == 3
    assert "and falls three times too fast" in prose(13)


def test_lesson_13_saving_of_a_copy_in_the_99th_percentile():
    """By the exact tail with rounds as printed and whole, and the share that waits beside copies at load 0.1."""
    load, sizes = np.linspace(0.1, 0.8, 36), cm.load_workload("websearch").in_packets(1500)
    printed, whole = (
        np.round(100 * (1 - np.divide(*(tail_fct(load, sizes=sizes, **form, **copies) for copies in (TWICE, {})))))
        for form in ({"tail": "exact"}, {"tail": "exact", "rounding": "whole"})
    )
    assert f"by {printed[5:].min():.0f} to {printed[5:].max():.0f}% at loads from 0.2 to 0.8, not by 40" in prose(13)
    note = f"with the exact tail {printed[5:].min():.0f} to {printed[5:].max():.0f}% from load 0.2 on"
    assert read_claims()["repflow-f6"].note.endswith(note)
    waiting = 100 * effective_load(0.1, short_byte_share=0.05)
    assert f"At load 0.1 it is {printed[0]:.0f}%: with copies {waiting:.1f}% wait" in prose(13)
    assert f"has whole rounds: {whole[5]:.0f}% in place of {printed[5]:.0f} at load 0.2" in prose(13)


@pytest.fixture(scope="module")
def steady():
    """Return the kept runs from a steady start whose hosts send first in, first out."""
    return pd.read_csv(data_path("results/steady_websearch.csv")).query("case == 'leaf-spine'")


@pytest.fixture(scope="module")
def cold():
    """Return the kept runs from a cold start on the same fabric at the same load."""
    rows = pd.read_csv(data_path("results/all_schemes.csv"))
    return rows[(rows["scenario"] == LEAF) & (rows["traffic.load"] == 0.6)]


def over_ecmp(rows, scheme, metric=SHORT):
    """Return the geometric mean of ratios to ECMP on the same flows."""
    values = rows.pivot_table(index="seed", columns="scheme", values=metric)
    return float(np.exp(np.log(values[scheme] / values["ecmp"]).mean()))


def test_lesson_15_times_over_ecmp_from_a_steady_start(steady):
    """A quarter is 0.2 to 0.3, a third 0.3 to 0.4."""
    dctcp, priority = (over_ecmp(steady, name) for name in ("dctcp", "rps_pq"))
    assert f"priority lets short flows pass it: {dctcp:.2f} and {priority:.2f} of ECMP's time" in prose(15)
    assert "Spraying saves a quarter of the time without timeouts, CAPS and subflows a third" in prose(15)
    assert 0.7 < over_ecmp(steady, "rps") < 0.8
    assert all(0.6 < over_ecmp(steady, name) < 0.7 for name in ("caps", "mptcp", "dc2mtcp"))
    of_long = over_ecmp(steady, "dctcp", LONG)
    assert f"under DCTCP they get {of_long:.1f} times ECMP's throughput" in prose(15)


def test_lesson_15_times_over_ecmp_from_a_cold_start(steady, cold):
    assert cold["seed"].nunique() == 2
    ours = [f"{over_ecmp(cold, 'rps'):.2f} for spraying and {over_ecmp(cold, 'dctcp'):.2f} for DCTCP"]
    ours += [f"where the first panel has {over_ecmp(steady, 'rps'):.2f} and {over_ecmp(steady, 'dctcp'):.2f}"]
    assert f"two of them give {', '.join(ours)}" in prose(15)


def test_lesson_15_a_sprayed_link_with_a_tenth_of_its_rate():
    """Each uplink has an eighth of what eight hosts send to other leaves."""
    scenario = load_scenario(f"{LEAF}-slow")
    fabric, (entry,), (change,) = scenario.fabric, scenario.traffic, scenario.fabric.links
    hosts = fabric.size().hosts
    leaving = entry.load * (hosts - fabric.hosts_per_leaf) / (hosts - 1)
    of_link = leaving * fabric.hosts_per_leaf / fabric.spines
    assert f"{of_link * fabric.rate_bps / change.rate_bps:.1f} times what it can send" in prose(15)
