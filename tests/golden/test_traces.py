"""Golden: every scheme on four fabrics sends, loses and delivers each packet when it did before."""

import pytest
from golden.frozen_traces import digests, frozen, frozen_schemes
from support.engine_setups import BUSY, setup_of

from capsim.engines import run

SCHEMES = frozen_schemes()


@pytest.mark.parametrize("fabric", BUSY)
@pytest.mark.parametrize("name", SCHEMES)
def test_the_trace_is_the_frozen_one(name, fabric):
    kind, flows = BUSY[fabric]
    assert digests(run(setup_of(kind, flows, SCHEMES[name]))) == frozen()[fabric][name]
