"""Agreement: flows of an excerpt have the slowdowns of the whole fabric, which ran once and is kept.

Four leaves of 16 and of 64, with steady starts and five seeds. The interval of Student over the seeds holds the whole's
value, or the two differ by less than 6% (mean) and 15% (99th percentile): the whole is one draw of 62.5 flows a host,
and four leaves are known to be low under 64 (`docs/howto/large_fabric.md`, which prints these ratios).
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from agreement.measured.whole_fabrics import EVERY_SIZE, WHOLES, run_of, wholes

from capsim import excerpt
from capsim.results.fct import slowdown_by_size

pytestmark = pytest.mark.agreement

SEEDS = range(1, 6)
LIMITS = {"mean_slowdown": 0.06, "p99_slowdown": 0.15}
KEPT = wholes()
PAGE = Path(__file__).parents[2].joinpath("docs", "howto", "large_fabric.md").read_text(encoding="utf-8")


def slowdowns(name, scheme, load=0.6):
    """Return the row of all flows of an excerpt's seeds."""
    part = excerpt(WHOLES[name].scenario(load), leaves=4)
    flows = pd.concat([run_of(part, scheme, seed).flows.assign(seed=seed) for seed in SEEDS])
    return slowdown_by_size(flows, EVERY_SIZE).iloc[-1]


def over(small, whole, name):
    """Return excerpt over whole, and the half-width of the excerpt's interval in the same unit."""
    return small[name] / whole[name], small[f"{name}_half_width"] / whole[name]


@pytest.mark.parametrize(("name", "scheme"), KEPT.index)
def test_excerpt_has_the_slowdowns_of_the_whole(name, scheme):
    """Wrong line: flows, rates or partners of an excerpt that are not the whole's share."""
    whole, small = KEPT.loc[name, scheme], slowdowns(name, scheme)
    assert small["unfinished_flows"] == whole["unfinished_flows"] == 0
    cells = [over(small, whole, metric) for metric in LIMITS]
    for (ratio, half), limit in zip(cells, LIMITS.values(), strict=True):
        assert abs(np.log(ratio)) <= max(limit, half / ratio)
    printed = " | ".join(f"{ratio:.3f} ± {half:.3f}" for ratio, half in cells)
    assert f"| {name} | `{scheme}` | {printed} |" in PAGE


def test_the_seeds_would_see_another_load():
    """Power: at a load of 0.5 the mean slowdown is outside the limit and the interval."""
    name, scheme = "128 hosts, 16 leaves", "uet"
    ratio, half = over(slowdowns(name, scheme, load=0.5), KEPT.loc[name, scheme], "mean_slowdown")
    assert abs(np.log(ratio)) > max(LIMITS["mean_slowdown"], half / ratio)
