"""Golden: numbers of the page of findings are those that kept runs and the ledger give."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capsim.study.campaign import MOST_SEEDS_OF_OTHERS, Campaign
from capsim.study.looks import points_there
from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers import settings_of_paper
from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.studies import published_studies

PAGE = Path(__file__).parents[2].joinpath("docs", "findings.md").read_text(encoding="utf-8")
IN_THE_TABLE = {"rps_pq": 0.010, "dctcp": 0.11, "caps": 0.37, "rps": 0.50, "repflow": 0.70}


@pytest.fixture(scope="module")
def kept():
    """Return the runs of 44 schemes with NICs that send in order of arrival."""
    rows = pd.read_csv(data_path("results/all_schemes_nic.csv"))
    return rows[rows["nic"] == "fifo"]


def over_ecmp(kept, metric, scheme):
    """Return the geometric mean of a scheme's metric over ECMP's on the same flows, with its 95% interval."""
    table = kept.pivot_table(index="seed", columns="scheme", values=metric)
    ratios = np.log(table[scheme] / table["ecmp"])
    half = stats.t.ppf(0.975, len(ratios) - 1) * stats.sem(ratios)
    return np.exp([ratios.mean(), ratios.mean() - half, ratios.mean() + half])


@pytest.mark.parametrize("scheme", IN_THE_TABLE)
def test_times_over_those_of_ecmp_are_of_the_kept_runs(kept, scheme):
    mean, *_ = over_ecmp(kept, "mean_fct_short_s", scheme)
    assert float(f"{mean:.2g}") == IN_THE_TABLE[scheme]
    untimed = over_ecmp(kept, "mean_fct_short_without_timeouts_s", scheme)
    assert "{:.2f} [{:.2f}, {:.2f}]".format(*untimed) in PAGE
    timed_out = kept[kept["scheme"] == scheme]["timeout_ratio_short"].mean()
    assert f"| {100 * timed_out:.1f}% |" in PAGE or not timed_out


READINGS = {"caps": TEXT, "caps_decode": "caps_as = caps_decode", "caps_ns2": "caps_as = caps_ns2"}
BY_READING = re.findall(r"^\|.*\(`(caps-\w+(?:-\w+)?)`\) \| (.*) \| (.*) \| (.*) \|$", PAGE, re.MULTILINE)


@cache
def campaign_of(study):
    """Return the kept runs of a study, which take a second to read."""
    return Campaign(published_studies()[study], data_path("results/runs"))


def points_as_printed(claim, setting):
    """Return at how many points the medians of the kept runs are lower, or whether the series of one rises."""
    campaign = campaign_of(read_claims()[claim].study)
    evidence, design = campaign.evidence(claim, setting, sampled=True), campaign.design
    _, points = points_there(evidence, MOST_SEEDS_OF_OTHERS)
    if design.claims[claim].is_ == "rising":
        return "yes" if all(one.median > (1.0 if one.logarithmic else 0.0) for one in points) else "no"
    assert design.claims[claim].is_ == "lower"
    return f"{sum(one.median < 1 for one in points)} of {len(points)}"


@pytest.mark.parametrize("row", BY_READING, ids=lambda row: row[0])
def test_the_printed_directions_by_reading_are_of_the_kept_runs(row):
    claim, *printed = row
    assert [points_as_printed(claim, setting) for setting in READINGS.values()] == printed


def test_seven_directions_are_read():
    assert len(BY_READING) == 7


def test_what_the_settings_of_mmptcp_do_is_of_the_ledger():
    settings = {one.setting: one for one in settings_of_paper("mmptcp")}
    sockets, fabric = settings["sockets_as_in_ns3 = yes"], settings["oversubscription = 4"]
    of_all = f"Of the {sockets.claims} printed sizes that were run with them ours are off by a factor of"
    assert f"{of_all} {sockets.factor:.2f}" in PAGE.replace("\n", " ")
    assert f"and by {sockets.in_text:.2f} with the text's timer" in PAGE
    assert f"moves {sockets.towards} towards print and {sockets.away} away" in PAGE
    assert f"{fabric.factor:.2f} for {fabric.in_text:.2f}" in PAGE
