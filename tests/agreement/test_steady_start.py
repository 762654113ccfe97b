"""Agreement: a thousand counted flows from a steady start against runs twenty times as long, which begin empty.

The long runs need no steady start: of 25,000 flows the first 4,000 fill the network, and what they wait is measured in
the 20,000 after these (`measured/steady_load.csv`). The steady start rests on two links that share their rates, so a
difference of 8% is declared as its bias, either way; the rest is noise, by Welch's interval over seeds. A cold start of
as many flows is the counter-proof. Data mining is not here: of 25,000 flows a run takes most of a minute, and its
largest flow, of 1 GB, decides what short ones wait.
"""

import pandas as pd
import pytest
from agreement.measured.steady_load import RUNS, long_runs, short_runs

from capsmodel.experiments.statistics.intervals import welch_difference

pytestmark = pytest.mark.agreement

SEEDS = {"fb_hadoop_homa": 24, "fb_cachefollower_homa": 10, "websearch": 10}
BIAS = 0.08
CONFIDENCE = 0.99  # of each of 10 intervals
DETECT = 0.4  # a cold start is off by so much in one of them


def distance(short: pd.DataFrame, long: pd.DataFrame, name: str) -> tuple[float, float]:
    """Return the interval of the difference of the means, over the mean of the long runs."""
    found = welch_difference(short[name], long[name], confidence=CONFIDENCE)
    return found.low / long[name].mean(), found.high / long[name].mean()


@pytest.fixture
def seeds(pytestconfig: pytest.Config):
    """Return the seeds of the runs of a workload, others each night."""
    shift = pytestconfig.getoption("fresh_seeds")
    return lambda workload: range(1 + shift, 1 + shift + SEEDS[workload])


@pytest.mark.parametrize(("workload", "load"), RUNS)
def test_steady_start_gives_the_means_of_long_runs(workload, load, seeds):
    short, long = short_runs(workload, load, start="steady", seeds=seeds(workload)), long_runs(workload, load)
    for name in ("short_wait_s", "long_slowdown"):
        low, high = distance(short, long, name)
        assert high - low < DETECT, (name, low, high)  # else the samples do not suffice
        assert low < BIAS, (name, low, high)
        assert high > -BIAS, (name, low, high)


def test_cold_start_does_not(seeds):
    """Of Hadoop at load 0.6 short flows wait two thirds as long."""
    workload, load = "fb_hadoop_homa", 0.6
    short, long = short_runs(workload, load, start="empty", seeds=seeds(workload)), long_runs(workload, load)
    for name in ("short_wait_s", "long_slowdown"):
        assert distance(short, long, name)[1] < -BIAS, name
