"""Random linear units of which some packets arrive: which sets of packets decode, byte for byte.

============================================ ========== ===================== =======
Quantity                                     Symbol     Column                Unit
============================================ ========== ===================== =======
sets whose coefficients have rank k          --         ``independent_sets``  sets
sets from which the source is decoded        P_d        ``decoded_sets``      sets
============================================ ========== ===================== =======
"""

import numpy as np

from capsmodel.checks import require, whole
from capsmodel.experiments.measurement import measurement
from capsmodel.experiments.words import CLOSE_RELATIVE

_KEYS, _PACKET_BYTES = 0x10000, 100


@measurement("random-linear-sets", revision=1)
def random_linear_sets(
    k: int, *, r: int, received_packets: int, units: int, systematic: bool, seed: int
) -> dict[str, int]:
    """Code units, each with its own coefficients, let a random set of packets arrive, and decode.

    Parameters
    ----------
    k, r : int
        Source and repair packets of a unit, packets.
    received_packets : int
        Packets that arrive, 1 to k + r.
    units : int
        Number of units; no two share a coefficient, so at most 65536 / (k + r).
    systematic : bool
        Send the source packets uncoded, and code only the repair packets.
    seed : int
        Seed of keys, source and sets.

    Returns
    -------
    dict
        ``units`` sent, ``independent_sets`` and ``decoded_sets`` of them.

    Raises
    ------
    ParameterError
        If there are too many units or more packets arrive than were sent.

    Examples
    --------
    >>> random_linear_sets(4, r=2, received_packets=3, units=10, systematic=False, seed=1)
    {'units': 10, 'independent_sets': 0, 'decoded_sets': 0}
    """
    from capsmodel.codec import NotEnoughPackets  # loads Numba, which naming a study needs not
    from capsmodel.codec.linalg import rank
    from capsmodel.codec.rlnc import RandomLinear

    sent, count = k + r, int(whole("units", units, minimum=1))
    require(received_packets <= sent, f"received_packets = {received_packets}, but a unit has {sent}")
    require(count <= _KEYS // sent, f"units = {units}, but the keys suffice for {_KEYS // sent}")
    draw = np.random.default_rng(seed)
    independent = decoded = 0
    for first in draw.permutation(_KEYS // sent)[:count] * sent:
        code = RandomLinear(k, r=r, packet_bytes=_PACKET_BYTES, seed=int(first), systematic=systematic)
        source = draw.integers(0, 256, (k, _PACKET_BYTES), dtype=np.uint8)
        arrived = np.sort(draw.choice(sent, received_packets, replace=False))
        independent += rank(code.coefficients[arrived].copy()) == k
        try:
            decoded += np.array_equal(code.decode(code.coded(source)[arrived], arrived), source)
        except NotEnoughPackets:
            continue
    return {"units": count, "independent_sets": int(independent), "decoded_sets": int(decoded)}


@measurement("packets-that-survive", revision=1)
def packets_that_survive(k: int, *, blocked: int, units: int, systematic: bool, seed: int) -> dict[str, float]:
    """Return the fewest packets of a unit that nine units of ten decode without any `blocked` of them.

    Parameters
    ----------
    k : int
        Source packets of a unit.
    blocked : int
        Packets of each unit that do not arrive, at random.
    units, systematic, seed
        As :func:`random_linear_sets`.

    Returns
    -------
    dict
        ``sent_packets``, and ``decoded_ratio``, the share of units that decode with them.

    Examples
    --------
    >>> packets_that_survive(4, blocked=2, units=100, systematic=True, seed=1)["sent_packets"]
    6.0
    """
    decoded, r = 0.0, max(0, blocked + 1 - k)
    while decoded < 1 - CLOSE_RELATIVE:
        sets = random_linear_sets(
            k, r=r, received_packets=k + r - blocked, units=units, systematic=systematic, seed=seed
        )
        decoded, r = sets["decoded_sets"] / units, r + 1
    return {"sent_packets": float(k + r - 1), "decoded_ratio": decoded}
