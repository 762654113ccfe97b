"""Window delays against exact rationals; the optimum against exhaustive search, its edges and its published setting."""

import math
from fractions import Fraction
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsmodel.checks import ParameterError
from capsmodel.coding import _unit_search
from capsmodel.coding._unit_search import best_sizes, delay_table, log_tails_at, moved_to_least_proven
from capsmodel.coding.decoding import decode_prob, log_decode_failure_prob, log_decode_prob
from capsmodel.coding.optimal_unit import delay_curve, optimal_coding_unit
from capsmodel.coding.redundancy import repair_packets
from capsmodel.coding.unit_parameters import DEFAULT_OBJECTIVE, UnitParameters
from capsmodel.coding.window_delay import buffering_delay_s, uncoded_window_delay_s, window_delay_s

PAPER = {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}
PAPER_PROBS = [0.2, 0.25, 0.3, 0.35]
COST = "with_redundancy_cost"


def exact_delay(k, r, w, p, fabric):
    """Eq. 4 where k divides w, all in rationals."""
    short, long, size, rate = (Fraction(fabric[name]) for name in PAPER)
    # In whole numbers: to reduce each fraction takes most of the time.
    blocked, all_ = Fraction(p).as_integer_ratio()
    n, arrives = k + r, all_ - blocked
    ways = sum(math.comb(n, j) * blocked**j * arrives ** (n - j) for j in range(r + 1))
    window = Fraction(ways, all_**n) ** (w // k)
    return window * (short + Fraction(k - 1, 2) * 8 * size / rate) + (1 - window) * long


@pytest.mark.parametrize("k", [1, 2, 8, 32, 64])
@pytest.mark.parametrize("p", [1e-9, 0.01, 0.35, 0.9, 0.999])
def test_window_delay_against_exact_rationals(k, p):
    for r in {0, 3, 40, repair_packets(k, blocking_prob=min(p, 0.9))}:
        delay = window_delay_s(k, r=r, window_packets=64, blocking_prob=p, objective="eq4", **PAPER)
        assert delay == pytest.approx(float(exact_delay(k, r, 64, p, PAPER)), rel=1e-12, abs=0)


def test_window_delay_keeps_its_digits_when_late_packets_cost_a_million_times_more():
    fabric = PAPER | {"rtt_long_s": 100.0, "rtt_short_s": 1e-4}
    delay = window_delay_s(8, r=20, window_packets=64, blocking_prob=0.01, objective="eq4", **fabric)
    assert delay == pytest.approx(float(exact_delay(8, 20, 64, 0.01, fabric)), rel=1e-12, abs=0)


def test_repair_packets_of_eq_4_follow_the_ceiling_rule_unless_given():
    k, common = np.arange(1, 65), PAPER | {"window_packets": 64, "blocking_prob": 0.3, "objective": "eq4"}
    given_r = window_delay_s(k, r=repair_packets(k, blocking_prob=0.3), **common)
    np.testing.assert_array_equal(window_delay_s(k, **common), given_r)


@pytest.mark.parametrize("prob", [0, 0.2, 0.35, 0.95])
def test_by_default_every_function_has_one_objective(prob):
    """The least point of the curve, from either function, is the optimum that is printed."""
    common = PAPER | {"window_packets": 64, "blocking_prob": prob}
    best, curve = optimal_coding_unit(**common), delay_curve(**common)
    assert (curve.k[curve.delay_s.argmin()], curve.r[curve.delay_s.argmin()]) == (best.k, best.r)
    delay = window_delay_s(curve.k, **common)
    assert curve.k[delay.argmin()] == best.k
    np.testing.assert_allclose(delay, curve.delay_s, rtol=1e-12)
    assert window_delay_s(best.k, **common) == window_delay_s(best.k, r=best.r, **common) == best.delay_s
    assert best.objective == DEFAULT_OBJECTIVE


def test_units_that_are_paid_for_fit_the_window():
    common = PAPER | {"window_packets": 64, "blocking_prob": 0.2}
    with pytest.raises(ParameterError, match="k exceeds window_packets"):
        window_delay_s([1, 65], **common)
    assert window_delay_s(65, r=3, **common) > 0
    assert window_delay_s(65, objective="eq4", **common) > 0


def test_cost_and_whole_units_add_what_they_say():
    common = {"r": 4, "window_packets": 64, "blocking_prob": 0.2} | PAPER
    literal, paid = (window_delay_s(10, objective=name, **common) for name in ("eq4", COST))
    assert paid - literal == pytest.approx(4 * 6.4 * 12e-6, rel=1e-10)
    unit = decode_prob(10, r=4, blocking_prob=0.2)
    rounded = window_delay_s(10, objective=COST, whole_units=True, **common)
    expected = unit**7 * (1e-4 + 54e-6) + (1 - unit**7) * 3e-3 + 4 * 7 * 12e-6
    assert rounded == pytest.approx(expected, rel=1e-12)


def test_buffering_and_uncoded_delay():
    k = np.arange(1, 65)
    mean = [float(sum(Fraction((n - i) * 12_000, 10**9) for i in range(1, n + 1)) / n) for n in range(1, 65)]
    np.testing.assert_allclose(buffering_delay_s(k, packet_bytes=1500, rate_bps=1e9), mean, rtol=1e-15)
    q = 1 - Fraction(1e-9)
    exact = q**64 * Fraction(1e-4) + (1 - q**64) * Fraction(3e-3)
    uncoded = uncoded_window_delay_s(64, blocking_prob=1e-9, rtt_short_s=1e-4, rtt_long_s=3e-3)
    assert uncoded == pytest.approx(float(exact), rel=1e-14)
    # One packet in a unit without repair is no code.
    uncoded = uncoded_window_delay_s(64, blocking_prob=0.01, rtt_short_s=1e-4, rtt_long_s=3e-3)
    assert window_delay_s(1, r=0, window_packets=64, blocking_prob=0.01, **PAPER) == pytest.approx(uncoded, rel=1e-14)


def test_optimum_of_the_papers_setting():
    """The paper prints 29, 31, 33, 40; Eq. 4 does not give them, the cost of redundancy comes near."""
    literal = optimal_coding_unit(64, blocking_prob=PAPER_PROBS, objective="eq4", **PAPER)
    assert literal.k.tolist() == [61, 64, 61, 64]
    assert (literal.delay_s * 1e3).round(4).tolist() == [1.4289, 1.4722, 1.4969, 1.5498]
    beyond = optimal_coding_unit(64, blocking_prob=PAPER_PROBS, objective="eq4", max_k=300, **PAPER)
    assert beyond.k.tolist() == [101, 106, 110, 106]
    assert (beyond.delay_s * 1e3).round(4).tolist() == [1.3283, 1.3613, 1.3640, 1.3755]
    paid = optimal_coding_unit(64, blocking_prob=PAPER_PROBS, **PAPER)
    assert list(zip(paid.k, paid.r, strict=True)) == [(28, 15), (31, 20), (32, 25), (35, 32)]
    assert (paid.delay_s * 1e3).round(4).tolist() == [0.7155, 0.8212, 0.9357, 1.0621]
    assert list(zip(paid.near_k_min, paid.near_k_max, strict=True)) == [(22, 34), (24, 37), (27, 41), (28, 45)]
    assert (paid.uncoded_delay_s * 1e3).round(4).tolist() == [3.0] * 4
    printed = delay_curve(64, blocking_prob=PAPER_PROBS, **PAPER).delay_s[range(4), np.array([29, 31, 33, 40]) - 1]
    assert np.all(printed / paid.delay_s - 1 <= 0.0025)


probs = st.floats(0, 0.98)
fabrics = st.fixed_dictionaries(
    {
        "rtt_short_s": st.floats(1e-5, 1e-3),
        "packet_bytes": st.sampled_from([64, 1500, 9000]),
        "rate_bps": st.sampled_from([1e8, 1e9, 1e10, 1e11]),
    }
)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 40), probs, fabrics, st.floats(1, 300), st.booleans())
def test_no_pair_of_k_and_r_is_better(w, p, fabric, ratio, whole_units):
    """Exhaustive up to the bound: with s <= 1 the delay is at least RTT_S + c e r, and (1, 0) costs at most RTT_L."""
    common = fabric | {"window_packets": w, "blocking_prob": p, "rtt_long_s": ratio * fabric["rtt_short_s"]}
    best = optimal_coding_unit(**common, whole_units=whole_units)
    packet_s = 8 * fabric["packet_bytes"] / fabric["rate_bps"]
    # The slope in r is c w/k or more, at least c as k <= w.
    bound = min(int((common["rtt_long_s"] - fabric["rtt_short_s"]) / packet_s) + 1, 3000)
    r, k = np.arange(bound + 1), np.arange(1, w + 1)[:, None]
    every = window_delay_s(k, r=r, objective=COST, whole_units=whole_units, **common)
    assert best.delay_s == pytest.approx(every.min(), rel=1e-12)
    at_best = window_delay_s(best.k, r=best.r, objective=COST, whole_units=whole_units, **common)
    assert at_best == pytest.approx(every.min(), rel=1e-12)
    near = np.flatnonzero(every.min(axis=1) <= 1.01 * every.min()) + 1
    assert (best.near_k_min, best.near_k_max) == (near[0], near[-1])


@pytest.mark.parametrize("whole_units", [False, True])
@pytest.mark.parametrize(("w", "long", "rate_bps"), [(24, 3e-3, 1e9), (49, 4e-4, 7e8), (10, 8e-4, 3e8), (3, 7e-4, 2e8)])
def test_every_k_has_its_best_r(w, long, rate_bps, whole_units):
    """Where packets take long to send the best r of the next k is often lower."""
    p = np.concatenate([np.linspace(0, 0.98, 30), np.linspace(0.01, 0.05, 10), [1e-9, 1e-6, 1e-3]])
    common = {"rtt_short_s": 2e-5, "rtt_long_s": long, "packet_bytes": 1500, "rate_bps": rate_bps, "window_packets": w}
    curve = delay_curve(blocking_prob=p, whole_units=whole_units, **common)
    k, r = np.arange(1, w + 1)[:, None], np.arange(260)
    every = window_delay_s(k, r=r, blocking_prob=p[:, None, None], objective=COST, whole_units=whole_units, **common)
    np.testing.assert_allclose(curve.delay_s, every.min(axis=2), rtol=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 150), probs, fabrics, st.floats(1, 300), st.booleans())
def test_no_k_is_better_in_eq4(w, p, fabric, ratio, whole_units):
    common = fabric | {"window_packets": w, "blocking_prob": p, "rtt_long_s": ratio * fabric["rtt_short_s"]}
    best = optimal_coding_unit(**common, objective="eq4", whole_units=whole_units)
    every = window_delay_s(np.arange(1, w + 1), objective="eq4", whole_units=whole_units, **common)
    assert best.delay_s == pytest.approx(every.min(), rel=1e-12)
    assert best.r == repair_packets(best.k, blocking_prob=p)
    assert best.decode_prob == decode_prob(best.k, r=best.r, blocking_prob=p)


@given(st.integers(1, 200), st.floats(1e-6, 0.99), st.floats(1, 200))
def test_gains_per_repair_packet_are_log_concave(k, p, units):
    """D(r) = F(r)^e - F(r-1)^e, the claim on which the search rests, through logarithms of the exact F."""
    mean, sd = k * p / (1 - p), math.sqrt(k * p) / (1 - p)
    r = np.arange(max(0, int(mean - 3 * sd)), int(mean + 4 * sd) + 4)
    failed = log_decode_failure_prob(k, r=r, blocking_prob=p)
    window = -np.expm1(units * np.log1p(-np.exp(failed)))  # 1 - s(r)
    gain = window[:-1] - window[1:]
    exact = (gain > 1e-6 * window[1:]) & (gain > 1e-9)  # elsewhere the difference has lost its digits
    for i in np.flatnonzero(exact[:-2] & exact[1:-1] & exact[2:]):
        assert gain[i + 1] ** 2 >= gain[i] * gain[i + 2] * (1 - 1e-5)


@pytest.mark.parametrize("objective", ["eq4", COST])
def test_the_recurrence_ranks_with_twelve_digits(objective):
    """The recurrence against direct evaluation of its own (k, r); it restarts within the range."""
    common = PAPER | {"packet_bytes": 15, "window_packets": 300, "objective": objective, "whole_units": False}
    common["blocking_prob"] = np.array([1e-9, 1e-3, 0.1, 0.35, 0.6, 0.75, 0.9])
    delays, r = delay_table(UnitParameters.checked(**common))
    direct = window_delay_s(np.arange(1, 301)[:, None], r=r, **common)
    np.testing.assert_allclose(delays, direct, rtol=1e-12)


@pytest.mark.parametrize("objective", ["eq4", COST])
def test_steps_and_direct_search_find_the_same(objective, monkeypatch):
    """Both sides of the probability above which each size is evaluated by itself, and each in place of the other."""
    common = PAPER | {"window_packets": 64, "objective": objective, "whole_units": False}
    parameters = UnitParameters.checked(blocking_prob=[0.3, 0.9, 0.99, np.nextafter(0.99, 1), 0.995], **common)
    for_all = []
    for largest_stepwise in (0.0, 0.99, 1.0):
        monkeypatch.setattr(_unit_search, "STEPWISE_PROB", largest_stepwise)
        monkeypatch.setattr(_unit_search, "_RUN_BY_PYTHON", 10**9)  # compiled code keeps its constants
        for_all.append(best_sizes(parameters, near=0.01))
    np.testing.assert_array_equal(for_all[0], for_all[1])
    np.testing.assert_array_equal(for_all[0], for_all[2])


def test_units_that_fail_for_certain_raise_no_warning():
    """Without repair packets 0.51**144 of the units decode: the recurrence reaches a failure probability of 1."""
    setting = {"blocking_prob": 0.49, "rtt_short_s": 1e-5, "rtt_long_s": 1e-5, "packet_bytes": 9000, "rate_bps": 1e10}
    both = delay_curve([1, 144], **setting)
    np.testing.assert_array_equal(both.delay_s[1], delay_curve(144, **setting).delay_s)
    assert np.isfinite(both.delay_s[1]).all()


def test_the_bits_do_not_depend_on_the_number_of_points(monkeypatch):
    """By Python, and compiled in several parts; tails down to where only logarithms are left."""
    rng = np.random.default_rng(3)
    w, p, rates = rng.integers(1, 200, 600), rng.uniform(0, 0.999, 600), 10 ** rng.uniform(8, 11.6, 600)
    fabric = {"rtt_short_s": 1e-4, "rtt_long_s": rng.uniform(1e-4, 5e-3, 600), "packet_bytes": 1500}
    r = np.floor(rng.uniform(0, 3, 600) * w * p / (1 - p))
    monkeypatch.setattr(_unit_search, "_CHUNK", 15_000)
    both = []
    for most in (10**9, 0):
        monkeypatch.setattr(_unit_search, "_RUN_BY_PYTHON", most)
        found = [optimal_coding_unit(w, blocking_prob=p, rate_bps=rates, objective=o, **fabric) for o in ("eq4", COST)]
        both.append([value for each in found for value in vars(each).values() if isinstance(value, np.ndarray)])
        both[-1] += [log_decode_prob(w, r=r, blocking_prob=p), log_decode_failure_prob(w, r=r, blocking_prob=p)]
    for by_python, compiled in zip(*both, strict=True):
        np.testing.assert_array_equal(by_python, compiled)
    assert [log_tails_at(*point)[1] for point in zip(w.tolist(), r.tolist(), p.tolist(), strict=True)] == [*both[0][-1]]


def wrong_points():
    """Windows of which one point by itself once had another answer than many."""
    fabric = {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500}
    least = [(1400, 0.88), (2000, 0.7), (2400, 0.6), (2500, 0.65), (4000, 0.5), (5000, 0.4), (8000, 0.3)]
    rates = cycle([1e10, 1e11, 4e11])
    return [(w, fabric | {"blocking_prob": p, "rate_bps": next(rates)}) for w, p in least]


@pytest.mark.parametrize(("w", "setting"), wrong_points())
def test_large_windows_of_lossy_paths(w, setting):
    best, curve = optimal_coding_unit(w, **setting), delay_curve(w, **setting)
    assert best.delay_s == curve.delay_s.min()
    assert (best.k, best.r) == (curve.k[curve.delay_s.argmin()], curve.r[curve.delay_s.argmin()])


def test_a_window_of_2500_packets_at_100_gbps():
    best = optimal_coding_unit(2500, blocking_prob=0.65, **(PAPER | {"rate_bps": 1e11}))
    assert (best.k, best.r, best.near_k_min, best.near_k_max) == (806, 1708, 504, 1252)
    assert best.delay_s == pytest.approx(0.7917454e-3, rel=1e-7)


@settings(deadline=None, max_examples=40)
@given(
    st.floats(1, 4000),
    st.one_of(st.floats(0, 0.99), st.sampled_from([0.5, 0.99])),
    st.floats(1e8, 4e11),
    st.sampled_from([64, 1500, 9000]),
    st.floats(1, 300),
    st.sampled_from(["eq4", COST]),
    st.booleans(),
)
def test_one_point_is_many_points_and_exhaustive_search(w, p, rate_bps, packet_bytes, ratio, objective, whole_units):
    """The delay of every size, its r found by halving and not in steps; of some sizes, of every r."""
    common = {"window_packets": w, "blocking_prob": p, "packet_bytes": packet_bytes, "rate_bps": rate_bps}
    common |= {"rtt_short_s": 2e-5, "rtt_long_s": 2e-5 * ratio, "objective": objective, "whole_units": whole_units}
    best = optimal_coding_unit(**common)
    k = np.arange(1, int(w) + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_unit_search, "_RUN_BY_PYTHON", 0)  # what is compiled has the same bits
        many = optimal_coding_unit(**(common | {"window_packets": [w] * 3}))
        every, curve = window_delay_s(k, **common), delay_curve(**common)
    for name, value in vars(best).items():
        assert np.all(getattr(many, name) == value), name
    np.testing.assert_allclose(curve.delay_s, every, rtol=1e-12)
    assert best.delay_s == pytest.approx(every.min(), rel=1e-12)
    assert window_delay_s(best.k, **common) == pytest.approx(every.min(), rel=1e-12)
    near = np.flatnonzero(every <= 1.01 * every.min()) + 1
    assert (best.near_k_min, best.near_k_max) == (near[0], near[-1])
    if objective == COST:
        some = np.unique([1, best.k, int(w) // 3 + 1, int(w)])
        most_r = min((2e-5 * ratio - 2e-5) * rate_bps / (8 * packet_bytes), 4 * w * p / (1 - p) + 300, 5_000)
        some = some[curve.r[some - 1] < most_r]
        of_every_r = window_delay_s(some[:, None], r=np.arange(int(most_r) + 2), **common)
        np.testing.assert_allclose(every[some - 1], of_every_r.min(axis=1), rtol=1e-12)


@given(st.integers(1, 3000), st.integers(1, 400), st.floats(1e-6, 0.99), st.floats(0, 1e9), st.floats(1, 4000))
def test_least_proven_r_from_below_and_from_above(k, start, p, gain, units):
    """From any r whose mass is known the steps end at one place, though windows of many packets never decode."""
    ends = set()
    for r in (0.0, float(start)):
        mass, failure = _unit_search.mass_and_failure(k, r, p)
        if mass > 1e-290:
            ends.add(moved_to_least_proven(k, r, mass, failure, p, units, gain)[0])
    ends.add(_unit_search.least_proven(float(k), p, units, gain))
    assert len(ends) == 1


def test_sizes_without_anything_to_gain_are_not_needed():
    """Where the wait for a unit exceeds what decoding saves, no r is worth its cost: the search ends there."""
    rng = np.random.default_rng(8)
    gain_s = 1e-4 * 10 ** rng.uniform(-3, 2, 2000)
    gain_packets = 10 ** rng.uniform(0, 2.2, 2000)
    common = {"blocking_prob": 10 ** rng.uniform(-4, -0.01, 2000), "rtt_short_s": 1e-4, "rtt_long_s": 1e-4 + gain_s}
    common |= {"packet_bytes": 1500, "rate_bps": 12_000 * gain_packets / gain_s}
    best, curve = optimal_coding_unit(150, **common), delay_curve(150, **common)
    index = curve.delay_s.argmin(axis=1)
    np.testing.assert_array_equal(best.k, curve.k[index])
    np.testing.assert_array_equal(best.r, curve.r[np.arange(2000), index])
    near = curve.delay_s <= 1.01 * curve.delay_s.min(axis=1, keepdims=True)
    np.testing.assert_array_equal(best.near_k_min, near.argmax(axis=1) + 1)
    np.testing.assert_array_equal(best.near_k_max, 150 - near[:, ::-1].argmax(axis=1))


def test_everything_broadcasts():
    best = optimal_coding_unit(
        np.array([8, 64])[:, None, None],
        blocking_prob=np.array(PAPER_PROBS)[:, None],
        rtt_short_s=1e-4,
        rtt_long_s=[3e-3, 5e-3, 1e-2],
        packet_bytes=1500,
        rate_bps=1e9,
    )
    assert best.k.shape == best.r.shape == best.delay_s.shape == best.uncoded_delay_s.shape == (2, 4, 3)
    assert best.near_k_min.shape == best.decode_prob.shape == (2, 4, 3)
    assert np.all(best.k[0] <= 8)
    assert best.k[1, :, 0].tolist() == [28, 31, 32, 35]
    curve = delay_curve([8, 64], blocking_prob=0.2, **PAPER)
    assert curve.delay_s.shape == curve.r.shape == (2, 64)
    assert np.isinf(curve.delay_s[0, 8:]).all()
    assert np.isfinite(curve.delay_s[0, :8]).all()


def test_scalars_and_empty_arrays():
    best = optimal_coding_unit(64, blocking_prob=0.2, **PAPER)
    assert isinstance(best.k, int)
    assert isinstance(best.delay_s, float)
    assert optimal_coding_unit(64, blocking_prob=[], **PAPER).k.shape == (0,)
    assert window_delay_s([], window_packets=64, blocking_prob=0.2, **PAPER).shape == (0,)


@pytest.mark.parametrize("objective", ["eq4", COST])
def test_limits(objective):
    common = PAPER | {"objective": objective}
    unblocked = optimal_coding_unit(64, blocking_prob=0, **common)
    assert (unblocked.k, unblocked.r, unblocked.delay_s, unblocked.decode_prob) == (1, 0, 1e-4, 1.0)
    single = optimal_coding_unit(1, blocking_prob=0.2, **common)
    assert (single.k, single.near_k_min, single.near_k_max) == (1, 1, 1)
    # Nothing to gain where all paths are equally fast.
    level = optimal_coding_unit(64, blocking_prob=0.2, **(common | {"rtt_long_s": 1e-4}))
    assert level.k == 1
    assert optimal_coding_unit(64, blocking_prob=0.2, max_k=10, **common).k <= 10
    assert optimal_coding_unit(64.7, blocking_prob=0.35, **common).k <= 64


def test_redundancy_that_costs_more_than_it_gains():
    """3 ms hold 250 packets at 1 Gbps: a window of 2000 packets cannot be protected, so none is."""
    best = optimal_coding_unit(2000, blocking_prob=0.3, **PAPER)
    assert (best.k, best.r) == (1, 0)
    assert best.delay_s == pytest.approx(best.uncoded_delay_s, rel=1e-14)


def test_large_windows():
    fabric = PAPER | {"rate_bps": 1e12}
    best = optimal_coding_unit(1000, blocking_prob=0.2, **fabric)
    k, r = np.arange(1, 1001)[:, None], np.arange(0, 500)
    every = window_delay_s(k, r=r, window_packets=1000, blocking_prob=0.2, objective=COST, **fabric)
    assert best.delay_s == pytest.approx(every.min(), rel=1e-12)


def test_bad_input_is_refused_with_its_value(subtests):
    cases = [
        ({"rtt_long_s": 5e-5}, "rtt_long_s = 5e-05 is below rtt_short_s = 0.0001"),
        ({"rtt_short_s": 0}, "rtt_short_s = 0"),
        ({"window_packets": 0.5}, "window_packets = 0.5"),
        ({"blocking_prob": 1}, "blocking_prob = 1"),
        ({"blocking_prob": math.nan}, "blocking_prob = nan"),
        ({"rate_bps": math.inf}, "rate_bps = inf"),
        ({"packet_bytes": -1}, "packet_bytes = -1"),
        ({"objective": "best"}, "objective = 'best'"),
        ({"max_k": 0}, "max_k = 0"),
        ({"max_k": 65}, "max_k exceeds window_packets"),
    ]
    for change, text in cases:
        with subtests.test(change=change, text=text):
            arguments = PAPER | {"window_packets": 64, "blocking_prob": 0.2} | change
            for search in (optimal_coding_unit, delay_curve):
                with pytest.raises(ParameterError, match=text):
                    search(**arguments)


def test_a_curve_needs_a_point():
    with pytest.raises(ParameterError, match="at least one"):
        delay_curve(64, blocking_prob=[], **PAPER)


def test_one_point_in_an_array_is_compiled_as_many_are(monkeypatch):
    """What reaches Numba is no view of a broadcast array, of which NumPy warns."""
    monkeypatch.setattr(_unit_search, "_RUN_BY_PYTHON", 0)
    common = PAPER | {"window_packets": 32}
    one = optimal_coding_unit(blocking_prob=[0.2], **common)
    assert one.k.tolist() == [optimal_coding_unit(blocking_prob=0.2, **common).k]
