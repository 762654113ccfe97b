"""Golden: numbers of the page of findings are those that kept runs and the ledger give."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from golden import findings_tables, mmptcp_table4
from golden.findings_tables import IN_ORDER, IN_TURNS, SHORT, TABLES, UNTIMED, campaign_of, over
from page_tables import read_table

from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.intervals import mean_interval, paired_ratio
from capsmodel.papers import settings_of_paper
from capsmodel.papers.claim_list import read_claims

RUNNING = " ".join(Path(__file__).parents[2].joinpath("docs", "findings.md").read_text(encoding="utf-8").split())
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
    return findings_tables.steady_runs()


@pytest.fixture(scope="module")
def by_nic(steady):
    """Return these runs by metric, case (the order in which hosts send) and scheme, a row a seed."""
    return findings_tables.by_nic(steady)


@pytest.fixture(scope="module")
def today():
    """Return times of runs at 100 Gbps by case, seed and scheme: of collectives the whole, else the mean slowdown."""
    rows = pd.read_parquet(data_path("results/beyond.3.parquet"))
    times = rows.assign(time=rows["mean_collective_s"].fillna(rows["mean_slowdown"]))
    return times.pivot_table(index=["case", "seed"], columns="scheme", values="time")


@pytest.fixture(scope="module")
def fig17():
    """Return the mean of short flows on the fabric of CAPS Fig. 17, by workload, setting, scale, load, seed, scheme."""
    keys = ["workload", "setting", "scale", "load", "seed"]
    return campaign_of("caps-leafspine").frame.pivot_table(index=keys, columns="scheme", values=SHORT)


@pytest.mark.parametrize("name", ["findings_steady", "findings_mmptcp_table4"])
def test_a_table_is_computed_again(name):
    assert read_table(name) == TABLES[name]()


@pytest.mark.agreement
def test_the_table_of_readings_is_computed_again():
    assert read_table("findings_interpretations") == TABLES["findings_interpretations"]()


def test_the_printed_means_of_mmptcps_table4_are_within_our_intervals():
    assert "20 of 21 lie in the interval of [four runs each]" in RUNNING
    rows = pd.read_csv(mmptcp_table4.KEPT).groupby("threshold")[mmptcp_table4.METRICS["fct"]]
    ours = {threshold: mean_interval(1e3 * times) for threshold, times in rows}
    printed = {threshold: float(read_claims()[f"mmptcp-t4-d{threshold}-fct"].low) for threshold in ours}
    assert len(ours) == 21
    assert [one for one in ours if not ours[one].low <= printed[one] <= ours[one].high] == [6]
    assert printed[6] - ours[6].high < 0.1


def test_the_kept_runs_of_mmptcps_table4_are_those_of_its_study():
    kept = pd.read_csv(mmptcp_table4.KEPT)
    ids = {
        (seed, threshold): name
        for seed, threshold, name in zip(kept["seed"], kept["threshold"], kept["id"], strict=True)
    }
    assert ids == {place: task.id for place, task in mmptcp_table4.tasks().items()}


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


def _over_ecmp(times):
    return np.exp(np.log(times["CAPS"] / times["ECMP"]).groupby(level="load").mean())


def test_caps_on_the_fabric_of_its_fig17(fig17):
    web_search, data_mining = (fig17.loc[one, "as the text", "paper"] for one in ("websearch", "datamining"))
    assert over(web_search.loc[0.3:], "CAPS", "RPS") in RUNNING
    assert f"take from a load of 0.5 on {over(data_mining.loc[0.5:], 'CAPS', 'RPS')}" in RUNNING
    saved = [100 * (1 - _over_ecmp(one.loc[0.3:])) for one in (web_search, data_mining)]
    first, second = (f"{round(one.min())} to {round(one.max())}%" for one in saved)
    assert f"Against ECMP {first} of the time are saved, and {second} with data mining." in RUNNING
    authors = fig17.loc["websearch", "caps_as = caps_ns2", "reduced"]
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


def test_what_the_settings_of_mmptcp_do_is_of_the_ledger():
    settings = {one.setting: one for one in settings_of_paper("mmptcp")}
    sockets = settings["sockets_as_in_ns3 = yes"]
    of_all = f"Of the {sockets.claims} printed sizes that were run with them ours are off by a factor of"
    assert f"{of_all} {sockets.factor:.2f}" in RUNNING
    assert f"and by {sockets.in_text:.2f} with the text's timer" in RUNNING
    assert f"moves {sockets.towards} towards the published value and {sockets.away} away" in RUNNING
