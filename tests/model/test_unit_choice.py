"""Sizes of unit over unequal paths: the least r, the corners and the best unit, against a search of all k and r."""

from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsmodel import (
    ParameterError,
    PathLosses,
    decode_failure_prob,
    full_rank_prob,
    measured_failure_prob,
    optimal_coding_unit,
    read_paths,
    repair_packets_for,
    unit_corners,
    unit_failure_prob,
    window_delay_s,
)
from capsmodel.coding.redundancy import repair_packets
from capsmodel.coding.window_delay import uncoded_window_delay_s

FABRIC = {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}
UNEQUAL = [0.001] * 4 + [0.02, 0.1]
losses_drawn = st.builds(
    PathLosses,
    st.lists(st.floats(0.001, 0.1), min_size=1, max_size=5),
    spread=st.sampled_from(["random", "in-turn"]),
    burst_packets=st.sampled_from([None, 3.0]),
)


def by_trying(losses, sizes, failure_prob):
    """Return the least r of each size, each beside all others."""
    r = np.arange(60)
    fails = unit_failure_prob(np.array(sizes)[:, None], r=r, losses=losses) <= failure_prob * (1 + 1e-12)
    assert fails.any(axis=1).all()
    return [int(r[row].min()) for row in fails]


@settings(max_examples=25)
@given(losses_drawn, st.integers(1, 12), st.sampled_from([1e-2, 1e-4]))
def test_the_least_r_is_found_by_trying(losses, k, failure_prob):
    assert repair_packets_for(k, losses=losses, failure_prob=failure_prob) == by_trying(losses, [k], failure_prob)[0]


@given(st.integers(1, 300), st.floats(1e-6, 0.6), st.floats(1e-15, 0.9))
def test_over_equal_paths_it_is_the_inverse_of_caps_equation_2(k, p, failure_prob):
    r = repair_packets_for(k, blocking_prob=p, failure_prob=failure_prob)
    assert decode_failure_prob(k, r=r, blocking_prob=p) <= failure_prob * (1 + 2e-12)
    assert r == 0 or decode_failure_prob(k, r=r - 1, blocking_prob=p) > failure_prob
    if k <= 60:
        assert repair_packets_for(k, losses=p, failure_prob=failure_prob) == r


def test_a_target_and_its_complement_ask_for_the_same():
    for k, p in [(10, 0.1), (64, 0.01175), (200, 0.3)]:
        assert repair_packets_for(k, blocking_prob=p, target_prob=0.999) == repair_packets_for(
            k, blocking_prob=p, failure_prob=1 - 0.999
        )
    assert repair_packets_for(1, blocking_prob=0.5, failure_prob=0.25) == 1  # met exactly


def test_failures_beyond_what_a_target_can_say():
    many = repair_packets_for([64, 64], blocking_prob=0.01175, failure_prob=[1e-6, 1e-60])
    p = Fraction(1175, 100_000)

    def fails(r):
        return sum(comb(64 + r, lost) * p**lost * (1 - p) ** (64 + r - lost) for lost in range(r + 1, 64 + r + 1))

    assert many[0] == 8
    assert fails(int(many[1])) <= Fraction(1, 10**60) < fails(int(many[1]) - 1)


@settings(max_examples=15)
@given(losses_drawn, st.sampled_from([1e-2, 1e-4]))
def test_corners_are_the_largest_k_of_each_r(losses, failure_prob):
    corners = unit_corners(losses, failure_prob=failure_prob, max_k=12)
    least = by_trying(losses, range(1, 13), failure_prob)
    largest = {r: max(k for k, found in enumerate(least, 1) if found == r) for r in least}
    assert dict(zip(corners.r.tolist(), corners.k.tolist(), strict=True)) == largest
    best = corners.share[corners.best]
    assert best == min(r / (k + r) for k, r in enumerate(least, 1))
    exact = unit_failure_prob(corners.k, r=corners.r, losses=losses)
    np.testing.assert_allclose(corners.failure_prob, exact, rtol=1e-12)
    assert np.all(corners.worst_failure_prob >= corners.failure_prob * (1 - 1e-12))


def test_the_worst_first_path_needs_more():
    paths = PathLosses([0.001] * 8 + [0.005] * 4 + [0.02] * 3 + [0.1], spread="in-turn")
    needed = {
        name: repair_packets_for(64, losses=losses, failure_prob=1e-6)
        for name, losses in {
            "any": paths, "worst": replace(paths, first_path="worst"), "random": replace(paths, spread="random")
        }.items()
    }  # fmt: skip
    assert needed == {"any": 7, "worst": 8, "random": 8}


@pytest.mark.parametrize("objective", ["eq4", "with_redundancy_cost"])
@settings(max_examples=30)
@given(
    st.integers(1, 64), st.floats(0.001, 0.5), st.floats(1e8, 1e11), st.floats(1.01, 60), st.booleans()
)  # fmt: skip
def test_the_table_finds_what_the_fast_search_finds(objective, window, p, rate_bps, ratio, whole_units):
    """Equal, independent losses: all k and r of the table beside the proven search."""
    setting = FABRIC | {"rtt_long_s": 1e-4 * ratio, "rate_bps": rate_bps, "objective": objective}
    setting["whole_units"] = whole_units
    fast = optimal_coding_unit(window, blocking_prob=p, **setting)
    table = optimal_coding_unit(window, losses=PathLosses(p), **setting)
    for name in ("delay_s", "uncoded_delay_s"):
        assert getattr(table, name) == pytest.approx(getattr(fast, name), rel=1e-12)
    if (table.k, table.r) != (fast.k, fast.r):  # two sizes whose delays are the same to rounding
        delays = [
            window_delay_s(found.k, r=found.r, window_packets=window, blocking_prob=p, **setting)
            for found in (table, fast)
        ]
        assert delays[0] == pytest.approx(delays[1], rel=1e-12)
    else:
        assert table.failure_prob == pytest.approx(fast.failure_prob, rel=1e-11, abs=1e-300)
        assert table.decode_prob == pytest.approx(fast.decode_prob, rel=1e-11)


def test_the_best_unit_over_unequal_paths_is_found_by_trying():
    losses = PathLosses(UNEQUAL, spread="in-turn", burst_packets=2.5)
    best = optimal_coding_unit(24, losses=losses, **FABRIC)

    fails = unit_failure_prob(np.arange(1, 25)[:, None], r=np.arange(60), losses=losses)

    def delay_s(k, r):
        """Caps Eq. 4 with the cost of repair packets, for a unit that fails as the table says."""
        decodes = (1 - fails[k - 1, r]) ** (24 / k)
        short = FABRIC["rtt_short_s"] + (k - 1) / 2 * 12e-6
        return decodes * short + (1 - decodes) * FABRIC["rtt_long_s"] + r * 24 / k * 12e-6

    tried = {(k, r): delay_s(k, r) for k in range(1, 25) for r in range(60)}
    least = min(tried, key=tried.get)
    assert (best.k, best.r) == least
    assert best.delay_s == pytest.approx(tried[least], rel=1e-12)
    near = [k for k in range(1, 25) if min(tried[k, r] for r in range(60)) <= 1.01 * tried[least]]
    assert (best.near_k_min, best.near_k_max) == (near[0], near[-1])
    lost = unit_failure_prob(24, r=0, losses=losses)
    assert best.uncoded_delay_s == pytest.approx(lost * 3e-3 + (1 - lost) * 1e-4, rel=1e-12)
    assert best.failure_prob == pytest.approx(fails[best.k - 1, best.r], rel=1e-12)


def test_a_measured_code_without_failures_is_one_that_any_k_packets_decode(subtests):
    cases = [0.1, PathLosses(UNEQUAL, spread="in-turn"), PathLosses(0.05, burst_packets=4.0)]
    for losses in cases:
        with subtests.test(losses=losses):
            for k, r in ((1, 0), (5, 3), (12, 9)):
                found = measured_failure_prob(k, r=r, losses=losses, undecoded_prob=np.zeros(r + 1))
                assert found == pytest.approx(unit_failure_prob(k, r=r, losses=losses), rel=1e-14)
                assert measured_failure_prob(k, r=r, losses=losses, undecoded_prob=np.ones(r + 1)) == pytest.approx(
                    1, rel=1e-12
                )


def test_a_measured_code_of_dense_packets_is_that_of_the_formula():
    losses, k, r = PathLosses(UNEQUAL, spread="in-turn"), 5, 4
    lacks = [1 - float(full_rank_prob(k, received=k + extra)) for extra in range(r + 1)]
    found = measured_failure_prob(k, r=r, losses=losses, undecoded_prob=lacks)
    assert found == pytest.approx(unit_failure_prob(k, r=r, losses=losses, code="rlnc"), rel=1e-9)


def test_eq4_keeps_the_ceiling_rule_of_the_mean_loss():
    losses = PathLosses(UNEQUAL, spread="in-turn")
    best = optimal_coding_unit(24, losses=losses, objective="eq4", **FABRIC)
    assert best.r == repair_packets(best.k, blocking_prob=losses.mean_loss)


def test_caps_own_paths_in_turn_never_fail():
    """8 of 40 paths blocked: 32 + 8 packets on 40 different paths lose exactly 8."""
    in_turn = PathLosses([0.0] * 40, spread="in-turn", down_paths=8)
    best = optimal_coding_unit(64, losses=in_turn, **FABRIC)
    assert (best.k, best.r, best.failure_prob) == (32, 8, 0.0)
    assert best.delay_s == pytest.approx(478e-6, rel=1e-12)
    at_random = optimal_coding_unit(64, losses=replace(in_turn, spread="random"), **FABRIC)
    assert at_random.delay_s == pytest.approx(715.5e-6, abs=5e-8)
    window = {"window_packets": 64, "blocking_prob": 0.2}
    assert at_random.delay_s == pytest.approx(window_delay_s(28, r=15, **window, **FABRIC), rel=1e-12)
    times = {name: FABRIC[name] for name in ("rtt_short_s", "rtt_long_s")}
    assert at_random.uncoded_delay_s == pytest.approx(uncoded_window_delay_s(64, blocking_prob=0.2, **times), rel=1e-12)


@pytest.mark.agreement
def test_a_window_of_a_hundred_thousand_packets_needs_no_table():
    """The corners and the best unit of one binomial law; 1166 repair packets are those of its inverse."""
    assert repair_packets_for(10**5, losses=0.01, failure_prob=1e-6) == 1166
    corners = unit_corners(0.01, failure_prob=1e-6, max_k=10**5)
    for k, r in zip(corners.k.tolist()[:-1:97], corners.r.tolist()[:-1:97], strict=True):
        fails = decode_failure_prob([k, k + 1], r=r, blocking_prob=0.01)
        assert fails[0] <= 1e-6 * (1 + 2e-12) < fails[1]
    losses = PathLosses([0.01, 0.011])
    ways = ({"losses": losses}, {"blocking_prob": losses.mean_loss})
    for form in ({"objective": "overhead", "failure_prob": 1e-6}, FABRIC):
        over_paths, plain = (optimal_coding_unit(1e5, **form, **way) for way in ways)
        assert (over_paths.k, over_paths.r, over_paths.failure_prob) == (plain.k, plain.r, plain.failure_prob)
        fails = decode_failure_prob(plain.k, r=plain.r, blocking_prob=losses.mean_loss)
        assert plain.failure_prob == pytest.approx(fails, rel=1e-12)


@pytest.mark.parametrize("code", ["rs", "rlnc"])
@settings(max_examples=10)
@given(st.integers(1, 40), st.floats(1e-4, 0.5), st.sampled_from([1e-2, 1e-6]))
def test_corners_of_a_binomial_law_are_those_of_its_table(code, max_k, p, failure_prob):
    """A deadline that no packet misses asks for the table."""
    common = {"failure_prob": failure_prob, "max_k": max_k, "code": code}
    plain = unit_corners(p, **common)
    table = unit_corners(PathLosses(p, deadline_s=1.0, packet_s=1e-9), **common)
    assert (plain.r.tolist(), plain.k.tolist()) == (table.r.tolist(), table.k.tolist())
    assert plain.failure_prob == pytest.approx(table.failure_prob, rel=1e-11)


def test_packets_up_to_the_deadline_are_all_of_use():
    """One packet a second for 40 s, each lost with 0.6: r = 35 of 40 still helps, and no 41st."""
    losses = PathLosses(0.6, deadline_s=40, packet_s=1)
    table = losses.failure_table(60, 55)
    r = repair_packets_for(5, losses=losses, failure_prob=table[40, 35] * (1 + 1e-9))
    assert r == 35
    with pytest.raises(ParameterError, match="misses the deadline"):
        repair_packets_for(5, losses=losses, failure_prob=table[40, 35] * (1 - 1e-9))


def test_corners_are_limited_where_a_larger_unit_would_do():
    assert unit_corners(0.01, failure_prob=1e-6, max_k=64).limited
    late = PathLosses(0.01, deadline_s=30, packet_s=1)
    assert not unit_corners(late, failure_prob=1e-6, max_k=64).limited
    assert unit_corners(late, failure_prob=1e-6, max_k=20).limited


def test_least_overhead_is_a_corner_and_needs_no_times():
    best = optimal_coding_unit(128, losses=PathLosses(UNEQUAL), objective="overhead", failure_prob=1e-6)
    corners = unit_corners(PathLosses(UNEQUAL), failure_prob=1e-6, max_k=128)
    assert (best.k, best.r) == (corners.k[corners.best], corners.r[corners.best])
    assert np.isnan(best.delay_s)
    timed = optimal_coding_unit(128, losses=PathLosses(UNEQUAL), objective="overhead", failure_prob=1e-6, **FABRIC)
    assert (timed.k, timed.r) == (best.k, best.r)
    assert 1e-4 < timed.delay_s < timed.uncoded_delay_s


EQUAL, TWO = PathLosses(0.1), {"losses": PathLosses(0.1), "blocking_prob": 0.1}
MAY_BE_DOWN, IN_TIME = PathLosses([0, 0], down_prob=0.1), PathLosses(0.1, deadline_s=12, packet_s=1)


def test_refusals(subtests):
    cases = [
        (lambda: repair_packets_for(9, failure_prob=0.1), "blocking_prob and losses"),
        (lambda: repair_packets_for(9, failure_prob=0.1, **TWO), "exactly one of the two"),
        (lambda: repair_packets_for(9, losses=0.1), "target_prob and failure_prob"),
        (
            lambda: repair_packets_for(9, losses=0.1, failure_prob=0.1, target_prob=0.9),
            "target_prob and failure_prob: the one",
        ),
        (lambda: repair_packets_for(9, losses=0.1, failure_prob=0), "no code never fails"),
        (lambda: repair_packets_for(9, blocking_prob=0.1, failure_prob=[0.1, 0]), "it must lie in"),
        (lambda: unit_corners(0.1, failure_prob=1, max_k=9), "failure_prob = 1"),
        (lambda: measured_failure_prob(9, r=2, losses=0.1, undecoded_prob=[0.5, 0.1]), "e = 0..2 need"),
        (lambda: measured_failure_prob(9, r=1, losses=0.1, undecoded_prob=[0.5, 1.1]), "undecoded_prob = 1.1"),
        (lambda: unit_corners(MAY_BE_DOWN, failure_prob=1e-3, max_k=9), "all paths may be down"),
        (lambda: repair_packets_for(9, losses=IN_TIME, failure_prob=1e-6), "misses the deadline"),
        (lambda: optimal_coding_unit(9, losses=EQUAL, objective="eq4", failure_prob=0.1), "goes with objective"),
        (lambda: optimal_coding_unit(9, losses=EQUAL, objective="overhead"), "failure_prob goes with"),
        (lambda: optimal_coding_unit(9, losses=EQUAL), "rtt_short_s"),
        (lambda: optimal_coding_unit(9, **TWO, **FABRIC), "blocking_prob and losses: the one"),
        (lambda: optimal_coding_unit([9, 8], losses=MAY_BE_DOWN, **FABRIC), "one point at a time"),
    ]
    for call, text in cases:
        with subtests.test(call=call, text=text), pytest.raises(ParameterError, match=text):
            call()


def written(tmp_path, text):
    path = tmp_path / "paths.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_paths(tmp_path):
    text = "loss,count,weight,burst_packets,down,delay_us,jitter_ms\n0.01,2,3,1.5,0.1,20,0.5\n0.05,,,4,,30us,\n"
    losses = read_paths(written(tmp_path, text), spread="in-turn")
    assert [path.loss for path in losses.paths] == [0.01, 0.01, 0.05]
    assert [path.burst_packets for path in losses.paths] == [1.5, 1.5, 4]
    assert [path.down for path in losses.paths] == [0.1, 0.1, 0]
    assert losses.weights.tolist() == [3 / 7, 3 / 7, 1 / 7]
    first, _, last = (path.delay for path in losses.paths)
    assert (first.least_s, first.queue.mean, last.least_s, last.queue) == (20e-6, 0.5e-3, 30e-6, None)
    plain = read_paths(written(tmp_path, "loss\n0.01\n0.2\n"))
    assert (plain.burst_packets, plain.delay, plain.mean_loss) == (None, None, pytest.approx(0.105))


def test_a_file_that_is_none(subtests, tmp_path):
    cases = [
        ("loss\n1.5\n", "line 2: loss: loss = 1.5, but a probability lies in [0, 1]"),
        ("loss\n1%\n", "line 2: loss: '1%' is no number: write loss as in 0.01"),
        ("loss,speed\n0.1,2\n", "line 1: unknown column 'speed'"),
        ("loss,burst_packets\n0.1,3\n0.1,\n", "line 3: no burst_packets"),
        ("loss,burst_us\n0.1,0\n", "line 2: burst_us: '0', that is burst_s = 0, but"),
        ("loss,count\n0.1,70000\n", "paths.csv has 70000 paths"),
        ("loss,count\n0.1,0\n", "line 2: count: count = 0"),
        ("loss,burst_packets\n0.1,0.5\n", "line 2: burst_packets: burst_packets = 0.5, but no run is shorter"),
        ("loss,delay_us\n0.1,-3\n", "line 2: delay_us: '-3'"),
        ("loss,count\n0.1,40000\n0.1,40000\n", "80000 paths"),
        ("weight\n0.1\n", "no column loss"),
    ]
    for text, refusal in cases:
        with subtests.test(text=text, refusal=refusal):
            with pytest.raises(ParameterError) as caught:
                read_paths(written(tmp_path, text))
            assert refusal in str(caught.value)
            assert "\n" not in str(caught.value)
