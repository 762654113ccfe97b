"""Losses over unequal paths against every pattern of losses with its exact probability, limits and monotony."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import stats

import capsmodel
from capsmodel import Empirical, Exponential, ParameterError, PathDelay, PathLosses, decode_failure_prob
from capsmodel.coding.paths import _loss_table
from capsmodel.coding.paths.losses import MOST_PATHS

pytestmark = pytest.mark.agreement

RTOL = 1e-12
PACKET_S = 1.0


def fractions(values):
    return [Fraction(str(value)) for value in values]


def runs(count, loss, burst, steps=1):
    """Yield every pattern of losses of a path with its probability, from Gilbert's matrix multiplied out."""
    enter, leave = loss / ((1 - loss) * burst), 1 / burst
    matrix = [[1 - enter, enter], [leave, 1 - leave]]
    power = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]
    for _ in range(steps):
        power = [[sum(power[i][x] * matrix[x][j] for x in (0, 1)) for j in (0, 1)] for i in (0, 1)]
    for pattern in product((0, 1), repeat=count):
        weight = (loss if pattern[0] else 1 - loss) if count else Fraction(1)
        for before, after in pairwise(pattern):
            weight *= power[before][after]
        yield pattern, weight


def path_law(at, *, loss, burst=None, steps=1, down=Fraction(0), delays=None, deadline=None, shared=True):
    """Return {lost: probability} of a path whose packets are the `at` of the unit, by listing all that may happen."""
    law = defaultdict(Fraction)
    delays = delays or [(0, Fraction(1))]
    drawn = product(delays, repeat=1 if shared else len(at))
    for chosen in drawn:
        chance = np.prod([prob for _, prob in chosen], initial=Fraction(1))
        waits = [chosen[0 if shared else i][0] for i in range(len(at))]
        late = [deadline is not None and slot + 1 + wait > deadline for slot, wait in zip(at, waits, strict=True)]
        for pattern, weight in runs(len(at), loss, burst or 1 / (1 - loss), steps):
            law[sum(map(max, pattern, late))] += chance * weight * (1 - down)
    law[len(at)] += down
    return law


def sum_law(laws):
    total = {0: Fraction(1)}
    for law in laws:
        longer = defaultdict(Fraction)
        for (a, pa), (b, pb) in product(total.items(), law.items()):
            longer[a + b] += pa * pb
        total = longer
    return total


def unit_law(order, path_laws):
    """Return the law of all packets, where order[i] is the path of packet i."""
    return sum_law([
        law([i for i, path in enumerate(order) if path == number]) for number, law in enumerate(path_laws)
    ])  # fmt: skip


def in_turn(n, path_laws, turns, start):
    return unit_law([turns[(start + i) % len(turns)] for i in range(n)], path_laws)


def mean_law(laws):
    laws = list(laws)
    total = defaultdict(Fraction)
    for share, law in laws:
        for lost, prob in law.items():
            total[lost] += share * prob
    return total


def at_random(n, path_laws, weights):
    return mean_law(
        (np.prod([weights[path] for path in order], initial=Fraction(1)), unit_law(order, path_laws))
        for order in product(range(len(path_laws)), repeat=n)
    )


def agrees(table, laws):
    """Compare a table with the laws of 0, 1, ... packets."""
    for n, law in enumerate(laws):
        exact = [float(sum(prob for lost, prob in law.items() if lost > r)) for r in range(table.shape[1])]
        np.testing.assert_allclose(table[n], exact, rtol=RTOL, atol=0)


LOSS = fractions([0.1, 0.25, 0.02])
BURST = fractions([2, 3, 1.5])
DOWN = fractions([0.05, 0, 0.2])
ATOMS = [
    [(1, Fraction(3, 4)), (4, Fraction(1, 4))],
    [(Fraction(1, 4), Fraction(1, 2)), (5, Fraction(1, 2))],
    [(2, Fraction(1))],
]
DELAY = [
    *(Empirical(tuple(float(t) for t, _ in atoms), tuple(float(p) for _, p in atoms)) for atoms in ATOMS[:2]),
    PathDelay(2.0),
]
FLOATS = {"loss": [float(p) for p in LOSS], "burst": [float(b) for b in BURST], "down": [float(d) for d in DOWN]}

KINDS = {
    "independent": ({}, {}),
    "runs": ({"burst_packets": FLOATS["burst"]}, {"burst": BURST}),
    "runs interleaved": ({"burst_packets": FLOATS["burst"], "interleave": 3}, {"burst": BURST, "steps": 3}),
    "down": ({"down_prob": FLOATS["down"]}, {"down": DOWN}),
    "runs and down": ({"burst_packets": FLOATS["burst"], "down_prob": FLOATS["down"]}, {"burst": BURST, "down": DOWN}),
}
TIMED = {
    "one delay a path": ({"delay": DELAY, "deadline_s": 7.0}, {"delays": ATOMS, "deadline": 7}),
    "a delay a packet": (
        {"delay": DELAY, "deadline_s": 7.0, "delay_per": "packet"},
        {"delays": ATOMS, "deadline": 7, "shared": False},
    ),
    "no delay": ({"deadline_s": 5.5}, {"deadline": Fraction(11, 2)}),
    "decoding takes time": ({"delay": DELAY, "deadline_s": 9.0, "codec_s": 2.0}, {"delays": ATOMS, "deadline": 7}),
    "runs and one delay": (
        {"delay": DELAY, "deadline_s": 7.0, "burst_packets": FLOATS["burst"]},
        {"delays": ATOMS, "deadline": 7, "burst": BURST},
    ),
    "runs and a delay a packet": (
        {"delay": DELAY, "deadline_s": 7.0, "burst_packets": FLOATS["burst"], "delay_per": "packet"},
        {"delays": ATOMS, "deadline": 7, "burst": BURST, "shared": False},
    ),
    "all": (
        {"delay": DELAY, "deadline_s": 7.0, "burst_packets": FLOATS["burst"], "down_prob": FLOATS["down"]},
        {"delays": ATOMS, "deadline": 7, "burst": BURST, "down": DOWN},
    ),
}
TIMED = {name: (given | {"packet_s": PACKET_S}, exact) for name, (given, exact) in TIMED.items()}
LISTED = ("burst", "down", "delays")


def laws_of(exact):
    """Return for each path what gives the law of its packets."""
    return [
        lambda at, i=i: path_law(at, loss=LOSS[i], **{k: v[i] if k in LISTED else v for k, v in exact.items()})
        for i in range(len(LOSS))
    ]


@pytest.mark.parametrize("name", [*KINDS, *TIMED])
@pytest.mark.parametrize("first_path", [0, 1, "any", "worst"])
def test_paths_in_turn_by_listing_all_losses(name, first_path):
    given, exact = (KINDS | TIMED)[name]
    losses = PathLosses(FLOATS["loss"], spread="in-turn", first_path=first_path, **given)
    path_laws, n = laws_of(exact), 7 if name in TIMED else 10
    starts = {"any": range(3), "worst": range(3)}.get(first_path, [first_path])
    each = [[in_turn(count, path_laws, range(3), start) for count in range(n + 1)] for start in starts]
    table = losses.failure_table(n, 5)
    if first_path == "worst":
        tails = [[[sum(p for lost, p in law.items() if lost > r) for r in range(6)] for law in laws] for laws in each]
        np.testing.assert_allclose(table, np.max(np.array(tails, float), axis=0), rtol=RTOL, atol=0)
    else:
        share = Fraction(1, len(each))
        agrees(table, [mean_law((share, law) for law in laws) for laws in zip(*each, strict=True)])


@pytest.mark.parametrize("burst", [None, Fraction(5)])
def test_weighted_turns_of_equal_paths_differ_by_which_path_comes_again(burst):
    """Turns a b a c of equal paths: from a the third packet is on the first one's path, from b it is not."""
    law = [lambda at: path_law(at, loss=LOSS[0], burst=burst)] * 3
    losses = PathLosses([0.1] * 3, spread="in-turn", weight=[2, 1, 1], burst_packets=burst and float(burst))
    assert losses.turns.tolist() == [0, 1, 2, 0]
    agrees(losses.failure_table(5, 3), [
        mean_law((Fraction(1, 4), in_turn(n, law, [0, 1, 2, 0], start)) for start in range(4)) for n in range(6)
    ])  # fmt: skip
    assert burst is None or losses.failure_table(3, 0)[3, 0] == pytest.approx(0.2395, abs=5e-5)


@pytest.mark.parametrize("name", ["independent", "runs", "down"])
def test_weighted_turns_by_listing_all_losses(name):
    """Smooth weighted round robin of 3, 1, 1 is a b a c a; any of its five turns may come first."""
    given, exact = KINDS[name]
    losses = PathLosses(FLOATS["loss"], spread="in-turn", weight=[6, 2, 2], **given)
    assert losses.turns.tolist() == [0, 1, 0, 2, 0]
    path_laws = laws_of(exact)
    agrees(losses.failure_table(8, 4), [
        mean_law((Fraction(1, 5), in_turn(n, path_laws, [0, 1, 0, 2, 0], start)) for start in range(5))
        for n in range(9)
    ])  # fmt: skip


@pytest.mark.parametrize("name", [*KINDS, "no delay", "a delay a packet"])
def test_random_paths_by_listing_paths_and_losses(name):
    given, exact = (KINDS | TIMED)[name]
    weights = fractions([0.5, 0.3, 0.2])
    losses = PathLosses(FLOATS["loss"], weight=[5, 3, 2], **given)
    agrees(losses.failure_table(5, 3), [at_random(n, laws_of(exact), weights) for n in range(6)])


@pytest.mark.parametrize("m", [2, 3, 4])
def test_equal_random_paths_share_one_computation(m):
    """Powers of one path's counts are those of the paths added one by one."""
    law = [lambda at: path_law(at, loss=LOSS[1], burst=BURST[1])] * m
    losses = PathLosses([0.25] * m, burst_packets=3)
    agrees(losses.failure_table(5, 3), [at_random(n, law, [Fraction(1, m)] * m) for n in range(6)])


@pytest.mark.parametrize("spread", ["in-turn", "random"])
@pytest.mark.parametrize(("m", "down"), [(5, 2), (4, 1), (3, 3), (4, 0)])
def test_some_paths_down_by_listing_them(m, down, spread):
    sets = [each for each in product((0, 1), repeat=m) if sum(each) == down]
    loss = Fraction(1, 10)

    def law(n):
        if spread == "random":
            return mean_law(
                (Fraction(1, len(sets) * m**n), unit_law(order, each))
                for chosen in sets
                for each in [[one(chosen[i]) for i in range(m)]]
                for order in product(range(m), repeat=n)
            )
        return mean_law((Fraction(1, len(sets)), in_turn(n, [one(d) for d in chosen], range(m), 0)) for chosen in sets)

    def one(is_down):
        return lambda at: {len(at): Fraction(1)} if is_down else path_law(at, loss=loss)

    most = 3 if spread == "random" else 9
    table = PathLosses([0.1] * m, spread=spread, down_paths=down).failure_table(most, most)
    agrees(table, [law(n) for n in range(most + 1)])


def test_a_run_in_time_is_the_chain_in_time():
    """Packets of a path leave m packet times apart; between them the chain relaxes with 1/t_bad + 1/t_good."""
    loss, bad_s, packet_s, m = 0.05, 40e-6, 5e-6, 3
    same = np.exp(-m * packet_s * (1 / bad_s + loss / (1 - loss) / bad_s))
    in_packets = PathLosses([loss] * m, spread="in-turn", burst_packets=1 / ((1 - loss) * (1 - same)))
    in_time = PathLosses([loss] * m, spread="in-turn", burst_s=bad_s, packet_s=packet_s)
    np.testing.assert_allclose(in_time.failure_table(20, 6), in_packets.failure_table(20, 6), rtol=RTOL)


probs = st.floats(0, 0.9)
path_probs = st.lists(probs, min_size=1, max_size=6)


def many_digits(lost, r):
    """Return P(more than r packets are lost), packet i with lost[i], in the digits that mpmath works with."""
    counts = [mpf(1)]
    for q in map(mpf, lost):
        counts = [a * (1 - q) + b * q for a, b in zip([*counts, 0], [0, *counts], strict=True)]
    return mp.fsum(counts[r + 1 :])


@pytest.mark.parametrize("r", [0, 3, 12, 30])
def test_far_tails_keep_their_digits(r):
    paths = [0.001] * 8 + [0.005] * 4 + [0.02] * 3 + [0.1]
    table = PathLosses(paths, spread="in-turn", first_path=0).failure_table(80, 30)
    runs_of_one = [1 / (1 - p) for p in paths]
    chains = PathLosses(paths, spread="in-turn", first_path=0, burst_packets=runs_of_one).failure_table(80, 30)
    random = PathLosses(paths, burst_packets=runs_of_one).failure_table(80, 30)
    with mp.workdps(60):
        for n in (r + 1, 60, 80):
            exact = float(many_digits([paths[i % 16] for i in range(n)], r))
            assert table[n, r] == pytest.approx(exact, rel=1e-12, abs=0)
            assert chains[n, r] == pytest.approx(exact, rel=1e-12, abs=0)
            mean = sum(map(mpf, paths)) / 16
            assert random[n, r] == pytest.approx(float(many_digits([mean] * n, r)), rel=1e-12, abs=0)
    if r == 30:
        assert table[60, r] < 1e-43


@given(path_probs, st.integers(1, 40), st.integers(0, 10))
def test_in_turn_is_the_poisson_binomial_law(paths, n, r):
    """SciPy's mass function; its survival function is a difference and has no digits in the tail."""
    table = PathLosses(paths, spread="in-turn", first_path=0).failure_table(n, r)
    law = stats.poisson_binom([paths[i % len(paths)] for i in range(n)])
    above = np.sum(np.maximum(law.pmf(np.arange(r + 1, n + 1)), 0.0))
    assert table[n, r] == pytest.approx(above, rel=1e-9, abs=1e-15)


@given(st.integers(1, 8), probs, st.integers(1, 40), st.integers(0, 10), st.sampled_from(["random", "in-turn"]))
def test_equal_paths_are_caps_equation_2(m, p, k, r, spread):
    table = PathLosses([p] * m, spread=spread).failure_table(k + r, r)
    assert table[k + r, r] == pytest.approx(decode_failure_prob(k, r=r, blocking_prob=p), rel=RTOL, abs=1e-300)


@given(path_probs, st.sampled_from(["random", "in-turn"]))
def test_shortest_runs_are_independent_losses(paths, spread):
    plain = PathLosses(paths, spread=spread)
    chains = replace(plain, burst_packets=[1 / (1 - p) for p in paths])
    np.testing.assert_allclose(chains.failure_table(12, 4), plain.failure_table(12, 4), rtol=1e-11, atol=1e-300)


@given(path_probs, st.sampled_from(["random", "in-turn"]))
def test_endless_runs_are_paths_that_are_down(paths, spread):
    down = PathLosses([0.0] * len(paths), spread=spread, down_prob=paths)
    endless = PathLosses(paths, spread=spread, burst_packets=1e15)
    np.testing.assert_allclose(endless.failure_table(12, 4), down.failure_table(12, 4), rtol=1e-9, atol=1e-12)


@given(path_probs)
def test_far_interleaving_makes_losses_independent(paths):
    plain = PathLosses(paths, spread="in-turn")
    far = replace(plain, burst_packets=10.0, interleave=10**6)
    np.testing.assert_allclose(far.failure_table(12, 4), plain.failure_table(12, 4), rtol=1e-11, atol=1e-300)


@given(path_probs, st.sampled_from(["path", "packet"]))
def test_a_late_deadline_leaves_the_losses_alone(paths, per):
    plain = PathLosses(paths, spread="in-turn")
    late = replace(plain, delay=Exponential(1e-5), delay_per=per, deadline_s=1.0, packet_s=1e-6)
    np.testing.assert_allclose(late.failure_table(12, 4), plain.failure_table(12, 4), rtol=1e-11, atol=1e-300)


@given(path_probs, st.integers(1, 12))
def test_fixed_delays_are_the_same_for_a_path_and_a_packet(paths, deadline):
    common = {"delay": [PathDelay(0.25 + i) for i in range(len(paths))], "packet_s": 1.0, "spread": "in-turn"}
    both = [PathLosses(paths, delay_per=per, deadline_s=deadline + 0.5, **common) for per in ("path", "packet")]
    np.testing.assert_allclose(*(losses.failure_table(12, 4) for losses in both), rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-6, 1e-9])
@pytest.mark.parametrize("per", ["path", "packet"])
def test_packets_that_end_exactly_at_the_deadline_are_in_time(unit, per):
    """In whole microseconds and nanoseconds, of which few are whole in float64; one unit less is too late."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        n, packet, delay, decode = rng.integers([1, 1, 0, 0], [90, 2000, 90_000, 3000]).tolist()
        common = {"delay": PathDelay(delay * unit), "packet_s": packet * unit, "codec_s": decode * unit}
        for time in (n * packet + delay + decode, n * packet + delay + decode - 1):
            if time - decode < packet + delay:
                continue
            losses = PathLosses([0.0], spread="in-turn", deadline_s=time * unit, delay_per=per, **common)
            late = (time - decode - delay) // packet < n
            assert losses.failure_table(n, 0)[n, 0] == late, (n, packet, delay, decode)
            assert losses.draw(n, 1, 1).all() != late


@settings(max_examples=30)
@given(
    path_probs,
    st.sampled_from(["random", "in-turn"]),
    st.sampled_from([{}, {"burst_packets": 12.0}, {"down_prob": 0.1}]),
    st.sampled_from(["any", "worst"]),
)
def test_failure_falls_with_r_and_rises_with_k(paths, spread, kind, first_path):
    first_path = first_path if spread == "in-turn" else "any"
    table = PathLosses(paths, spread=spread, first_path=first_path, **kind).failure_table(20, 8)
    slack, before = 1 + 1e-12, np.zeros(9)
    for k in range(1, 12):
        fails = np.array([table[k + r, r] for r in range(9)])
        assert np.all(np.diff(fails) <= 1e-12 * fails[:-1])
        assert np.all(before <= fails * slack)
        before = fails


@pytest.mark.parametrize(("spread", "down"), [("random", 0), ("random", 2), ("in-turn", 0)])
def test_packets_that_are_lost_alike_have_one_loss(spread, down):
    losses = PathLosses([0.1] * 5, spread=spread, down_paths=down)
    assert losses.equal_loss == pytest.approx(1 - 0.9 * (1 - down / 5), rel=1e-14)
    assert PathLosses([0.1, 0.3], weight=[3, 1]).equal_loss == pytest.approx(0.15, rel=1e-14)
    for unlike in (
        PathLosses([0.1, 0.3], spread="in-turn"),
        PathLosses([0.1] * 5, spread=spread, deadline_s=1.0, packet_s=1e-3),
        replace(losses, spread="in-turn", down_paths=1),
        PathLosses([0.1, 0.1], burst_packets=3.0),
        PathLosses([0.1, 0.1], down_prob=0.1),
        PathLosses(1.0),
    ):
        assert unlike.equal_loss is None


def test_the_work_over_many_paths_is_told_before_it_is_done():
    """Of 60,000 unequal paths each may come first."""
    many = np.linspace(0.01, 0.05, 60_000)
    with pytest.raises(ParameterError, match=r"minutes over these 60000 paths, too long: .* one first path"):
        PathLosses(many, spread="in-turn", burst_packets=3.0).failure_table(80, 12)
    table = PathLosses(many, spread="in-turn", burst_packets=3.0, first_path=7).failure_table(80, 12)
    assert 0 < table[80, 12] < 1e-6
    blocked = PathLosses([0.0] * 2**16, spread="in-turn", down_paths=2**15).failure_table(20, 20)
    for n in (1, 20):
        law = stats.hypergeom(2**16, 2**15, n)
        exact = [np.sum(law.pmf(np.arange(r + 1, n + 1))) for r in range(21)]
        np.testing.assert_allclose(blocked[n], exact, rtol=1e-10, atol=1e-300)


def test_numpy_and_machine_code_give_the_same(monkeypatch):
    kinds = [PathLosses([0.01, 0.2, 0.05], spread="in-turn", burst_packets=burst) for burst in (None, 4.0)]
    both = []
    for most in (2**60, 0):
        monkeypatch.setattr(_loss_table, "_BY_NUMPY", most)
        both.append([losses.failure_table(30, 12) for losses in kinds])
    np.testing.assert_array_equal(both[0][0], both[1][0])  # the same operations in the same order
    np.testing.assert_allclose(both[1][1], both[0][1], rtol=1e-13, atol=0)


def test_the_mean_loss_counts_paths_by_weight_and_those_that_are_down():
    assert PathLosses([0.1, 0.3], weight=[3, 1]).mean_loss == pytest.approx(0.15)
    assert PathLosses([0.1, 0.3], weight=[1e308, 1e308]).mean_loss == pytest.approx(0.2)
    assert PathLosses([0.1, 0.3], down_prob=[0, 0.5]).mean_loss == pytest.approx((0.1 + 0.65) / 2)
    assert PathLosses([0.1] * 4, down_paths=1).mean_loss == pytest.approx(0.25 + 0.075)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: PathLosses([0.1, 1.2]), "blocking_prob = 1.2, but a probability lies in"),
        (lambda: PathLosses(np.full(MOST_PATHS + 1, 0.1)), "65537 paths"),
        (lambda: PathLosses([0.1], burst_packets=1.05), "runs of 1.11111"),
        (lambda: PathLosses([1.0], burst_packets=3), "loses all packets"),
        (lambda: PathLosses([0.1], burst_packets=3, burst_s=1e-6), "exclude each other"),
        (lambda: PathLosses([0.1], burst_s=1e-6), "paths must take turns"),
        (lambda: PathLosses([0.1], burst_s=1e-6, spread="in-turn"), "give packet_s"),
        (lambda: PathLosses([0.1], interleave=2), "without runs"),
        (lambda: PathLosses([0.1, 0.1], weight=[1, 2, 3]), "there are 2 paths"),
        (lambda: PathLosses([0.1, 0.1], weight=[1, 1.5], spread="in-turn"), "weight = 1.5"),
        (lambda: PathLosses([0.1, 0.1], weight=[1, 10**6], spread="in-turn"), "round them"),
        (lambda: PathLosses([0.1, 0.2], down_paths=1), "down_paths takes equal paths"),
        (lambda: PathLosses([0.1], down_paths=2), "there are 1 paths"),
        (lambda: PathLosses([0.1], deadline_s=1.0), "needs packet_s"),
        (lambda: PathLosses([0.1], deadline_s=1e-6, packet_s=2e-6), "give a later one"),
        (lambda: PathLosses([0.1], deadline_s=9, packet_s=2, delay=PathDelay(8)), "deadline_s = 9, but sending"),
        (lambda: PathLosses([0.1], deadline_s=9, packet_s=2, delay=PathDelay(1)), "share a delay is not computed"),
        (lambda: PathLosses([0.1], deadline_s=9, packet_s=2, burst_packets=9), "give spread = 'in-turn'"),
        (lambda: PathLosses([0.1], first_path=0), "first_path needs"),
        (lambda: PathLosses([0.1], spread="in-turn", first_path=3), "the paths are 0 to 0"),
        (lambda: PathLosses([0.1], burst_packets=3).failure_table(257, 3), "at most 256"),
        (lambda: PathLosses([0.1]).failure_table(10**6, 3), "too large a table"),
        (lambda: PathLosses([0.1]).failure_table(10, 2**15 + 1), "repair packets"),
        (lambda: PathLosses([0.1, 0.2], spread="in-turn", first_path="worst").draw(3, 1, 1), "depends on r"),
        (lambda: PathLosses([0.1], delay=5), "delay = 5, but it must have a survival"),
        (lambda: PathLosses([0.1, 0.1], delay=[PathDelay(1)] * 3), "delay has 3 entries"),
        (lambda: PathLosses("0.1"), "must be a number"),
        (lambda: PathLosses([[0.1]]), "give one number for each path"),
        (lambda: PathLosses([0.1], spread="both"), "spread = 'both'"),
        (lambda: PathLosses([0.1], down_prob=2), "down_prob = 2"),
        (lambda: PathLosses([0.1], down_prob=None), "down_prob is missing"),
        (lambda: PathLosses([0.1], weight=None), "weight is missing"),
        (lambda: PathDelay(1.0, queue=float("nan")), "queue = nan, but it must have a survival"),
    ],
)  # fmt: skip
def test_refusals(call, text):
    with pytest.raises(ParameterError, match=text):
        call()


def test_it_is_offered_by_the_package():
    names = {"PathLosses", "PathDelay", "read_paths", "decode_failure_prob_paths"}
    assert names <= set(capsmodel.__all__)
