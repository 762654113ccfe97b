"""Brute force with exact fractions: every outcome is listed, nothing is taken from the package or from SymPy."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb

Outcome = tuple[bool, ...]


def outcomes(count: int, prob: Fraction) -> Iterator[tuple[Outcome, Fraction]]:
    """Yield every string of `count` independent events with its probability; True has probability `prob`."""
    for string in product((False, True), repeat=count):
        yield string, prob ** sum(string) * (1 - prob) ** (count - sum(string))


def chance(count: int, prob: Fraction, happens: Callable[[Outcome], bool]) -> Fraction:
    """Probability that a string of events is one for which `happens`."""
    return sum((weight for string, weight in outcomes(count, prob) if happens(string)), Fraction(0))


def decodes(k: int, r: int, blocked: Fraction) -> Fraction:
    """Probability that at least k of k + r packets are not blocked."""
    return chance(k + r, blocked, lambda string: string.count(False) >= k)


def is_reordered(congested: Outcome) -> bool:
    """Tell whether a packet on a congested path has a later one on another path."""
    return any(congested[i] and not all(congested[i:]) for i in range(len(congested)))


def times_out(lost: Outcome) -> bool:
    """Tell whether something is lost and fewer than three packets behind the first loss arrive."""
    return any(lost) and lost[lost.index(True) :].count(False) < 3


def times_out_as_printed(lost: Outcome) -> bool:
    """Tell the same with every arrival counted, for windows above three."""
    return any(lost) if len(lost) <= 3 else lost.count(False) < 3


def first_arrivals_decode(k: int, units: int) -> Fraction:
    """Share of the orders in which the first half of units of k + k packets decodes every unit."""
    packets = [unit for unit in range(units) for _ in range(2 * k)]
    good = sum(all(first.count(unit) >= k for unit in range(units)) for first in combinations(packets, units * k))
    return Fraction(good, comb(len(packets), units * k))


def smallest(candidates: Iterable[int], fits: Callable[[int], bool]) -> int:
    """First candidate that fits."""
    return next(candidate for candidate in candidates if fits(candidate))


def buffered_wait(k: int, packet_time: Fraction) -> Fraction:
    """Mean wait of the packets of a unit for the last of them, on a clock that ticks once for each packet."""
    arrivals = [i * packet_time for i in range(k)]
    return sum((arrivals[-1] - arrival for arrival in arrivals), Fraction(0)) / k


def window_delay(k: int, r: int, units: int, blocked: Fraction, short: Fraction, long: Fraction) -> Fraction:
    """Mean over every pattern of blocked packets of a window: short if all its units decode, long otherwise."""
    n = k + r

    def decoded(string: Outcome) -> bool:
        return all(string[start : start + n].count(False) >= k for start in range(0, units * n, n))

    return sum((w * (short if decoded(string) else long) for string, w in outcomes(units * n, blocked)), Fraction(0))


def slow_start_rounds(flow: int, window: int) -> int:
    """Rounds of doubling windows until exactly `flow` packets are sent."""
    sent = rounds = 0
    while sent < flow:
        sent, rounds = sent + window * 2**rounds, rounds + 1
    assert sent == flow
    return rounds


def lia(windows: Sequence[int], rtts: Sequence[int]) -> Fraction:
    """Aggressiveness by listing the subflows."""
    paths = list(zip(windows, rtts, strict=True))
    largest = max(Fraction(window, rtt**2) for window, rtt in paths)
    return sum(windows) * largest / sum(Fraction(window, rtt) for window, rtt in paths) ** 2


def balancing_loss(growth: Fraction, window: int) -> Fraction:
    """Loss at which growth per ACK and halving per loss cancel, by the rule of false position on a straight line."""
    drift_0, drift_1 = growth, -Fraction(window, 2)
    return drift_0 / (drift_0 - drift_1)


def series(ratio: Fraction, terms: int) -> Fraction:
    """Partial sum of ratio + ratio^2 + ... ."""
    return sum((ratio**power for power in range(1, terms + 1)), Fraction(0))
