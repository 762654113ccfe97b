"""The reference engine runs what stands in the files: a debugger steps from `simulate` into a hook."""

import inspect
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from support.engine_setups import BUSY, LEAF_SPINE, flow_list, setup_of

import capsim
from capsim import simulate
from capsim.engines import reference, run
from capsim.engines.hosts import handlers, senders
from capsim.protocols.congestion import dctcp
from capsim.scenario.scenario import from_dict

FOLDER = str(Path(capsim.__file__).parent)
SCENARIO = from_dict(
    {
        "fabric": {"kind": "dumbbell", "hosts_per_side": 2},
        "traffic": [{"kind": "batch", "flows": 2, "flow_bytes": 30_000, "pairs": "sides"}],
        "scheme": "dctcp",
    }
)


def test_a_debugger_steps_from_simulate_into_a_hook() -> None:
    """Each step of the way is a function of a file, and the hook is the one that stands there."""
    stacks: list[list[CodeType]] = []

    def follow(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is dctcp.react.__code__:
            way, each = [], frame
            while each is not None and each.f_code is not simulate.__code__:
                way.append(each.f_code)
                each = each.f_back  # type: ignore[assignment]  # of the first frame: None
            stacks.append(way)

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        simulate(SCENARIO, engine="reference")
    finally:
        sys.settrace(before)
    assert stacks
    for function in (senders.heed, senders.acknowledge, handlers.deliver, reference.Network.deliver):
        assert function.__code__ in stacks[-1], function


def test_what_runs_is_what_is_read() -> None:
    """Wrong line: functions are made of text, or rewritten, before they run."""
    codes: set[CodeType] = set()
    flows = flow_list([(0, 8, 30_000, 0.0), (1, 8, 30_000, 0.0), (2, 8, 110_000, 0.0)])
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: codes.add(frame.f_code) if event == "call" else None)
    try:
        for name in ("dc2mtcp", "caps", "conga", "uet"):
            run(setup_of(LEAF_SPINE, flows, name), engine="reference")
    finally:
        sys.setprofile(before)
    functions = [code for code in codes if code.co_flags & inspect.CO_OPTIMIZED]  # no bodies of modules and classes
    of_python = ("<string>", "<frozen")  # methods of data classes and named tuples; the import system
    ours = [code for code in functions if not code.co_filename.startswith((*of_python, sys.prefix, sys.base_prefix))]
    assert [code for code in ours if not Path(code.co_filename).is_file()] == []
    plain = [code for code in ours if code.co_filename.startswith(FOLDER) and not code.co_name.startswith("<")]
    assert len(plain) > 200
    for code in plain:
        source = inspect.getsource(code).lstrip()
        head = next(line for line in source.splitlines() if not line.lstrip().startswith("@"))
        assert head.lstrip().startswith(f"def {code.co_name}("), code


def test_events_of_one_time_are_in_the_order_of_their_kinds_and_hashes() -> None:
    """By the public calls of SimPy; each time has an event of its own, also while another one is due."""
    setup = setup_of(*BUSY["dumbbell"], "ecmp")
    network = reference.Network(setup)
    happened: list[tuple[int, str]] = []
    for name, kind, time_ps in (("probe", 11, 5), ("arrive", 4, 5), ("depart", 3, 5), ("arrive", 4, 4)):
        event = reference.Event(network, kind, 7, lambda _, name=name: happened.append((network.env.now, name)))
        event.at(time_ps)
    network.env.run(until=6)
    assert happened == [(4, "arrive"), (5, "depart"), (5, "arrive"), (5, "probe")]
