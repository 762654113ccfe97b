"""Derivations of the course against numeric functions and brute force: the line that a lesson draws has its values."""

from fractions import Fraction

import enumeration as brute
import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad

from capsmodel.coding.blocking import twice_average_missed_share
from capsmodel.coding.messages import coding_pays_from, mean_message_s
from capsmodel.coding.paths.losses import PathLosses
from capsmodel.coding.random_linear import full_rank_prob
from capsmodel.fct.replication import mean_shortest_wait
from capsmodel.multipath.sawtooth import SINGLE_PATH_SHARE
from capsmodel.prediction.fabric import FabricModel
from capsmodel.prediction.sharing import fair_share_slowdown
from capsmodel.queueing.drawn_queues import drawn_queues_mean_wait, drawn_queues_tail
from capsmodel.queueing.service import Deterministic
from capsmodel.symbolic import DERIVATIONS

pytestmark = pytest.mark.agreement


def line(name: str, place: int, **values: float) -> float:
    """Return the right-hand side of a line of a derivation at values of its symbols."""
    form = DERIVATIONS[name]().steps[place].expression.rhs
    symbols = {symbol.name: symbol for symbol in form.free_symbols}
    return float(form.subs({symbols[symbol]: value for symbol, value in values.items()}).doit())


@pytest.mark.parametrize(("packets", "links"), [(1, 1), (1, 4), (7, 1), (5, 3), (40, 4)])
def test_store_and_forward_is_what_packets_do_one_by_one(packets: int, links: int) -> None:
    tau, d = 12.0, 10.0
    free = [0.0] * links  # when each link has sent what it has got
    for _ in range(packets):
        there = 0.0
        for link in range(links):
            free[link] = max(there, free[link]) + tau
            there = free[link] + d
    assert line("store_and_forward", 2, X=packets, h=links, tau=tau, d=d) == there


def test_the_lesson_of_one_packet_has_four_links() -> None:
    values = {"X": 7, "tau": 12.0, "d": 10.0}
    assert line("store_and_forward", 3, **values) == line("store_and_forward", 2, h=4, **values)


@pytest.mark.parametrize("load", [0.1, 0.6, 0.95])
def test_fair_share_is_the_slowdown_of_a_fabric_of_host_links(load: float) -> None:
    fabric = FabricModel(rate_bps=1e9, delay_s=0.0, layers=())
    assert line("fair_share", 3, rho=load) == pytest.approx(fair_share_slowdown(fabric, load=load), rel=1e-12)


@pytest.mark.parametrize("load", [0.3, 0.9])
def test_drawn_queues_have_the_tail_and_the_wait_of_the_function(load: float) -> None:
    for drawn in (2, 3, 5):
        for packets in (1, 2, 3):
            tail = drawn_queues_tail(packets, load=load, drawn=drawn)
            assert line("drawn_queues", 2, rho=load, d=drawn, i=packets) == pytest.approx(tail, rel=1e-12)
    assert line("drawn_queues", 4, rho=load) == pytest.approx(drawn_queues_mean_wait(load, drawn=1), rel=1e-12)
    assert line("drawn_queues", 5, rho=load, i=3) == pytest.approx(drawn_queues_tail(3, load=load, drawn=2), rel=1e-12)


@pytest.mark.parametrize("load", [0.05, 0.5, 0.9])
def test_shorter_wait_is_the_integral_of_the_squared_tail(load: float) -> None:
    exact = mean_shortest_wait(load, service=Deterministic(44))
    assert line("shorter_wait", 5, rho=load, M=44) == pytest.approx(exact, rel=1e-11)


def test_random_sawtooth_is_the_share_of_the_function() -> None:
    form = DERIVATIONS["random_sawtooth"]().result.rhs
    integral = next(iter(form.atoms(sp.Integral)))
    u = integral.variables[0]
    finite = integral.function.replace(sp.Product, lambda factor, over: sp.Product(factor, (over[0], 0, 40)).doit())
    area, _ = quad(sp.lambdify(u, finite), 0, np.inf, epsabs=1e-12)
    assert float(form.subs(integral, area)) == pytest.approx(SINGLE_PATH_SHARE, rel=1e-8)


@pytest.mark.parametrize("field_size", [2, 4, 256])
def test_full_rank_is_the_function_and_its_bound_and_mean_hold(field_size: int) -> None:
    for k in (1, 2, 10):
        exact = full_rank_prob(k, received=k, field_size=field_size)
        assert line("full_rank", 1, q=field_size, k=k) == pytest.approx(exact, rel=1e-12)
        assert line("full_rank", 2, q=field_size) <= exact
        fails = 1 - full_rank_prob(k, received=np.arange(k + 60), field_size=field_size)  # P(more are needed)
        assert line("full_rank", 3, q=field_size, k=k) == pytest.approx(fails.sum(), rel=1e-12)


def test_round_robin_is_the_distribution_of_units_on_unequal_paths() -> None:
    paths = (0.001, 0.02, 0.1, 0.4)
    law = -np.diff(PathLosses(list(paths), spread="in-turn").failure_table(4, 4)[4], prepend=1.0)
    lines = [step.expression.rhs for step in DERIVATIONS["round_robin"]().steps]
    p, z, n = sp.IndexedBase("p"), sp.Symbol("z", positive=True), sp.Symbol("n", integer=True, positive=True)
    values = {p[place]: prob for place, prob in enumerate(paths, 1)}
    mean_loss = sp.Symbol("pbar", positive=True)
    generating, mean, variance, apart, at_random = (
        form.subs(n, len(paths)).doit().subs(values | {mean_loss: np.mean(paths)}) for form in lines
    )
    coefficients = [float(generating.expand().coeff(z, m)) for m in range(5)]
    assert coefficients == pytest.approx(law, rel=1e-9)
    of_law = float(law @ np.arange(5)), float(law @ np.arange(5) ** 2)
    assert float(mean) == pytest.approx(of_law[0], rel=1e-9)
    assert [float(variance), float(apart)] == pytest.approx([of_law[1] - of_law[0] ** 2] * 2, rel=1e-9)
    assert float(variance) < float(at_random)


@pytest.mark.parametrize("distance", [1, 2, 5, 24])
def test_loss_bursts_are_those_of_units_on_one_path(distance: int) -> None:
    loss, burst = 0.01, 10.0
    pair = PathLosses(loss, burst_packets=burst, interleave=distance)
    both_lost = pair.failure_table(2, 1)[2, 1]
    correlation = line("loss_bursts", 2, b=burst, pi=loss)
    values = {"pi": loss, "lambda": correlation, "D": distance}
    assert line("loss_bursts", 3, **values) == pytest.approx(both_lost / loss, rel=1e-9)


def test_coding_pays_from_where_the_times_of_the_function_meet() -> None:
    X, k, r, tau, T = 512, 32, 8, 1.0, 1e7
    sent = {"packet_s": tau, "repeat_s": T}
    common = {"X": X, "tau": tau}
    repeated = X * tau + T * sum(1 - (1 - 0.1**j) ** X for j in range(1, 30))  # the first line, whose sum has no end
    assert mean_message_s(X, loss_prob=0.1, **sent) == pytest.approx(repeated, rel=1e-4)
    assert mean_message_s(X, loss_prob=1e-9, **sent) == pytest.approx(
        line("coding_pays", 1, T=T, p=1e-9, **common), rel=1e-5
    )
    coded = line("coding_pays", 2, k=k, r=r, **common)
    assert mean_message_s(X, loss_prob=0.0, k=k, r=r, **sent) == pytest.approx(coded, rel=1e-12)
    least = coding_pays_from(X, k=k, r=r, **sent)
    assert line("coding_pays", 3, k=k, r=r, T=T, **common) == pytest.approx(least, rel=1e-4)
    assert line("coding_pays", 4, k=k, r=r, T=T, tau=tau) == pytest.approx(least / (1 - k / X), rel=1e-4)


@pytest.mark.parametrize("blocking_prob", [9 / 28, 0.4, 0.5, 0.6, 9 / 14])
def test_missed_share_is_the_function_where_other_rtts_are_short(blocking_prob: float) -> None:
    exact = twice_average_missed_share(blocking_prob, usual_rtts_s=[1e-12], base_rtt_s=1e-12, full_wait_s=1.0)
    assert line("missed_share", 3, p_B=blocking_prob) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(("window", "subflows"), [(1, 2), (2, 2), (3, 3)])
def test_coded_timeout_is_that_of_all_patterns_of_losses(window: int, subflows: int) -> None:
    p = Fraction(1, 20)
    packets = window * subflows
    enumerated = brute.chance(packets + 1, p, lambda lost: any(lost[:packets]) and sum(lost) > 1)
    values = {"p": float(p), "n": subflows, "w": window}
    assert line("coded_timeout", 2, **values) == pytest.approx(float(enumerated), rel=1e-12)
    small = 1e-5
    pairs = packets * (packets + 1) / 2 * small**2
    assert line("coded_timeout", 2, p=small, n=subflows, w=window) == pytest.approx(pairs, rel=1e-3)
