"""Settings that the papers leave unstated: the values that are tried, and the sample of their combinations.

``data/papers/settings.toml`` declares them, before any run whose verdict they decide. A *combination* says what differs
from the setting that follows the text, which is the empty one.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, cast

from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.designs import Combination, fractional_factorial, one_at_a_time
from capsmodel.experiments.statistics.robustness import Robustness, combination_name, robustness
from capsmodel.experiments.words import VerdictWord
from capsmodel.papers.index import Claim, read_by_setting

__all__ = [
    "Setting",
    "not_varied",
    "recorded_robustness",
    "sampled_combinations",
    "settings_of",
    "told_settings",
]


@dataclass(frozen=True)
class Setting:
    """A setting that a paper leaves out.

    Attributes
    ----------
    name : str
        One of :mod:`capsim.scenario.settings`, or one that the experiment interprets.
    values : tuple
        What is tried; the first follows the text.
    items : tuple of str
        Words of the column ``not_stated`` of ``experiments.csv`` that it stands for.
    reason : str
        Why these values.
    alone : bool
        Whether its alternatives are tried alone only, and not in the fraction of all combinations.
    """

    name: str
    values: tuple[Any, ...]
    items: tuple[str, ...]
    reason: str
    alone: bool = False


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(data_path("papers/settings.toml").read_text(encoding="utf-8"))


def _experiments(names: Sequence[str]) -> list[str]:
    groups = _tables()["groups"]
    return [one for name in names for one in groups.get(name, [name])]


@cache
def _by_experiment() -> Mapping[str, Mapping[str, Setting]]:
    found: dict[str, dict[str, Setting]] = {}
    for row in _tables()["setting"]:
        reason = " ".join(row["reason"].split())
        setting = Setting(row["name"], tuple(row["values"]), tuple(row["items"]), reason, row.get("alone", False))
        for experiment in _experiments(row["experiments"]):
            known = found.setdefault(experiment, {})
            if setting.name in known:
                raise ValueError(f"settings.toml: {experiment} has {setting.name} twice")
            known[setting.name] = setting
    return MappingProxyType(found)


def settings_of(experiment: str) -> Mapping[str, Setting]:
    """Return the declared settings of an experiment by their names; empty where none is varied.

    Examples
    --------
    >>> settings_of("repflow-e07-ns3-ws")["transport.min_rto_s"].values
    (0.2, 0.01, 1.0)
    """
    return _by_experiment().get(experiment, MappingProxyType({}))


def not_varied() -> Mapping[str, str]:
    """Return why words of ``not_stated`` have no setting, by those words.

    Examples
    --------
    >>> not_varied()["queue discipline"].startswith("'Buffer' and losses")
    True
    """
    rows = _tables()["not_varied"]
    return {item: " ".join(row["reason"].split()) for row in rows for item in row["items"]}


def sampled_combinations(experiment: str) -> dict[str, Combination]:
    """Return the combinations in which an experiment is run, by name.

    Parameters
    ----------
    experiment : str
        Id in ``experiments.csv``.

    Returns
    -------
    dict
        First the text's, then each alternative alone, then a two-level fraction of all combinations
        (:mod:`capsmodel.experiments.statistics.designs`) but for settings that are tried alone; none twice.

    Examples
    --------
    >>> list(sampled_combinations("repflow-e10-mn-ws"))[:2]
    ['as the text', 'transport.initial_window_packets = 3']
    """
    settings = settings_of(experiment)
    alternatives = {name: setting.values for name, setting in settings.items()}
    combined = {name: values for name, values in alternatives.items() if not settings[name].alone}
    tried = [{}, *one_at_a_time(alternatives), *fractional_factorial(combined)]
    return {combination_name(one): one for one in tried}


def recorded_robustness(claim: Claim) -> Robustness:
    """Return in which settings the recorded verdict on a claim holds, from ``by_setting.csv``."""
    words = cast(dict[str, VerdictWord], read_by_setting().get(claim.id, {}))
    return robustness(words, sampled_combinations(claim.experiment_id))


def told_settings(claim: Claim, verdict: str) -> str:
    """Return whether a recorded verdict is robust or what it hangs on; empty before several settings decide it."""
    found = recorded_robustness(claim)
    return found.beside(verdict) if found.decided > 1 else ""
