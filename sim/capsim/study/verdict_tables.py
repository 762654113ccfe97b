"""Verdicts of a campaign as tables: with our value at each point, in the text's setting or in all; cells, LaTeX."""

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from capsim.study.campaign import Campaign
from capsim.study.claims.decide import ABOUT
from capsim.study.metrics import known_metric
from capsim.study.plot import interval_latex, latex_table
from capsim.study.texts import claimed
from capsmodel.experiments.number_texts import number, with_interval
from capsmodel.experiments.statistics.intervals import Interval

Rows = list[dict[str, Any]]


def verdict_rows(campaign: Campaign) -> Rows:
    """Return the rows of :meth:`capsim.Studied.verdicts`."""
    rows: Rows = []
    for name in campaign.simulated:
        claim, verdict = campaign.design.claims[name], campaign.verdict(name)
        head = {"id": name, "where": claim.where, "claim": claimed(claim)}
        head |= {"metric": known_metric(campaign.design.metric(name)).words, "printed": claim.printed}
        head |= {"word": verdict.word, "begins": campaign.design.begins(name)}
        head |= {"about": ABOUT}
        bounds = {at: " or ".join(map(number, inside)) for at, inside in verdict.undecided_at.items()}
        for point in _points(dict(verdict.points)):
            rows.append(
                {
                    **head,
                    "seeds": verdict.seeds,
                    **point,
                    "bound": bounds.get(point["point"], ""),
                    "level": 1 - campaign.level,
                }
            )
    return rows


def setting_rows(campaign: Campaign) -> Rows:
    """Return the rows of :meth:`capsim.Studied.by_setting`."""
    rows: Rows = []
    for name in campaign.simulated:
        for setting, word in campaign.words(name).items():
            judged = campaign.judged(name, setting, sampled=True)
            head = {"id": name, "metric": known_metric(campaign.design.metric(name, setting)).words}
            head |= {"setting": setting, "word": word}
            rows += [{**head, "seeds": judged.seeds, **point} for point in _points(judged.decision.intervals)]
    return rows


def _points(intervals: Mapping[str, Interval]) -> Rows:
    """Return our value and the ends of its interval at each point; a row without them before the first analysis."""
    rows = [{"point": at, "ours": one.value, "low": one.low, "high": one.high} for at, one in intervals.items()]
    return rows or [{"point": "", "ours": math.nan, "low": math.nan, "high": math.nan}]


def verdict_cells(rows: Iterable[Mapping[Hashable, Any]]) -> list[dict[str, str]]:
    """Return a row for each claim and point: the verdict, and our value with its interval."""
    return [
        {name: str(row[name]) for name in ("id", "word", "seeds", "point")}
        | {"ours": with_interval(row["ours"], row["low"], row["high"])}
        for row in rows
    ]


def verdict_latex(verdicts: pd.DataFrame) -> str:
    r"""Return a table of verdicts as LaTeX: a line for each claim and point.

    Parameters
    ----------
    verdicts : DataFrame
        As :meth:`capsim.Studied.verdicts` returns it.

    Examples
    --------
    >>> row = {"id": "gain", "metric": "mean FCT, short", "printed": "40..45 %", "word": "holds", "point": "load_0.2"}
    >>> row |= {"ours": 0.58, "low": 0.56, "high": 0.6, "bound": "", "level": 0.99}
    >>> print(*verdict_latex(pd.DataFrame([row])).splitlines()[2:5:2], sep="\n")
    claim & metric & printed & at & verdict & ours (99\% interval) \\
    gain & mean FCT, short & 40..45 \% & load\_0.2 & holds & 0.580 (0.560--0.600) \\

    What is open has the bound across which its interval lies:

    >>> row |= {"word": "open", "high": 0.65, "bound": "0.6225"}
    >>> print(*verdict_latex(pd.DataFrame([row])).splitlines()[2:5:2], sep="\n")
    claim & metric & printed & at & verdict & ours (99\% interval) & bound \\
    gain & mean FCT, short & 40..45 \% & load\_0.2 & open & 0.580 (0.560--0.650) & 0.6225 \\
    """
    names = ("id", "metric", "printed", "point", "word")
    bound = ["bound"] if len(verdicts) and (verdicts["bound"] != "").any() else []
    rows = []
    for row in verdicts.to_dict("records"):
        ours = with_interval(row["ours"], row["low"], row["high"])
        rows.append(([row[name] for name in names], [interval_latex(ours), *(row[name] for name in bound)]))
    level = f"{100 * verdicts['level'].iloc[0]:g}" if len(verdicts) else "99"
    heads = ["claim", "metric", "printed", "at", "verdict", f"ours ({level}% interval)"]
    return latex_table(heads + bound, rows)
