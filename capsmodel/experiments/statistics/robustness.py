"""How a verdict fares in settings that a source leaves unstated: where it is the same, and what it depends on.

A *combination* says what differs from the setting that follows the text, which is the empty one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from capsmodel.experiments.statistics.designs import Combination

__all__ = ["FEWEST_SETTINGS", "TEXT", "Robustness", "combination_name", "differences", "robustness", "value_text"]

TEXT = "as the text"
"""Name of the combination in which nothing differs from what the text says."""
OPEN = "open"
"""The verdict that says nothing."""


def combination_name(combination: Combination) -> str:
    """Return what differs from the text, in verdicts.

    Examples
    --------
    >>> combination_name({"transport.min_rto_s": 0.01, "recovery": "sack"})
    'transport.min_rto_s = 0.01, recovery = sack'
    """
    return ", ".join(f"{name} = {value_text(value)}" for name, value in combination.items()) or TEXT


def differences(name: str) -> list[str]:
    """Return the single differences from the text that the name of a combination lists.

    Examples
    --------
    >>> differences("transport.min_rto_s = 0.01, recovery = sack"), differences("as the text")
    (['transport.min_rto_s = 0.01', 'recovery = sack'], [])
    """
    return [] if name == TEXT else re.split(r", (?=[\w.]+ = )", name)


def value_text(value: Any) -> str:
    """Return a value of a setting as its name has it: numbers short, truth in lower case."""
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


FEWEST_SETTINGS = 8
"""Decided settings below which a claim is not called robust."""


@dataclass(frozen=True)
class Robustness:
    """How a verdict fares in other settings.

    Attributes
    ----------
    agreeing, decided : int
        Settings with the verdict of the text, and settings with any verdict, the text's included.
    depends_on : tuple of str
        What turns it.
    settings : int
        All that were tried, decided or not, the text's included.
    word : str
        The verdict that they agree with: that of the text at the sampled points. Over all points it may be another one.
    """

    agreeing: int
    decided: int
    depends_on: tuple[str, ...]
    settings: int
    word: str = OPEN

    @property
    def share(self) -> float:
        """Return the share of the decided settings that agree; NaN of none."""
        return self.agreeing / self.decided if self.decided else float("nan")

    @property
    def is_robust(self) -> bool:
        """Whether all settings are decided and agree, at least `FEWEST_SETTINGS`, on a verdict that says one thing.

        "Differs" does not: in each setting the size may be another one.
        """
        return self.agreeing == self.settings >= FEWEST_SETTINGS and self.word not in (OPEN, "differs")

    def beside(self, verdict: str) -> str:
        """Return what is known, for a reader who sees the verdict: with the compared one if that is another."""
        differs = self.word not in (OPEN, verdict)
        return f"{self}; {self.word} at the sampled points" if differs else str(self)

    def __str__(self) -> str:
        unknown = self.settings - self.decided
        if self.depends_on:
            turning = "; ".join(" together with ".join(differences(one)) for one in self.depends_on)
            still_open = f", {unknown} open" if unknown else ""
            return f"depends on {turning} ({self.agreeing} of {self.decided} settings{still_open})"
        if self.is_robust:
            return f"robust ({self.settings} settings)"
        if not self.agreeing:
            return "not known: the setting of the text does not decide at the sampled points"
        return f"the same in {self.agreeing} settings" + (f", open in {unknown}" if unknown else "")


def robustness(verdicts: Mapping[str, str], combinations: Mapping[str, Combination]) -> Robustness:
    """Return what the verdicts of one claim by setting say.

    Parameters
    ----------
    verdicts : mapping
        Verdict in each setting that counts by its name, at the same points.
    combinations : mapping
        What differs from the text in each, by the same names.

    Examples
    --------
    >>> verdicts = {"as the text": "holds", "rto = 1": "fails", "rto = 1, mss = 536": "fails"}
    >>> settings = {"as the text": {}, "rto = 1": {"rto": 1}, "rto = 1, mss = 536": {"rto": 1, "mss": 536}}
    >>> print(robustness(verdicts, settings))
    depends on rto = 1 (1 of 3 settings)
    >>> print(robustness({"as the text": "holds", "rto = 1, mss = 536": "fails"}, settings))
    depends on rto = 1 together with mss = 536 (1 of 2 settings)
    """
    base = verdicts.get(TEXT, OPEN)
    decided = {name: verdict for name, verdict in verdicts.items() if verdict != OPEN}
    if base == OPEN:
        return Robustness(0, 0, (), len(verdicts))
    turned = [combinations[name] for name, verdict in decided.items() if verdict != base]
    alone = [combination_name(one) for one in turned if len(one) == 1]
    return Robustness(len(decided) - len(turned), len(decided), tuple(alone or _in_common(turned)), len(verdicts), base)


def _in_common(turned: list[Combination]) -> list[str]:
    """Return what all combinations share, together one setting, or all of them where they share nothing."""
    if not turned:
        return []
    shared = {name: value for name, value in turned[0].items() if all(one.get(name) == value for one in turned)}
    return [combination_name(shared)] if shared else [combination_name(one) for one in turned]
