r"""Which packets of a unit arrive, and whether they determine its source: the measured side of ``decode_prob``.

============================================  =======  ==================  ====  ==================
Quantity                                      Symbol   Name                Unit  Equation
============================================  =======  ==================  ====  ==================
packets that arrive, each lost alone          p_B      `arrivals`          –     caps Eq. 1
packets that arrive over paths, some blocked  n_L / n  `arrivals_by_path`  –     caps, section VI-B
receptions that decode                        p_S      `decodes`           –     caps Eq. 2
============================================  =======  ==================  ====  ==================
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from capsmodel.checks import generator, probability, require
from capsmodel.codec.base import BlockCode
from capsmodel.codec.errors import Flags as Flags
from capsmodel.codec.inputs import whole_number

Draw = Callable[[int, int, np.random.Generator], Flags]
"""Packets of a unit, receptions and source of randomness, to the packets that arrive."""


def arrivals(n: int, *, blocking_prob: float, receptions: int, rng: np.random.Generator | int | None = None) -> Flags:
    """Packets that arrive when each is blocked independently, shape (receptions, n).

    Parameters
    ----------
    n : int
        Packets of a unit, k + r.
    blocking_prob : float
        Probability p_B that a packet is blocked, in [0, 1].
    receptions : int
        Independent receptions of the unit, >= 1.
    rng
        Anything `numpy.random.default_rng` takes.

    References
    ----------
    caps Eq. 1.

    Examples
    --------
    >>> arrivals(4, blocking_prob=0.0, receptions=1).tolist()
    [[True, True, True, True]]
    """
    shape = (whole_number("receptions", receptions, minimum=1), whole_number("n", n, minimum=1))
    blocked = probability("blocking_prob", blocking_prob, one=True)
    arrived: Flags = generator(rng).random(shape) >= blocked
    return arrived


def arrivals_by_path(
    n: int,
    *,
    n_paths: int,
    blocked_paths: int,
    in_turn: bool = False,
    receptions: int,
    rng: np.random.Generator | int | None = None,
) -> Flags:
    """Packets that arrive when they are spread over paths of which some are blocked, shape (receptions, n).

    Parameters
    ----------
    n : int
        Packets of a unit, k + r.
    n_paths : int
        Equal-cost paths, >= 1.
    blocked_paths : int
        Paths that deliver nothing, 0 .. n_paths; drawn anew for each reception.
    in_turn : bool
        Packet i takes path i mod n_paths in place of a path drawn at random. Then losses are not independent: the
        binomial of CAPS Eq. 1 holds for the random choice only.
    receptions : int
        Independent receptions of the unit, >= 1.
    rng
        Anything `numpy.random.default_rng` takes.

    References
    ----------
    caps, section VI-B.

    Examples
    --------
    >>> arrivals_by_path(6, n_paths=3, blocked_paths=1, in_turn=True, receptions=1, rng=1).sum()
    np.int64(4)
    """
    shape = (whole_number("receptions", receptions, minimum=1), whole_number("n", n, minimum=1))
    whole_number("n_paths", n_paths, minimum=1)
    whole_number("blocked_paths", blocked_paths, minimum=0)
    require(blocked_paths <= n_paths, f"blocked_paths = {blocked_paths}, but there are {n_paths} paths")
    source = generator(rng)
    order = source.permuted(np.tile(np.arange(n_paths), (shape[0], 1)), axis=1)
    turns = np.broadcast_to(np.arange(shape[1]) % n_paths, shape)
    path = turns if in_turn else source.integers(n_paths, size=shape)
    arrived: Flags = np.take_along_axis(order >= blocked_paths, path, axis=1)
    return arrived


def decodes(code: BlockCode, arrived: npt.ArrayLike) -> Flags:
    """Whether the code's own decoder recovers the source from each reception, shape (receptions,).

    Parameters
    ----------
    code : BlockCode
        Code; what it decodes does not depend on ``packet_bytes``.
    arrived : array of bool, shape (receptions, n)
        Which packets arrived.

    References
    ----------
    caps Eq. 2.

    Examples
    --------
    >>> from capsmodel.codec import get_code
    >>> decodes(get_code("rs")(2, r=1, packet_bytes=1), [[True, False, True], [False, False, True]]).tolist()
    [True, False]
    """
    rows = np.atleast_2d(np.asarray(arrived, np.bool_))
    require(rows.shape[1] == code.n, f"receptions of {rows.shape[1]} packets, but the code sends {code.n}")
    return np.fromiter((code.determines(np.flatnonzero(row)) for row in rows), np.bool_, len(rows))
