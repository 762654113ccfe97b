"""Fields that are said to keep their value: nothing that writes one is compiled, so no read of it can be an old one."""

from dataclasses import replace

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import NumbaError

from capsim import Batch, LeafSpine, ParameterError, Queue, Scenario, records, scheme, simulate
from capsim.engines.compiled import pointers
from capsim.engines.compiled.jit import FLAGS

READERS = {"PORT": "port_at", "LOSS": "loss_at", "SWITCH": "switch_at", "FLOW": "flow_at"}
FIELDS = [(READERS[table], field) for table, fields in records.CONSTANT.items() for field in fields]
FIELDS += [("world_at", "ports"), ("world_at", "end_ps"), ("stack_at", "send"), ("route_at", "count")]


def writer(reader, field):
    """Return a function that writes a field of the record at an address."""
    scope = dict(vars(pointers))
    exec(f"def write(address):\n    {reader}(address, 0).{field} = 1\n    return 0\n", scope)
    return scope["write"]


def test_no_function_of_the_engine_writes_it(subtests):
    for reader, field in FIELDS:
        text = f"{field} of [A-Z]+ keeps its value during a run"
        with subtests.test(reader=reader, field=field), pytest.raises(NumbaError, match=text):
            njit(types.int64(types.int64), **FLAGS)(writer(reader, field))


def test_a_field_that_changes_can_be_written():
    ports = np.zeros(1, records.PORT)
    assert njit(types.int64(types.int64), **FLAGS)(writer("port_at", "queue_packets"))(ports.ctypes.data) == 0
    assert ports["queue_packets"][0] == 1


def test_what_is_listed_is_a_field():
    """Wrong line: a name that is misspelt, of which nothing is told and nothing refused."""
    for table, fields in records.CONSTANT.items():
        assert set(fields) <= set(getattr(records, table).names)


def shrinks(params, own, port, packet, queue_packets, queue_bytes, now_ps, u0):
    port.limit_packets = 1
    return 0


def test_a_hook_that_writes_one_is_refused_with_its_line():
    used = replace(scheme("ecmp"), name="own", queue=Queue(name="shrinking", admit=shrinks))
    traffic = (Batch(flow_bytes=3000, pairs="other-leaf"),)
    scenario = Scenario(fabric=LeafSpine(leaves=2, hosts_per_leaf=1, spines=2), traffic=traffic)
    with pytest.raises(ParameterError) as refusal:
        simulate(scenario, scheme=used)
    assert str(refusal.value) == (
        f"test_constant_fields.py, line {shrinks.__code__.co_firstlineno + 1}: `port.limit_packets = 1`: limit_packets "
        "keeps its value during a run: keep what changes in memory of your own"
    )
