r"""Decoding by real codes of what arrived: losses drawn at random, no packets simulated.

==================================  =========  =====================================  =======
Quantity                            Symbol     Name                                   Unit
==================================  =========  =====================================  =======
which receptions decode             p_S        :func:`decoded`                        1
count, packets lost independently   p_S        :func:`decoded_receptions`             1
count, packets over paths           p_S        :func:`decoded_receptions_by_path`     1
share predicted from k' of LDPC     p_S        :func:`ldpc_receptions`                1
packets until the unit decodes      k'         :func:`ldpc_packets_needed`            packets
==================================  =========  =====================================  =======
"""

from typing import Any

import numpy as np
from pandas import DataFrame

from capsmodel.checks import ParameterError, require
from capsmodel.codec import get_code
from capsmodel.codec.files import Flags, arrivals, arrivals_by_path, decodes
from capsmodel.codec.ldpc import LdpcStaircase
from capsmodel.codec.rlnc import RandomLinear
from capsmodel.coding._unit_search import log_pmf
from capsmodel.experiments.measurement import measurement

LDPC_SEED = 77
"""Seed of the matrix whose decoding probability is enumerated."""
_KEYS = 0x10000  # repair keys of RFC 8681


def _random_linear(arrived: Flags, k: int, *, seed: int, systematic: bool) -> Flags:
    """Decode each row with its own code: no two share a repair key, so their coefficients are independent."""
    n = arrived.shape[1]
    first = k if systematic else 0  # source packets of a systematic code need no key
    require(len(arrived) * (n - first) <= _KEYS, f"{len(arrived)} units need more than the {_KEYS} keys there are")
    start = int(np.random.default_rng(seed).integers(_KEYS))
    keys = (start + (n - first) * np.arange(len(arrived)) - first) % _KEYS
    codes = (RandomLinear(k, r=n - k, packet_bytes=1, seed=key, systematic=systematic) for key in keys.tolist())
    return np.array([decodes(code, row)[0] for code, row in zip(codes, arrived, strict=True)])


def decoded(code: str, arrived: Flags, *, k: int, seed: int) -> Flags:
    """Return which units a code recovers.

    Parameters
    ----------
    code : str
        ``"mds"``, any k packets; ``"rs"``, Reed-Solomon; ``"ldpc"``, LDPC-Staircase, 3 ones a column and the matrix of
        `LDPC_SEED`; ``"rlnc"`` and ``"rlnc-systematic"``, random linear, coefficients new for each unit.
    arrived : array of bool, shape (units, n)
        Which packets of each unit arrived.
    k : int
        Source packets, packets.
    seed : int
        Where the coefficients of the random linear codes start.

    Raises
    ------
    ParameterError
        If the code is unknown, or its units need more coefficients than there are.
    """
    r = arrived.shape[1] - k
    if code == "mds":
        return np.asarray(arrived.sum(axis=1) >= k)
    if code == "rs":
        return decodes(get_code("rs")(k, r=r, packet_bytes=1), arrived)
    if code == "ldpc":
        return decodes(LdpcStaircase(k, r=r, packet_bytes=1, seed=LDPC_SEED), arrived)
    if code in ("rlnc", "rlnc-systematic"):
        return _random_linear(arrived, k, seed=seed, systematic=code != "rlnc")
    raise ParameterError(f"code = {code!r}, but it must be mds, rs, ldpc, rlnc or rlnc-systematic")


def _counted(successes: Flags) -> dict[str, Any]:
    return {"successes": int(successes.sum()), "trials": successes.size}


@measurement("decoded-receptions", revision=1)
def decoded_receptions(
    k: int, *, r: int, code: str, blocking_prob: float, receptions: int, seed: int
) -> dict[str, Any]:
    """Return in how many receptions a code decodes when packets are lost independently with `blocking_prob`.

    Examples
    --------
    >>> decoded_receptions(2, r=1, code="rs", blocking_prob=0.0, receptions=3, seed=1)
    {'successes': 3, 'trials': 3}
    """
    arrived = arrivals(k + r, blocking_prob=blocking_prob, receptions=receptions, rng=seed)
    return _counted(decoded(code, arrived, k=k, seed=seed))


@measurement("decoded-receptions-by-path", revision=1)
def decoded_receptions_by_path(
    k: int, *, r: int, code: str, n_paths: int, blocked_paths: int, in_turn: bool, receptions: int, seed: int
) -> dict[str, Any]:
    """Return in how many receptions a code decodes when packets are spread over paths, at random or in turn."""
    arrived = arrivals_by_path(
        k + r, n_paths=n_paths, blocked_paths=blocked_paths, in_turn=in_turn, receptions=receptions, rng=seed
    )
    return _counted(decoded(code, arrived, k=k, seed=seed))


@measurement("ldpc-receptions", revision=1)
def ldpc_receptions(k: int, *, r: int, n1: int, blocking_prob: float, receptions: int, seed: int) -> dict[str, Any]:
    """Return how many receptions LDPC decodes, and the share that k', measured on other receptions, predicts.

    The prediction is the sum, over the number m of arrivals, of its binomial probability times the share of orders with
    k' at most m.
    """
    rng, n = np.random.default_rng(seed), k + r
    code = LdpcStaircase(k, r=r, packet_bytes=1, n1=n1, seed=LDPC_SEED)
    needed = code.packets_needed(rng.permuted(np.tile(np.arange(n), (receptions, 1)), axis=1)).elimination
    lost_at_most = np.exp(log_pmf(np.arange(n + 1.0), np.array(float(n)), np.array(blocking_prob))).cumsum()
    shares = lost_at_most[n - needed]
    decoded = decodes(code, arrivals(n, blocking_prob=blocking_prob, receptions=receptions, rng=rng))
    error = float(shares.std(ddof=1)) / receptions**0.5
    return _counted(decoded) | {"predicted_prob": float(shares.mean()), "error_predicted_prob": error}


@measurement("ldpc-packets-needed", revision=1)
def ldpc_packets_needed(k: int, *, r: int, n1: int, matrices: int, orders: int, seed: int) -> DataFrame:
    """Return the mean of k' of each of some matrices, with elimination and by peeling alone, in packets."""
    rng = np.random.default_rng(seed)
    rows = []
    for matrix_seed in rng.integers(1, 2**31 - 2, size=matrices).tolist():
        code = LdpcStaircase(k, r=r, packet_bytes=1, n1=n1, seed=matrix_seed)
        needed = code.packets_needed(rng.permuted(np.tile(np.arange(k + r), (orders, 1)), axis=1))
        least = (needed.peeling - needed.elimination).min()
        rows.append((needed.elimination.mean(), needed.peeling.mean(), least))
    return DataFrame(rows, columns=["elimination_packets", "peeling_packets", "least_difference_packets"])
