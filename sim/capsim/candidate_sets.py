"""The routes of all epochs of a run, and which of them offer the same ports: for balancers with memory per set."""

from typing import Any

import numpy as np
import numpy.typing as npt

from capsim.fabric.topology import Fabric

Table = npt.NDArray[np.integer[Any]]


def candidate_sets(first: Table, count: Table, candidates: Table) -> tuple[Table, int]:
    """Give numbers to the different lists of candidates that switches choose from.

    Parameters
    ----------
    first, count : ndarray of int
        Of each route, in any shape: where its candidates begin, and how many there are.
    candidates : ndarray of int
        Numbers of ports.

    Returns
    -------
    set_of : ndarray of int
        At the place where the candidates of a route begin: the number of their set, from 0; 0 elsewhere, and where
        there is no choice.
    n_sets : int
        How many sets there are, at least 1. A port belongs to one switch, and so does a set.

    Examples
    --------
    >>> candidate_sets(np.array([0, 2, 4]), np.array([2, 2, 1]), np.array([5, 6, 5, 6, 5]))[1]
    1
    """
    begins, where = np.unique(first[count > 1], return_index=True)
    counts = count[count > 1][where]
    most = int(counts.max(initial=1))
    place = begins[:, None] + np.minimum(np.arange(most), counts[:, None] - 1)  # the last one again in short lists
    found = np.unique(candidates[place], axis=0, return_inverse=True)
    set_of = np.zeros(len(candidates), np.int64)
    set_of[begins] = found[1].reshape(-1)
    return set_of, max(1, len(found[0]))


def route_tables(fabric: Fabric, *, sets: bool) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the tables of routes as a state holds them, and the sizes of own memory that follow from them.

    Parameters
    ----------
    fabric : Fabric
        With its epochs.
    sets : bool
        Whether a balancer has memory per set of candidates; without it there are no sets.
    """
    lengths = [len(epoch.routes.candidates) for epoch in fabric.epochs]
    offsets = np.cumsum([0, *lengths[:-1]], dtype=np.int32)
    first = np.stack([epoch.routes.first + offset for epoch, offset in zip(fabric.epochs, offsets, strict=True)])
    count = np.stack([epoch.routes.count for epoch in fabric.epochs]).astype(np.int32)
    candidates = np.concatenate([epoch.routes.candidates for epoch in fabric.epochs]).astype(np.int64)
    set_of, n_sets = candidate_sets(first, count, candidates) if sets else (np.zeros(0, np.int64), 1)
    tables: dict[str, Any] = {"route_first": first.astype(np.int32), "route_count": count}
    tables |= {"candidates": candidates, "set_of": set_of}
    return tables, {"most_paths": int(count.max()), "n_sets": n_sets}
