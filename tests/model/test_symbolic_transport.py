"""RepFlow and DC2-MTCP three ways: numeric function, symbolic form and brute-force enumeration give one number."""

import math
from fractions import Fraction

import enumeration as brute
import numpy as np
import pytest
import sympy as sp
from three_ways import RTOL, Case, formulas_to_cover

from capsmodel.fct import completion, long_flows, replication, slow_start
from capsmodel.multipath import coded_transport, coding_schedule, lia, timeouts
from capsmodel.queueing import mg1
from capsmodel.symbolic import FORMULAS
from capsmodel.symbolic.congestion import W_i, W_total, alpha
from capsmodel.symbolic.multipath import TIMEOUT_EXACT, p_i, window
from capsmodel.workloads.catalogue import PacketSizes

FIFTH, HALF = Fraction(1, 5), Fraction(1, 2)


def _queues() -> list[Case]:
    load, burst = Fraction(3, 5), 44
    sizes, probs = (1, 10), (Fraction(3, 4), Fraction(1, 4))
    first = sum((size * prob for size, prob in zip(sizes, probs, strict=True)), Fraction(0))
    second = sum((size**2 * prob for size, prob in zip(sizes, probs, strict=True)), Fraction(0))
    service = {"mean_service": float(first), "second_moment_service": float(second)}
    bursts = {"rho": load, "E[B]": first, "E[B^{2}]": second}
    # Mean wait = work found = waiting bursts + the rest of the one in service (by listing its units of work).
    rest = sum(
        (prob * sum(range(size)) + prob * Fraction(size, 2) for size, prob in zip(sizes, probs, strict=True)),
        Fraction(0),
    )
    wait = load * rest / first / (1 - load)
    tail = mg1.effective_bandwidth_wait_prob(30.0, load=float(load), **service)
    percentile = mg1.effective_bandwidth_wait_quantile(
        0.99, load=float(load), mean_service=burst, second_moment_service=burst**2
    )
    return [
        Case("mean_wait", bursts, mg1.mg1_mean_wait(float(load), **service), wait),
        Case("wait_tail", {**bursts, "w": 30}, tail, math.exp(-30 / wait)),
        Case("wait_percentile", {"rho": load, "M": burst}, percentile, math.log(100) * 44 * 0.6 / 0.8),
    ]


def _loads() -> list[Case]:
    load, share = Fraction(3, 10), Fraction(1, 20)
    busy = brute.chance(2, load * (1 + share), all)
    even = replication.replication_break_even_load(float(share))
    at = {"rho": load, "epsilon": share}
    given = {"short_byte_share": float(share)}
    uniform = PacketSizes.uniform(0, 200)
    return [
        Case("replicated_load", at, replication.replicated_load(float(load), **given), load + share * load),
        Case("effective_load", at, replication.effective_load(float(load), **given), busy),
        Case("break_even_load", {"epsilon": share}, even, Fraction(400, 441)),
        Case("rounds", {"X": 36, "k": 12}, slow_start.rounds(36.0), Fraction(brute.slow_start_rounds(36, 12))),
        Case("rounds", {"X": 84, "k": 12}, slow_start.rounds(84.0), Fraction(brute.slow_start_rounds(84, 12))),
        Case(
            "short_byte_share",
            {"f": lambda _: sp.Rational(1, 200), "S_L": 68, "E[X]": 100},
            replication.short_byte_share(uniform, short_packets=68),
            Fraction(68, 200) ** 2,
        ),
    ]


def _completion() -> list[Case]:
    load, share, burst = Fraction(3, 10), Fraction(1, 20), 44
    doubled, busy = load * (1 + share), (load * (1 + share)) ** 2
    small, large = PacketSizes.fixed(36), PacketSizes.fixed(440)
    rounds, excess = Fraction(brute.slow_start_rounds(36, 12)), 2 * math.log(10) - 1
    copies = {"replicas": 2, "short_byte_share": float(share)}
    at = {"rho": load, "M": burst, "epsilon": share}
    one, two, long = (burst * rho / (1 - rho) / 2 for rho in (load, busy, doubled))
    # Fixed sizes, so the averages J, N and P are those of one flow: short of 36, long of 440 packets in 10 bursts.
    mean_long = sum([one] * 10, Fraction(0)) / 440 + 1
    mean_long_copied = sum([long] * 10, Fraction(0)) / 440 + 1
    j, n = rounds / 36, (rounds - 1 + 2 * sp.log(10)) / 36
    p = float(load)
    return [
        Case("mean_fct", {"rho": load, "M": burst, "J": j}, completion.mean_fct(p, sizes=small), one * j + 1),
        Case("mean_fct_replicated", {**at, "J": j}, completion.mean_fct(p, sizes=small, **copies), two * j + 1),
        Case("mean_fct_long", {"rho": load}, long_flows.mean_fct_long(p, sizes=large), mean_long),
        Case(
            "mean_fct_long_replicated",
            {"rho": load, "epsilon": share},
            long_flows.mean_fct_long(p, sizes=large, **copies),
            mean_long_copied,
        ),
        Case(
            "tail_fct_replicated",
            {**at, "N": n},
            completion.tail_fct(p, sizes=small, **copies),
            float(two) * (float(rounds) + excess) / 36 + 1,
        ),
        Case(
            "tail_fct_long",
            {"E[FCT^{L}]": mean_long, "E[W]": one, "P": Fraction(1, 440)},
            long_flows.tail_fct_long(p, sizes=large),
            float(mean_long) + float(one) * excess / 440,
        ),
        Case(
            "tail_fct_long_replicated",
            {**at, "E[FCT^{L}_{rep}]": mean_long_copied, "P": Fraction(1, 440)},
            long_flows.tail_fct_long(p, sizes=large, **copies),
            float(mean_long_copied) + float(long) * excess / 440,
        ),
    ]


def _averaged_over_sizes() -> list[Case]:
    load, wait = 0.5, 22
    nodes, weights = np.polynomial.legendre.leggauss(60)
    from_zero, from_one = 34 + 34 * nodes, 34.5 + 33.5 * nodes
    mean = wait * float(weights @ (np.log2(from_zero / 12 + 1) / from_zero)) * 34 / 68 + 1
    rounds = np.log2(from_one / 12 + 1) - 1 + 2 * math.log(10)
    tail = wait * float(weights @ (rounds / from_one)) * 33.5 / 67 + 1
    shared = {"E[W]": wait, "k": 12, "S_L": 68}
    density = {"f": lambda _: sp.Rational(1, 100)}
    return [
        Case(
            "mean_fct_of_wait",
            {**shared, **density, "F": lambda _: sp.Rational(68, 100)},
            completion.mean_fct(load, sizes=PacketSizes.uniform(0, 100), smallest_packets=1e-14),
            mean,
        ),
        Case(
            "tail_fct",
            {**shared, **density, "F": lambda _: sp.Rational(67, 100), "x_0": 1},
            completion.tail_fct(load, sizes=PacketSizes.uniform(1, 101)),
            tail,
        ),
    ]


def _subflows() -> list[Case]:
    cases = []
    for windows, rtts in (((5,), (3,)), ((5, 10), (1, 1)), ((4, 9, 20), (1, 4, 2))):
        alpha, total, n = brute.lia(windows, rtts), sum(windows), len(windows)
        kept = {"rtts_s": np.array(rtts, float)}
        losses = [brute.balancing_loss(alpha / total, w) for w in windows]
        numeric = lia.lia_loss_prob(windows, form="uncapped", **kept)
        increases = lia.lia_increase(windows, **kept)
        connection = sum((w * loss for w, loss in zip(windows, losses, strict=True)), Fraction(0)) / total
        cases += [
            Case("lia_alpha", {"n": n, "W": windows, "RTT": rtts}, lia.lia_alpha(windows, **kept), alpha),
            Case(
                "connection_loss_prob",
                {"n": n, "W": windows, "alpha": alpha, "W_total": total},
                coded_transport.connection_loss_prob(windows, form="uncapped", **kept),
                connection,
            ),
            # Eq. 9: the rate of the whole connection is the best of the single paths.
            Case(
                "best_path_rate",
                {"p": losses, "RTT": rtts},
                lia.best_path_rate_per_s([float(loss) for loss in losses], **kept),
                sum((Fraction(w, rtt) for w, rtt in zip(windows, rtts, strict=True)), Fraction(0)),
            ),
        ]
        for place, w in enumerate(windows):
            values = {"alpha": alpha, "W_total": total, "W_i": w}
            cases += [
                Case("path_loss_prob", values, numeric[place], losses[place]),
                Case("lia_increase", values, increases[place], min(alpha / total, Fraction(1, w))),
            ]
    return cases


def _losses() -> list[Case]:
    cases = []
    for size in range(1, 9):
        for p in (Fraction(1, 20), HALF):
            numeric = timeouts.timeout_prob(size, loss_prob=float(p))
            enumerated = brute.chance(size, p, brute.times_out_as_printed)
            cases.append(Case("timeout_prob", {"W_i": size, "p_i": p}, numeric, enumerated))
    for p in (Fraction(1, 10), HALF):
        # What is left out after 400 coded packets for coded packets is below 1e-100.
        spent = 1000 * float(brute.series(p, 400))
        rate = coded_transport.redundancy_rate_per_s(float(p), packets_per_s=1000.0)
        parts = coded_transport.redundancy_rate_per_s(float(p), packets_per_s=np.array([300.0, 700.0]))
        cases += [
            Case("redundancy_rate", {"p": p, "lambda": 1000}, rate, spent),
            Case("subflow_redundancy_rate", {"p": p, "lambda_i": 1000}, rate, spent),
            Case("connection_redundancy_rate", {"n": 2, "p": p, "lambda": (300, 700)}, float(parts.sum()), spent),
        ]
    for side in (1, 2, 7):
        # W = sqrt(2(1-p)/p) is the whole number `side` at this loss, where 1/W per ACK balances W/2 per loss.
        p = brute.balancing_loss(Fraction(1, side), side)
        numeric = lia.single_path_window(float(p))
        cases.append(Case("single_path_window", {"p_i": p}, numeric, Fraction(side)))
    return cases


def _counts() -> list[Case]:
    option = 1 + sum(2 for _ in range(14)) + sum(1 for _ in range(15))
    acknowledged = len([33, *range(35, 80)])
    retransmitted, coded = timeouts.retransmitted_fct_s(0.2, rtt_s=0.004), timeouts.coded_fct_s(0.001)
    work, ratio = (
        of(5, original=100) for of in (coded_transport.decoding_work_ratio, coded_transport.coded_original_ratio)
    )
    buffer = timeouts.reorder_buffer_bits([1e10] * 8, rtts_s=[0.0015] + [0.001] * 7)
    return [
        Case("option_length", {"n": 15}, coded_transport.coded_option_bytes(15), Fraction(option)),
        Case(
            "apl_measure",
            {"W_v": 60, "W_s": 14},
            coding_schedule.pre_coding_measure(60, unacknowledged_packets=14),
            Fraction(acknowledged),
        ),
        Case("retransmitted_fct", {"RTO": FIFTH, "RTT_1": Fraction(1, 250)}, retransmitted, Fraction(202, 1000)),
        Case("coded_fct", {"RTT_2": Fraction(1, 1000)}, coded, sum([Fraction(1, 2000)] * 3, Fraction(0))),
        Case(
            "reorder_buffer",
            {"n": 8, "BW": [10**10] * 8, "RTT": [Fraction(3, 2000)] + [Fraction(1, 1000)] * 7},
            buffer,
            Fraction(120_000_000),
        ),
        Case("small_flow_redundancy", {"W_total": 8}, coded_transport.small_flow_redundancy_ratio(8), Fraction(1, 8)),
        Case("decoding_work", {"l": 5, "m": 100}, work, Fraction(5 * 105, 105**2)),
        Case("coded_original_ratio", {"l": 5, "m": 100}, ratio, Fraction(5, 100)),
    ]


CASES = [*_queues(), *_loads(), *_completion(), *_averaged_over_sizes(), *_subflows(), *_losses(), *_counts()]


def test_every_formula_with_a_numeric_function_has_a_case() -> None:
    assert {case.formula for case in CASES} == formulas_to_cover("repflow", "dc2mtcp")


@pytest.mark.agreement
def test_numeric_symbolic_and_enumerated_agree(subtests: pytest.Subtests) -> None:
    for case in CASES:
        with subtests.test(formula=case.formula, values=case.values):
            case.check()


@pytest.mark.parametrize("size", range(1, 9))
def test_exact_timeout_agrees_with_the_patterns_of_losses(size: int) -> None:
    p = Fraction(1, 20)
    enumerated = brute.chance(size, p, brute.times_out)
    assert TIMEOUT_EXACT.subs({window: size, p_i: p}).doit() == sp.Rational(enumerated)
    assert timeouts.timeout_prob(size, loss_prob=float(p), exact=True) == pytest.approx(float(enumerated), rel=RTOL)


def test_printed_path_loss_is_the_numeric_function_of_that_name() -> None:
    windows = (10, 30)
    printed = FORMULAS["path_loss_prob"].printed.rhs.subs({alpha: brute.lia(windows, (1, 1)), W_total: 40})
    numeric = lia.lia_loss_prob(windows, rtts_s=[1.0, 1.0], form="printed")
    for place, size in enumerate(windows):
        assert numeric[place] == pytest.approx(float(printed.subs(W_i, size)), rel=RTOL)
