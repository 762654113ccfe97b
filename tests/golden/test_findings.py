"""Golden: numbers of the page of findings are those that kept runs and the ledger give."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from page_tables import read_table

from capsim.study.campaign import Campaign
from capsim.study.claims.looks import points_there
from capsim.study.kept_runs import MOST_SEEDS_OF_OTHERS
from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.intervals import paired_ratio
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers import settings_of_paper
from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.studies import published_studies

RUNNING = " ".join(Path(__file__).parents[2].joinpath("docs", "findings.md").read_text(encoding="utf-8").split())
SHORT, UNTIMED = "mean_fct_short_s", "mean_fct_short_without_timeouts_s"
IN_ORDER, IN_TURNS = "leaf-spine", "hosts send round robin"
IN_THE_TABLE = ("rps_pq", "dctcp", "caps", "rps", "repflow")
OVER_DCTCP = ("dctcp_rps", "repflow_dctcp")
TRIM, PULLS, LEARN, BLOCKS = "trim", "trim, receivers pull", "trim, mark, learn paths", "code: blocks of 32"
OF_TODAY = [
    *(("permutation, 2 MB", scheme) for scheme in (LEARN, PULLS, TRIM, BLOCKS)),
    *(("one slow link", scheme) for scheme in (LEARN, PULLS)),
    ("eight slow links", LEARN),
    ("web search, load 0.6", BLOCKS),
    *(("loss 1e-3", scheme) for scheme in (LEARN, PULLS, BLOCKS)),
]


@pytest.fixture(scope="module")
def steady():
    """Return the runs of the papers' schemes in the steady state."""
    return pd.read_csv(data_path("results/steady_websearch.csv"))


@pytest.fixture(scope="module")
def by_nic(steady):
    """Return these runs by metric, case (the order in which hosts send) and scheme, a row a seed."""
    return steady.pivot_table(index="seed", columns=["case", "scheme"], values=[SHORT, UNTIMED, "timeout_ratio_short"])


@pytest.fixture(scope="module")
def today():
    """Return times of runs at 100 Gbps by case, seed and scheme: of collectives the whole, else the mean slowdown."""
    rows = pd.read_parquet(data_path("results/beyond.3.parquet"))
    times = rows.assign(time=rows["mean_collective_s"].fillna(rows["mean_slowdown"]))
    return times.pivot_table(index=["case", "seed"], columns="scheme", values="time")


@pytest.fixture(scope="module")
def fig17():
    """Return the mean of short flows on the fabric of CAPS Fig. 17, by setting, scale, load, seed and scheme."""
    rows = campaign_of("caps-leafspine").frame
    keys = ["setting", "scale", "load", "seed"]
    return rows[rows["workload"] == "websearch"].pivot_table(index=keys, columns="scheme", values=SHORT)


def over(times, subject, baseline, places="#.2g"):
    """Return as the page prints it the ratio of two schemes, over seeds, in the geometric mean over all else."""
    logs = np.log(times[subject] / times[baseline]).groupby("seed").mean().dropna()
    found = paired_ratio(np.exp(logs), np.ones(len(logs)))
    value, low, high = (f"{number:{places}}".rstrip(".") for number in (found.value, found.low, found.high))
    return f"{value} [{low}, {high}]"


def test_times_over_those_of_ecmp_are_of_the_kept_runs(subtests, by_nic):
    _, _, *rows = read_table("findings_steady")
    for scheme, (_, *shown) in zip(IN_THE_TABLE, rows, strict=True):
        with subtests.test(scheme=scheme):
            timed_out = by_nic["timeout_ratio_short"][IN_ORDER][scheme].mean()
            times, untimed = by_nic[SHORT][IN_ORDER], by_nic[UNTIMED][IN_ORDER]
            ratios = [over(times, scheme, "ecmp"), over(untimed, scheme, "ecmp", ".2f")]
            assert shown == [*ratios, f"{100 * timed_out:.1f}%" if timed_out else "0%"]


@pytest.mark.parametrize("scheme", OVER_DCTCP)
def test_spraying_or_a_copy_on_top_of_dctcp(by_nic, scheme):
    assert over(by_nic[SHORT][IN_ORDER], scheme, "dctcp") in RUNNING


@pytest.mark.parametrize("nic", [IN_ORDER, IN_TURNS])
def test_caps_over_spraying_by_nic(by_nic, nic):
    assert over(by_nic[UNTIMED][nic], "caps", "rps", ".2f") in RUNNING


def test_a_nic_in_turns_saves_half_to_a_quarter(by_nic):
    saved = np.exp(np.log(by_nic[UNTIMED][IN_TURNS] / by_nic[UNTIMED][IN_ORDER]).mean())
    others = saved.drop("rps_pq")
    assert f"take {others.min():.2f} to {others.max():.2f} of the time" in RUNNING


def test_caps_on_the_fabric_of_its_fig17(fig17):
    assert over(fig17.loc["as the text", "paper"].loc[0.3:], "CAPS", "RPS") in RUNNING
    authors = fig17.loc["caps_as = caps_ns2", "reduced"]
    cells = [over(authors.loc[load], "CAPS", other) for other in ("RPS", "RepFlow") for load in (0.3, 0.8)]
    assert [cell for cell in cells if cell not in RUNNING] == []


def test_timeouts_of_caps_in_incasts():
    rows = pd.read_parquet(data_path("results/runs/caps-fig26.parquet")).query("buffer_packets == 256")
    timeouts = rows.pivot_table(index="senders", columns="form", values="timeouts")
    times = (1 / timeouts[["ecmp", "rps"]]).mul(timeouts["caps"], axis=0)
    assert [round(times.loc[[20, 60]].to_numpy().min()), round(times.loc[[20, 60]].to_numpy().max())] == [4, 7]
    assert "CAPS has four to seven times the timeouts of ECMP or spraying, and with 100 as many" in RUNNING
    assert times.loc[100].between(0.9, 1.1).all()
    assert (timeouts["caps"] < timeouts["repflow"]).to_dict() == {20: False, 60: True, 100: True, 140: True, 180: True}


def test_caps_beside_long_flows():
    rows = pd.read_parquet(data_path("results/runs/caps-fig28.parquet")).query("short_flows == 120")
    mean_s = rows.groupby("form")["mean_fct_s"].mean()
    assert round(mean_s["caps"] / mean_s["rps"]) == 9
    assert "120 short flows take nine times as long as under spraying" in RUNNING


def test_a_cold_start_of_as_many_flows_shows_less(by_nic):
    rows = pd.read_csv(data_path("results/all_schemes.csv"))
    cold = rows[(rows["scenario"] == "all-leaf-spine-websearch") & (rows["traffic.load"] == 0.6)]
    times = cold.pivot_table(index="seed", columns="scheme", values=UNTIMED)
    ours = [f"{paired_ratio(times[name], times['ecmp']).value:.2f}" for name in ("dctcp", "rps")]
    assert f"two of them have {ours[0]} for DCTCP and {ours[1]} for spraying, without timeouts" in RUNNING
    steady = by_nic[UNTIMED][IN_ORDER]
    assert all(
        (steady[name] / steady["ecmp"] < float(one)).all() for name, one in zip(("dctcp", "rps"), ours, strict=True)
    )


def test_how_full_the_steady_runs_begin(steady):
    begun = 100 * steady[steady["scheme"] != "cdcps"].groupby(["case", "scheme"])["settled_start"].mean()
    assert f"begin with {begun.min():.0f} to {begun.max():.0f}% of the flows in progress" in RUNNING


def test_schemes_and_cases_of_the_kept_runs_are_counted(today):
    cases, schemes = today.index.unique("case"), today.columns
    assert (
        f"{len(schemes)} combinations of what the field does today answer the same flows in {len(cases)} cases"
        in RUNNING
    )


def test_ratios_of_todays_transports(subtests, today):
    for case, scheme in OF_TODAY:
        with subtests.test(case=case, scheme=scheme):
            assert over(today.loc[case], scheme, "mark: spray", ".2f") in RUNNING


def test_web_search_gains_by_todays_transports(today):
    gains = 1 - np.exp(np.log(today[LEARN] / today["mark: spray"]).groupby("case").mean())
    web = 100 * gains[[case for case in gains.index if case.startswith("web search")]]
    assert f"all flows of that scheme gain {web.min():.0f} to {web.max():.0f}%" in RUNNING


READINGS = {"caps": TEXT, "caps_decode": "caps_as = caps_decode", "caps_ns2": "caps_as = caps_ns2"}
BY_READING = [[claim, *printed] for claim, _, *printed in read_table("findings_interpretations")[1:]]


@cache
def campaign_of(study):
    """Return the kept runs of a study, which take a second to read."""
    return Campaign(published_studies()[study], data_path("results/runs"))


def points_as_printed(claim, setting):
    """Return at how many points the medians of the kept runs are lower, or whether the series of one rises."""
    campaign = campaign_of(read_claims()[claim].study)
    evidence, design = campaign.evidence(claim, setting, sampled=True), campaign.design
    _, points = points_there(evidence, MOST_SEEDS_OF_OTHERS)
    assert points, f"{claim} has no run in the setting {setting}"
    if design.claims[claim].is_ == "rising":
        return "yes" if all(one.median > (1.0 if one.logarithmic else 0.0) for one in points) else "no"
    assert design.claims[claim].is_ == "lower"
    return f"{sum(one.median < 1 for one in points)} of {len(points)}"


@pytest.mark.agreement
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
    assert f"{of_all} {sockets.factor:.2f}" in RUNNING
    assert f"and by {sockets.in_text:.2f} with the text's timer" in RUNNING
    assert f"moves {sockets.towards} towards the published value and {sockets.away} away" in RUNNING
    assert f"{fabric.factor:.2f} for {fabric.in_text:.2f}" in RUNNING
