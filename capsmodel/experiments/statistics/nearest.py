"""Which of the settings that a source leaves open brings values nearest to what it prints, for one claim and for all.

A setting that brings one value near print among twenty that were tried may do so by chance. So a setting is named with
the number of claims that it moves towards print and away from it, and by its effect on all of them: the factors by
which values are off are multiplied.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

__all__ = ["MOVED", "SettingForAll", "TriedSetting", "nearest", "settings_for_all"]

MOVED = 1.1
"""Factor by which a value moves at least, to count as moved: *agrees* is within 10% of the published value."""


@dataclass(frozen=True)
class TriedSetting:
    """How far the value of a claim is off what is printed in one setting.

    Attributes
    ----------
    id : str
        The claim.
    setting : str
        What differs from the text.
    in_text, factor : float
        The factor by which the worst point is off print, at least 1: in the setting of the text, and in this one.
    seeds : int
        Runs of each point.
    """

    id: str
    setting: str
    in_text: float
    factor: float
    seeds: int

    @property
    def is_towards(self) -> bool:
        """Whether the value is nearer to print than in the setting of the text."""
        return self.factor * MOVED < self.in_text

    @property
    def is_away(self) -> bool:
        """Whether it is farther off."""
        return self.factor > MOVED * self.in_text


@dataclass(frozen=True)
class SettingForAll:
    """What one setting does to all claims of a source that were run in it.

    Attributes
    ----------
    setting : str
        What differs from the text.
    claims : int
        Printed sizes that were run in it.
    towards, away : int
        Of these, those whose values it moves towards print, and away from it.
    in_text, factor : float
        Geometric means of the factors by which values are off print: in the setting of the text, and in this one.
    """

    setting: str
    claims: int
    towards: int
    away: int
    in_text: float
    factor: float

    @property
    def gain(self) -> float:
        """The logarithm of the product of all factors in the text over that in this setting."""
        return self.claims * log(self.in_text / self.factor)


def nearest(tried: Iterable[TriedSetting]) -> Mapping[str, TriedSetting]:
    """Return for each claim the setting in which its value is nearest to print; of equals, the first.

    Examples
    --------
    >>> tried = [TriedSetting("a", "rto = 1", 4.0, 1.2, 8), TriedSetting("a", "mss = 536", 4.0, 5.0, 8)]
    >>> nearest(tried)["a"].setting
    'rto = 1'
    """
    best: dict[str, TriedSetting] = {}
    for one in tried:
        if one.id not in best or one.factor < best[one.id].factor:
            best[one.id] = one
    return best


def settings_for_all(tried: Iterable[TriedSetting]) -> Sequence[SettingForAll]:
    """Return what each setting does to all claims that were run in it, the largest gain first.

    Examples
    --------
    >>> tried = [TriedSetting("a", "rto = 1", 4.0, 1.0, 8), TriedSetting("b", "rto = 1", 1.0, 2.0, 8)]
    >>> settings_for_all(tried)
    [SettingForAll(setting='rto = 1', claims=2, towards=1, away=1, in_text=2.0, factor=1.41...)]
    """
    by_setting: dict[str, list[TriedSetting]] = {}
    for one in tried:
        by_setting.setdefault(one.setting, []).append(one)
    summed = [
        SettingForAll(
            setting=setting,
            claims=len(rows),
            towards=sum(one.is_towards for one in rows),
            away=sum(one.is_away for one in rows),
            in_text=_geometric_mean([one.in_text for one in rows]),
            factor=_geometric_mean([one.factor for one in rows]),
        )
        for setting, rows in by_setting.items()
    ]
    return sorted(summed, key=lambda one: -one.gain)


def _geometric_mean(values: Sequence[float]) -> float:
    return exp(sum(map(log, values)) / len(values))
