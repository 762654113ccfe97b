"""Traffic entries whose hosts run the stacks of other schemes, on the switches of one."""

from dataclasses import replace

import numpy as np
import pytest
from engine_setups import BUSY, differences, setup_of

from capsim import scheme
from capsim.engines import run


def side_by_side(fabric, name, other):
    """Return a set-up in which every second flow runs the stack of another scheme."""
    kind, flows = BUSY[fabric]
    tags = (np.arange(len(flows)) % 2).astype(np.int16)
    base = setup_of(kind, replace(flows, tag=tags), name)
    return replace(base, entry_schemes={1: setup_of(kind, flows, other).scheme})


@pytest.mark.parametrize(
    ("name", "other"), [("ecmp", "sack"), ("rps", "mptcp"), ("caps", "dctcp"), ("repflow", "caps_decode")]
)
@pytest.mark.parametrize("fabric", ["leaf-spine", "fat-tree"])
def test_engines_agree(fabric, name, other):
    assert differences(side_by_side(fabric, name, other)) == []


def test_each_flow_runs_the_stack_of_its_entry():
    setup = side_by_side("leaf-spine", "ecmp", "mptcp")
    flows = run(setup).flows
    assert [setup.stacks[number].sharing.name for number in flows["stack"]] == ["single", "mptcp"] * (len(flows) // 2)
    assert flows["n_subs"][::2].max() == 1
    assert flows["n_subs"][1::2].max() == 8
    assert (flows["received_ps"] > 0).all()


def test_the_same_stack_on_all_entries_is_the_plain_run():
    kind, flows = BUSY["leaf-spine"]
    tags = (np.arange(len(flows)) % 2).astype(np.int16)
    plain = setup_of(kind, replace(flows, tag=tags), "rps")
    mixed = replace(plain, entry_schemes={1: replace(scheme("ecmp"), short=plain.scheme.short, long=plain.scheme.long)})
    assert np.array_equal(run(plain).trace, run(mixed).trace)
