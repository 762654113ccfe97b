"""Whether a verdict depends on what its paper leaves unstated: in which settings it holds, and what turns it.

The verdicts of one claim in several settings come from the same places of the sweep. Where settings are compared at a
reduced scale, they are those of the paper's, to which what a setting changes is carried over
(:mod:`capsmodel.papers.evidence`). A setting *agrees* if its verdict has the word that the setting of the text has
there; those that are open say nothing, and those that change no run of the claim are not among them
(:meth:`capsmodel.papers.campaign.Campaign.words`). A claim is *robust* if all others agree, else it *hangs on* the
settings whose alternative, alone, turns the word, or where only combinations do, on those that every such combination
has in common.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from capsmodel.experiments.statistics.designs import Combination
from capsmodel.papers.index import Claim, read_by_setting
from capsmodel.papers.settings import TEXT, combination_name, sampled_combinations
from capsmodel.papers.verdicts import VerdictWord

__all__ = ["FEWEST_SETTINGS", "Robustness", "recorded_robustness", "robustness", "told_settings"]

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
