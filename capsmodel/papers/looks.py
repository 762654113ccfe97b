"""What a campaign runs together, and what its open claims wait for."""

from dataclasses import dataclass
from typing import NamedTuple

from capsmodel.papers.experiments import Scale
from capsmodel.papers.statements import Term

__all__ = ["Group", "Look"]


class Group(NamedTuple):
    """Runs that are looked at together.

    Attributes
    ----------
    setting : str
        Name of a combination.
    scale : str
        That of the paper, or the reduced one.
    offset : int
        What is added to 1, 2, ... to give their seeds: 0, or :data:`capsmodel.papers.campaign_tasks.SECOND_FAMILY`.
    """

    setting: str
    scale: Scale
    offset: int = 0


@dataclass(frozen=True)
class Look:
    """Runs that open claims wait for.

    Attributes
    ----------
    weight : int
        How many times its seeds count.
    group : Group
        Setting, scale and family of seeds.
    seeds : int
        How many.
    terms : frozenset of Term
        What has to be run with each seed.
    claims : int
        Claims that wait for it.
    """

    weight: int
    group: Group
    seeds: int
    terms: frozenset[Term]
    claims: int

    @property
    def urgency(self) -> int:
        """Return its seeds with their weight: looks with less come first within an experiment."""
        return self.weight * self.seeds
