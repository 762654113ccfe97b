"""Agreement: flows of an excerpt have the slowdowns of the whole fabric, which ran once and is kept.

128 hosts under 16 leaves, of which 4 are run, with steady starts and five seeds. The interval of Student over the seeds
holds the whole's value, or the two differ by less than 6% (mean) and 15% (99th percentile): the whole is one draw of
8000 flows, whose own error is of that size.
"""

import numpy as np
import pandas as pd
import pytest
from agreement.measured.whole_fabrics import EVERY_SIZE, KEPT, SCHEMES, WHOLE, flows_of

from capsim import Poisson, excerpt
from capsim.results.fct import slowdown_by_size

pytestmark = pytest.mark.agreement

SEEDS = range(1, 6)
LIMITS = {"mean_slowdown": 0.06, "p99_slowdown": 0.15}
WHOLES = pd.read_csv(KEPT).set_index("scheme")


def slowdowns(scenario, scheme):
    flows = pd.concat([flows_of(scenario, scheme, seed)[0] for seed in SEEDS])
    return slowdown_by_size(flows, EVERY_SIZE).iloc[-1]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_excerpt_has_the_slowdowns_of_the_whole(scheme):
    """Wrong line: flows, rates or partners of an excerpt that are not the whole's share."""
    small = slowdowns(excerpt(WHOLE, leaves=4), scheme)
    assert small["unfinished_flows"] == WHOLES.at[scheme, "unfinished_flows"] == 0
    for name, limit in LIMITS.items():
        ratio, half = small[name] / WHOLES.at[scheme, name], small[f"{name}_half_width"] / small[name]
        assert abs(np.log(ratio)) <= max(limit, half), (name, ratio, half)


def test_the_seeds_would_see_another_load():
    """Power: at a load of 0.5 the mean slowdown is outside the limit and the interval."""
    less = WHOLE.replace(traffic=(Poisson(workload="websearch", load=0.5, flows=8000, start="steady"),))
    small, name = slowdowns(excerpt(less, leaves=4), "uet"), "mean_slowdown"
    ratio, half = small[name] / WHOLES.at["uet", name], small[f"{name}_half_width"] / small[name]
    assert abs(np.log(ratio)) > max(LIMITS[name], half)
