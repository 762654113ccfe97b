"""The tables of the page of findings, from kept runs and the ledger.

``PYTHONPATH=tests python -m golden.findings_tables`` writes them to ``docs/tables``.
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from golden import mmptcp_table4
from page_tables import Table, write_table

from capsim.study.campaign import Campaign
from capsim.study.claims.looks import points_there
from capsim.study.kept_runs import MOST_SEEDS_OF_OTHERS
from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.intervals import paired_ratio
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.studies import published_studies

SHORT, UNTIMED = "mean_fct_short_s", "mean_fct_short_without_timeouts_s"
IN_ORDER, IN_TURNS = "leaf-spine", "hosts send round robin"
SCHEMES = {
    "rps_pq": "strict priority at switches and hosts (rps_pq)",
    "dctcp": "DCTCP over one path",
    "caps": "CAPS",
    "rps": "plain spraying",
    "repflow": "RepFlow",
}
READINGS = {"caps": TEXT, "caps_decode": "caps_as = caps_decode", "caps_ns2": "caps_as = caps_ns2"}
PUBLISHED = {
    "caps-f17d-best": "Fig. 17(d): short flows faster than with four others",
    "caps-f18a": "Fig. 18(a): short flows faster than with four others",
    "caps-f21a-small": "Fig. 21(a): optimal units faster than small ones",
    "caps-f21a-large": "Fig. 21(a): and than large ones",
    "caps-f22-size": "Fig. 22: the gain grows with the size of flows",
    "caps-f26a-n": "Fig. 26(a): the share of coded packets grows with fan-in",
    "caps-f26e": "Fig. 26(e): short flows fastest in an incast",
}


def steady_runs() -> pd.DataFrame:
    """Return the runs of the papers' schemes in the steady state."""
    return pd.read_csv(data_path("results/steady_websearch.csv"))


def by_nic(steady: pd.DataFrame) -> pd.DataFrame:
    """Return these runs by metric, case (the order in which hosts send) and scheme, a row a seed."""
    return steady.pivot_table(index="seed", columns=["case", "scheme"], values=[SHORT, UNTIMED, "timeout_ratio_short"])


def over(times: Any, subject: str, baseline: str, places: str = "#.2g") -> str:
    """Return as the page prints it the ratio of two schemes, over seeds, in the geometric mean over all else."""
    logs = np.log(times[subject] / times[baseline]).groupby("seed").mean().dropna()
    found = paired_ratio(np.exp(logs), np.ones(len(logs)))
    value, low, high = (f"{number:{places}}".rstrip(".") for number in (found.value, found.low, found.high))
    return f"{value} [{low}, {high}]"


def steady() -> Table:
    """Return times of short flows over those of ECMP."""
    runs = by_nic(steady_runs())
    timed_out = runs["timeout_ratio_short"][IN_ORDER].mean()
    times, untimed = runs[SHORT][IN_ORDER], runs[UNTIMED][IN_ORDER]
    rows = [
        [words, over(times, name, "ecmp"), over(untimed, name, "ecmp", ".2f"), _percent(timed_out[name])]
        for name, words in SCHEMES.items()
    ]
    heads = ["scheme", "all short flows", "those without a timeout", "share with one"]
    return [heads, ["ECMP", "1", "1", _percent(timed_out["ecmp"])], *rows]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share else "0%"


@cache
def campaign_of(study: str) -> Campaign:
    """Return the kept runs of a study, which take a second to read."""
    return Campaign(published_studies()[study], data_path("results/runs"))


def points_as_printed(claim: str, setting: str) -> str:
    """Return at how many points the medians of the kept runs are lower, or whether the series of one rises."""
    campaign = campaign_of(read_claims()[claim].study)
    evidence, design = campaign.evidence(claim, setting, sampled=True), campaign.design
    _, points = points_there(evidence, MOST_SEEDS_OF_OTHERS)
    assert points, f"{claim} has no run in the setting {setting}"
    if design.claims[claim].is_ == "rising":
        return "yes" if all(one.median > (1.0 if one.logarithmic else 0.0) for one in points) else "no"
    assert design.claims[claim].is_ == "lower"
    return f"{sum(one.median < 1 for one in points)} of {len(points)}"


def interpretations() -> Table:
    """Return at which points each reading of CAPS has the published direction."""
    rows = (
        [claim, words, *(points_as_printed(claim, setting) for setting in READINGS.values())]
        for claim, words in PUBLISHED.items()
    )
    return [["claim", "what is published", *READINGS], *rows]


TABLES = {
    "findings_steady": steady,
    "findings_interpretations": interpretations,
    "findings_mmptcp_table4": mmptcp_table4.table,
}

if __name__ == "__main__":
    for name, table in TABLES.items():
        write_table(name, table())
