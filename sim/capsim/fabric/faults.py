"""Faults and hot spots that are drawn: so many switches or links, of those that match, differ from the others or fail.

What is drawn depends on the seed of the run and the position of the entry, and on nothing else: the runs of all schemes
with one seed have the same faults, and a larger count draws what a smaller one draws, and more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

import numpy as np

from capsim.base import bounds
from capsim.base.bounds import shortened
from capsim.base.seeds import Purpose, sequence
from capsim.fabric.wiring import LinkChange, LinkValues, Wiring
from capsmodel.checks import ParameterError, require


class DrawnFault(LinkValues, frozen=True, kw_only=True):
    """Links that differ, of nodes or between nodes that are drawn from the seed of the run.

    Parameters
    ----------
    nodes : str, optional
        Switches are drawn whose names match, with ``*`` and ``?`` (``"core*"``): all links of each of them change, with
        `one_way` only the direction away from it. One of `nodes` and `between` must be given.
    between : tuple of two str, optional
        Links are drawn whose ends match, each by itself.
    one_way : bool
        Whether only one direction changes: away from the node, or from the first to the second name.
    count : int, optional
        How many are drawn; or `share`.
    share : float, optional
        Which share of those that match is drawn, in [0, 1]; rounded down.
    """

    nodes: str | None = None
    between: tuple[str, str] | None = None
    one_way: bool = False
    count: Annotated[int, bounds.DRAWN.meta] | None = None
    share: Annotated[float, bounds.RATIO.meta] | None = None

    def most(self, nodes: int, links: int) -> int:
        """Return how many can be drawn at most in a fabric of so many switches and links."""
        return max(nodes, links) if self.count is None else self.count


@dataclass(frozen=True)
class DrawnFaults:
    """What one entry has drawn: names of switches, or of links by their first port, and what changes."""

    names: tuple[str, ...]
    changes: tuple[LinkChange, ...]


def draw_faults(faults: Sequence[DrawnFault], wiring: Wiring, *, seed: int) -> tuple[DrawnFaults, ...]:
    """Return what each entry draws in a fabric.

    Parameters
    ----------
    faults : sequence of DrawnFault
        The entries.
    wiring : Wiring
        Nodes and links of the fabric.
    seed : int
        Of the run.

    Raises
    ------
    ParameterError
        If an entry does not say what to draw, or nothing or too little matches; the text names the entry.
    """
    return tuple(_draw(position, fault, wiring, seed) for position, fault in enumerate(faults))


def _draw(position: int, fault: DrawnFault, wiring: Wiring, seed: int) -> DrawnFaults:
    where = f"fabric.faults[{position}]"
    require((fault.nodes is None) != (fault.between is None), f"{where}: give one of nodes and between")
    require((fault.count is None) != (fault.share is None), f"{where}: give one of count and share")
    names, places = _switches(fault, wiring, where) if fault.nodes is not None else _links(fault, wiring, where)
    count = int(fault.share * len(names) + 1e-9) if fault.share is not None else int(fault.count or 0)
    require(count <= len(names), f"{where}: count = {count}, but only {len(names)} match: draw fewer")
    order = np.random.default_rng(sequence(seed, Purpose.FAULTS, entry=position)).permutation(len(names))
    chosen = sorted(order[:count].tolist())
    values = {name: getattr(fault, name) for name in LinkValues.__struct_fields__}
    changes = [LinkChange(one_way=fault.one_way, **places[index], **values) for index in chosen]
    return DrawnFaults(tuple(names[index] for index in chosen), tuple(changes))


def _switches(fault: DrawnFault, wiring: Wiring, where: str) -> tuple[list[str], list[dict[str, Any]]]:
    names = [name for name in wiring.switches if fnmatchcase(name, fault.nodes or "")]
    if not names:
        ends = f"they are {wiring.switches[0]} to {wiring.switches[-1]}"
        raise ParameterError(f"{where}: no switch is called {shortened(fault.nodes)}: {ends}")
    return names, [{"between": (name, "*")} for name in names]


def _links(fault: DrawnFault, wiring: Wiring, where: str) -> tuple[list[str], list[dict[str, Any]]]:
    first, second = fault.between or ("", "")
    names: list[str] = []
    places: list[dict[str, Any]] = []
    seen: dict[tuple[str, str], int] = {}
    for a, b, _ in wiring.links[::2]:  # each link once, in the direction in which it was added
        seen[a, b] = seen.get((a, b), 0) + 1
        forth, back = (fnmatchcase(one, first) and fnmatchcase(other, second) for one, other in ((a, b), (b, a)))
        if forth or back:
            ends = (a, b) if forth else (b, a)
            names.append(">".join(ends) + (f"#{seen[a, b]}" if seen[a, b] > 1 else ""))
            places.append({"between": ends, "parallel": seen[a, b]})
    require(bool(names), f"{where}: no link between {first!r} and {second!r}")
    return names, places
