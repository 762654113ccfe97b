"""Agreement: a thousand counted flows from a steady start against runs twenty times as long, which begin empty.

The long runs need no steady start: of 25,000 flows the first 4,000 fill the network, and what they wait is measured in
the 20,000 after these (`measured/steady_load.csv`). The steady start rests on two links that share their rates, so a
difference of 8% is declared as its bias, either way; the rest is noise, by Welch's interval over seeds. Cold starts of
as many flows are the counter-proof. Sizes of data mining are a tenth.

How narrow the interval of a difference must be follows from the closed forms of the slowdown s, before a run: narrower
than the half-widths of one short and one long run together, so that means are told apart which a user with one run of
each would see apart; and narrower than the bias of a cold start, where that bias could not pass for the declared one.
What a flow waits for others is s - 1, so that the same is s/(s - 1) times as much of a wait.
"""

from dataclasses import replace
from functools import cache

import pandas as pd
import pytest
from agreement.measured import steady_transports
from agreement.measured.steady_load import (
    FLOWS,
    HOSTS,
    RATE_BPS,
    RUNS,
    SETTLED,
    long_runs,
    short_bytes,
    short_runs,
    sizes_of,
)

from capsim.results.load_record import SETTLED as SETTLED_SHARE
from capsmodel import run_bias, run_precision
from capsmodel.experiments.statistics.intervals import welch_difference
from capsmodel.queueing.settling import mean_slowdown

pytestmark = pytest.mark.agreement

SEEDS = {"fb_hadoop_homa": 24, "fb_cachefollower_homa": 24, "websearch": 20, "datamining": 26}
ULTRA_ETHERNET = "Ultra Ethernet, sprayed, 100 Gbps, in turns"
HASHED = "DCTCP, hashed"
TRANSPORT_SEEDS, WIDEST_IN_PROGRESS = 24, 0.3
BIAS = 0.08
CONFIDENCE = 0.99  # of each of 16 intervals


def bias_of_a_cold_start(workload: str, load: float) -> float:
    """Return by how much the mean slowdown is too low when as many flows begin in an empty network."""
    sizes = sizes_of(workload)
    flows_per_s = HOSTS * RATE_BPS * load / (8 * sizes.mean_bytes)
    return -run_bias(sizes, load=load, rate_bps=RATE_BPS, arrivals_s=FLOWS / flows_per_s)


def widest(workload: str, load: float, name: str) -> float:
    """Return the width that the interval of a difference may have, as a share of the mean."""
    slowdown = mean_slowdown(load)
    of_name = {"long_slowdown": 1.0, "short_wait_s": slowdown / (slowdown - 1)}[name]
    given = {"load": load, "hosts": HOSTS, "long_bytes": short_bytes(workload)}
    counted = (FLOWS, SETTLED.stop - SETTLED.start)
    both = sum(run_precision(sizes_of(workload), flows=flows, **given) for flows in counted)
    cold = bias_of_a_cold_start(workload, load)
    return of_name * (min(both, cold) if cold > 2 * BIAS else both)


def distance(
    short: pd.DataFrame, long: pd.DataFrame, name: str, *, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the interval of the difference of the means, over the mean of the long runs."""
    found = welch_difference(short[name], long[name], confidence=confidence)
    return found.low / long[name].mean(), found.high / long[name].mean()


@cache
def run_of(setting: str, seed: int) -> dict[str, float]:
    """Return what a short run of a setting measures, for all tests that ask for it."""
    return steady_transports.SETTINGS[setting].run(seed, "short")


@pytest.fixture
def seeds(pytestconfig: pytest.Config):
    """Return so many seeds, others each night."""
    shift = pytestconfig.getoption("fresh_seeds")
    return lambda number: range(1 + shift, 1 + shift + number)


@pytest.mark.parametrize(("workload", "load"), RUNS)
def test_steady_start_gives_the_means_of_long_runs(workload, load, seeds):
    short, long = short_runs(workload, load, start="steady", seeds=seeds(SEEDS[workload])), long_runs(workload, load)
    for name in ("short_wait_s", "long_slowdown"):
        low, high = distance(short, long, name)
        assert high - low < widest(workload, load, name), (name, low, high)  # else the samples do not suffice
        assert low < BIAS, (name, low, high)
        assert high > -BIAS, (name, low, high)


@pytest.mark.parametrize(("workload", "number"), [("fb_hadoop_homa", 15), ("datamining", 20)])
def test_cold_start_does_not(workload, number, seeds):
    """At load 0.6 short flows wait two thirds as long, under data mining half: fewer seeds tell so large a bias."""
    short, long = short_runs(workload, 0.6, start="empty", seeds=seeds(number)), long_runs(workload, 0.6)
    for name in ("short_wait_s", "long_slowdown"):
        assert distance(short, long, name)[1] < -BIAS, name


@pytest.mark.parametrize(("setting", "settled"), [(ULTRA_ETHERNET, True), (HASHED, False)])
def test_a_run_finds_by_itself_how_far_below_its_flows_in_progress_it_began(setting, settled, seeds):
    """The share is that of the flows in progress of long runs, which DCTCP keeps for longer than fair sharing does.

    The interval of the ratio must tell a fabric that has settled from one that has 0.7 of its flows: with 24 seeds it
    is 0.26 wide, with 48 it would be 0.24, since half of it is of the long runs.
    """
    short = pd.DataFrame([run_of(setting, seed) for seed in seeds(TRANSPORT_SEEDS)])
    long = steady_transports.runs(setting, "long")
    low, high = distance(short, long, "in_progress", confidence=0.95)
    share = short["settled_start"].mean()
    assert high - low < WIDEST_IN_PROGRESS, (low, high)
    assert 1 + low - BIAS < share < 1 + high + BIAS, (low, share, high)
    assert (share >= SETTLED_SHARE) == settled, share


def test_the_slowdown_that_runs_have_found_makes_their_start_steady(seeds):
    """DCTCP, hashed, keeps a quarter more flows than fair sharing does; the slowdown found is given to other runs."""
    long = steady_transports.runs(HASHED, "long")
    found = pd.DataFrame([run_of(HASHED, seed) for seed in seeds(TRANSPORT_SEEDS)])["kept_slowdown"].mean()
    given = replace(steady_transports.SETTINGS[HASHED], slowdown=float(found))
    short = pd.DataFrame([given.run(1000 + seed, "short") for seed in seeds(TRANSPORT_SEEDS)])
    low, high = distance(short, long, "in_progress", confidence=0.95)
    assert high - low < WIDEST_IN_PROGRESS, (low, high)
    assert low < BIAS, (low, high)
    assert high > -BIAS, (low, high)
    assert short["settled_start"].mean() >= SETTLED_SHARE
