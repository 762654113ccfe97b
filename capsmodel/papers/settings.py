"""Settings that the papers leave unstated: the values that are tried, and the sample of their combinations.

``data/papers/settings.toml`` declares them, before any run whose verdict they decide. A *combination* says what differs
from the setting that follows the text, which is the empty one.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, cast

from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.designs import Combination, fractional_factorial, one_at_a_time
from capsmodel.papers.index import Claim, read_by_setting
from capsmodel.papers.verdicts import VerdictWord

__all__ = [
    "FEWEST_SETTINGS",
    "TEXT",
    "Robustness",
    "Setting",
    "combination_name",
    "differences",
    "not_varied",
    "recorded_robustness",
    "robustness",
    "sampled_combinations",
    "settings_of",
    "told_settings",
]

TEXT = "as the text"
"""Name of the combination in which nothing differs from what the paper says or, where it is silent, from the reason."""


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


def combination_name(combination: Combination) -> str:
    """Return what differs from the text, in words.

    Examples
    --------
    >>> combination_name({"transport.min_rto_s": 0.01, "recovery": "sack"})
    'transport.min_rto_s = 0.01, recovery = sack'
    """
    return ", ".join(f"{name} = {_text(value)}" for name, value in combination.items()) or TEXT


def differences(name: str) -> list[str]:
    """Return the single differences from the text that the name of a combination lists.

    Examples
    --------
    >>> differences("transport.min_rto_s = 0.01, recovery = sack"), differences("as the text")
    (['transport.min_rto_s = 0.01', 'recovery = sack'], [])
    """
    return [] if name == TEXT else re.split(r", (?=[\w.]+ = )", name)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


FEWEST_SETTINGS = 8
"""Decided settings below which a claim is not called robust."""


@dataclass(frozen=True)
class Robustness:
    """How a verdict fares in other settings.

    Attributes
    ----------
    agreeing, decided : int
        Settings with the word of the text, and settings with any word, the text's included.
    turned_by : tuple of str
        What turns it.
    settings : int
        All that were tried, decided or not, the text's included.
    word : str
        The word that they agree with: that of the text at the sampled places. Over all places it may be another one.
    """

    agreeing: int
    decided: int
    turned_by: tuple[str, ...]
    settings: int
    word: VerdictWord = "open"

    @property
    def share(self) -> float:
        """Return the share of the decided settings that agree; NaN of none."""
        return self.agreeing / self.decided if self.decided else float("nan")

    @property
    def is_robust(self) -> bool:
        """Whether all of at least `FEWEST_SETTINGS` decided settings agree."""
        return self.agreeing == self.decided >= FEWEST_SETTINGS

    def beside(self, verdict: str) -> str:
        """Return what is known, for a reader who sees the verdict: with the word compared if it is another one."""
        differs = self.word not in ("open", verdict)
        return f"{self}; {self.word} at the sampled places" if differs else str(self)

    def __str__(self) -> str:
        count = f"{self.agreeing} of {self.decided} settings"
        if self.turned_by:
            return f"hangs on {'; '.join(self.turned_by)} ({count})"
        return f"robust ({count})" if self.is_robust else self._too_few

    @property
    def _too_few(self) -> str:
        count = f"{self.decided} of {self.settings} settings are decided"
        return f"not known to be robust: {count}, at least {FEWEST_SETTINGS} are needed"


def robustness(words: Mapping[str, VerdictWord], combinations: Mapping[str, Combination]) -> Robustness:
    """Return what the words of one claim by setting say.

    Parameters
    ----------
    words : mapping
        Verdict in each setting that counts by its name, at the same places of the sweep.
    combinations : mapping
        What differs from the text in each, by the same names.

    Examples
    --------
    >>> words = {"as the text": "reproduced", "rto = 1": "refuted", "rto = 1, mss = 536": "refuted"}
    >>> settings = {"as the text": {}, "rto = 1": {"rto": 1}, "rto = 1, mss = 536": {"rto": 1, "mss": 536}}
    >>> print(robustness(words, settings))
    hangs on rto = 1 (1 of 3 settings)
    """
    base = words.get(TEXT, "open")
    decided = {name: word for name, word in words.items() if word != "open"}
    if base == "open":
        return Robustness(0, 0, (), len(words))
    turned = [combinations[name] for name, word in decided.items() if word != base]
    alone = [combination_name(one) for one in turned if len(one) == 1]
    return Robustness(len(decided) - len(turned), len(decided), tuple(alone or _in_common(turned)), len(words), base)


def recorded_robustness(claim: Claim) -> Robustness:
    """Return in which settings the recorded verdict on a claim holds, from ``by_setting.csv``."""
    words = cast(dict[str, VerdictWord], read_by_setting().get(claim.id, {}))
    return robustness(words, sampled_combinations(claim.experiment_id))


def told_settings(claim: Claim, verdict: str) -> str:
    """Return whether a recorded verdict is robust or what it hangs on; empty before several settings decide it."""
    found = recorded_robustness(claim)
    return found.beside(verdict) if found.decided > 1 else ""


def _in_common(turned: list[Combination]) -> list[str]:
    """Return what all combinations share, together one setting, or all of them where they share nothing."""
    if not turned:
        return []
    shared = {name: value for name, value in turned[0].items() if all(one.get(name) == value for one in turned)}
    return [combination_name(shared)] if shared else [combination_name(one) for one in turned]
