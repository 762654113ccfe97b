"""Contract: every number of a scenario and of a scheme has its bounds; beyond them is one line, at them it runs.

At a bound both engines give the same records: nothing that a scenario may ask for leaves the engines' integers.
"""

import math
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from support.engine_setups import DUMBBELL, components_of, differences, flow_list, setup_of

from capsim import (
    Batch,
    Dumbbell,
    Edge,
    FatTree,
    Hosts,
    Incast,
    LeafSpine,
    LinkChange,
    Listed,
    Node,
    OnOff,
    ParallelPaths,
    ParameterError,
    Poisson,
    Probes,
    Scenario,
    Topology,
    load_scenario,
    scheme,
    schemes,
    simulate,
)
from capsim.base import bounds
from capsim.base.bounds import Bound, param_bounds
from capsim.base.clock import to_ps
from capsim.engines import run
from capsim.engines.state import Setup
from capsim.roles.catalogue import parameters
from capsim.roles.hooks import ROLES
from capsim.run.simulation import prepare
from capsim.scenario.scenario import Comparison, from_dict

pytestmark = pytest.mark.agreement

STRUCTS = (
    Scenario,
    Hosts,
    Probes,
    Comparison,
    LeafSpine,
    FatTree,
    ParallelPaths,
    Dumbbell,
    Topology,
    Node,
    Edge,
    LinkChange,
    Poisson,
    Batch,
    OnOff,
    Incast,
)
PAIR = ((0, 1, 5000, 0.0),)
BASE = Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=(Listed(flows=((0, 2, 5000, 0.0),)),))


def numbers_in(hint: Any) -> list[tuple[type, msgspec.Meta | None]]:
    """Return the numeric types inside a type hint, each with the bounds that are stated for it."""
    if get_origin(hint) is Annotated:
        plain, *extras = get_args(hint)
        meta = next((extra for extra in extras if isinstance(extra, msgspec.Meta)), None)
        return [(plain, meta)] if plain in (int, float) else numbers_in(plain)
    if hint in (int, float):
        return [(hint, None)]
    return [found for inner in get_args(hint) for found in numbers_in(inner)]


NUMBERS = [
    (struct, name, kind, meta)
    for struct in STRUCTS
    for name, hint in get_type_hints(struct, include_extras=True).items()
    for kind, meta in numbers_in(hint)
    if (struct, name) != (Scenario, "params")  # the scheme has their bounds
]


@pytest.mark.parametrize(("struct", "name", "meta"), [(struct, name, meta) for struct, name, _, meta in NUMBERS])
def test_every_number_of_a_scenario_has_bounds(struct: Any, name: str, meta: msgspec.Meta | None) -> None:
    assert meta is not None, f"{struct.__name__}.{name}"
    assert meta.ge is not None
    assert meta.le is not None
    assert math.isfinite(meta.le)


def test_times_and_sizes_have_the_bounds_of_their_quantity() -> None:
    """One bound for each quantity: what ends alike in its unit has at most the limit of that unit."""
    largest = {"_s": bounds.TIME_S, "_bps": bounds.RATE_BPS, "flow_bytes": bounds.FLOW_BYTES}
    for _, name, _, meta in NUMBERS:
        for suffix, bound in largest.items():
            if name.endswith(suffix) and name != "flows_per_s":
                assert meta is not None
                assert meta.le <= bound.largest, name


# Each parameter of each class once, with a scheme that has it: many schemes have the same components.
PARAMS = list(
    {
        (type(component.params), field): (name, role, field)
        for name in reversed(schemes())
        for role in ROLES
        for component in components_of(scheme(name), role)
        for field in component.settable
        if type(getattr(component.params, field)) in (int, float)
    }.values()
)


def bound_of(name: str, role: str, field: str) -> Bound:
    known = [param_bounds(type(component.params)) for component in components_of(scheme(name), role)]
    return next(bounds_of_one[field] for bounds_of_one in known if field in bounds_of_one)


@pytest.mark.parametrize(("name", "role", "field"), PARAMS)
def test_every_parameter_has_bounds_and_beyond_them_is_one_line(name: str, role: str, field: str) -> None:
    bound = bound_of(name, role, field)
    assert bound is not bounds.NUMBER
    chosen = scheme(name)
    is_float = isinstance(bound.largest, float)
    for beyond in (math.nextafter(bound.largest, math.inf) if is_float else bound.largest + 1, 10**400, -1, math.nan):
        with pytest.raises(ParameterError, match=rf"^{role}\.{field} = .*, but it must be ") as raised:
            chosen.with_params(**{role: {field: beyond}})
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) < 200


# Beside a value that is alone at its bound, what a rule on two parameters asks for.
TOGETHER = {
    ("transport", "mss_bytes"): {"header_bytes": 0, "max_window_bytes": 2**30},
    ("transport", "header_bytes"): {"mss_bytes": 1},
    ("transport", "max_rto_s"): {"min_rto_s": 1e-6, "initial_rto_s": 0.0},
    ("transport", "min_rto_s"): {"max_rto_s": 4500.0},
    ("transport", "initial_rto_s"): {"max_rto_s": 4500.0},
    ("transport", "max_window_bytes"): {"mss_bytes": 1},
    ("transport", "off_s"): {"on_s": 1e-3},
    ("layer", "request_s"): {"ack": "decoded"},
}
LARGE = [(0, 3, 3000, 0.0), (1, 3, 15_000, 5.0), (2, 4, 101_000, 9.0)]
SMALL = [(0, 3, 3000, 0.0), (1, 3, 15_000, 5.0)]
TINY = [(0, 3, 1000, 0.0), (1, 3, 5000, 5.0)]
THOUSANDFOLD = ("resend_copies", "most_overhead", "max_overhead")  # what is sent for each packet
NOT_TOGETHER = {("transport", "header_bytes", 100_000): 99_999, ("transport", "mss_bytes", 100_000): 100_000}
DISTINCT = {(role, field): name for name, role, field in reversed(PARAMS)}


def at_bounds() -> list[tuple[str, str, str, float]]:
    """Return each parameter once, with a scheme that has it, at its least and at its largest value."""
    found = []
    for (role, field), name in sorted(DISTINCT.items()):
        bound = bound_of(name, role, field)
        for value in (bound.least, bound.largest):
            found.append((name, role, field, NOT_TOGETHER.get((role, field, int(value)), value)))
    return found


@pytest.mark.parametrize(("name", "role", "field", "value"), at_bounds())
def test_at_the_bound_both_engines_run_and_agree(name: str, role: str, field: str, value: float) -> None:
    known = {one.name for one in parameters(scheme(name)) if one.role == role}
    together = TOGETHER.get((role, field), {})
    changes = {role: {field: value, **{each: also for each, also in together.items() if each in known}}}
    if (role, field, value) == ("transport", "mss_bytes", 1):
        changes[role] |= {"max_window_bytes": 100}
    flows = SMALL if field in THOUSANDFOLD else LARGE
    if changes.get("transport", {}).get("mss_bytes") == 1:
        flows = TINY  # a packet for each byte
    assert differences(setup_of(DUMBBELL, flow_list(flows), name, end_ps=10**10, **changes)) == []


def changed(change: dict[str, Any]) -> Scenario:
    """Return the small scenario with dotted keys changed, as a file would have them."""
    tables = BASE.to_dict()
    for key, value in change.items():
        place = tables
        *path, last = key.split(".")
        for step in path:
            place = place.setdefault(step, {})
        place[last] = value
    return from_dict(tables)


LINK = {"between": ["left", "right"]}
ON_OFF = {"kind": "on-off", "bursts": 1, "flows_per_burst": 3, "flow_bytes": 1, "pairs": "sides"}
INCAST = {"kind": "incast", "senders_per_round": 1, "flow_bytes": 1}
POISSON = {"kind": "poisson", "flow_bytes": 1, "pairs": "sides"}
AT_BOUNDS = [
    {"fabric.rate_bps": 1.0, "fabric.host_rate_bps": 1e13, "end_s": 4500.0},
    {"fabric.rate_bps": 1e13, "fabric.host_rate_bps": 1.0, "end_s": 4500.0},
    {"fabric.delay_s": 4500.0, "end_s": 4500.0, "params.transport": {"min_rto_s": 50.0}},
    {"fabric.buffer_packets": 1, "fabric.host_buffer_bytes": 2**50},
    {"fabric.buffer_bytes": 1, "end_s": 5.0},
    {"fabric.buffer_packets": 2**31 - 1, "fabric.reroute_s": 4500.0},
    {"fabric.links": [{**LINK, "rate_bps": 1e13, "delay_s": 4500.0}], "end_s": 4500.0},
    {"fabric.links": [{**LINK, "down_s": 0.0, "up_s": 4500.0}], "end_s": 4500.0},
    {"fabric.links": [{**LINK, "buffer_packets": 1}, {**LINK, "buffer_bytes": 2**50}]},
    {"link_bytes": 10_000, "short_bytes": 2**40, "seed": 2**63 - 1, "host_jitter_s": 1.0},
    {"scheme": "caps", "hosts": {"encode_s_per_packet": 1e-3, "decode_s_per_packet": 1e-3}},
    {"probes": {"period_s": 4500.0, "flows": [0]}, "warm_up_s": 4499.0, "end_s": 4500.0},
    {"probes": {"period_s": 1e-9, "flows": [0]}, "end_s": 1e-5},
    {"end_s": 1e-12},
    {"traffic": [{"kind": "list", "flows": [[0, 2, 2**40, 0.0], [1, 3, 1, 4499.0]]}], "end_s": 1e-3},
    {"traffic": [{"kind": "list", "flows": [[0, 2, 1, 4500.0]]}], "end_s": 4500.0},
    {"traffic": [{**INCAST, "period_s": 4500.0, "spread_s": 4499.0}], "end_s": 4500.0},
    {"traffic": [{**ON_OFF, "mean_on_s": 0.0, "mean_off_s": 1e-12}]},
    {"traffic": [{**POISSON, "load": 10.0, "flows": 9}]},
    {"traffic": [{**POISSON, "flows_per_s": 1e12, "flows": 9}]},
    {"fabric": {"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2, "oversubscription": 1e3}},
    {"fabric": {"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2, "oversubscription": 1e-3}},
]


@pytest.mark.parametrize("change", AT_BOUNDS)
def test_a_scenario_at_its_bounds_runs_and_the_engines_agree(change: dict[str, Any]) -> None:
    scenario = changed(change)
    assert differences(prepare(scenario)) == []
    flows = simulate(scenario).flows
    assert (flows["start_s"] >= 0).all()
    assert not (flows["slowdown"] < 1).any()


BEYOND = [
    ({"fabric.rate_bps": math.inf}, "fabric.rate_bps: Expected `float` <= 10000000000000.0, but it is inf"),
    ({"fabric.rate_bps": 0.6}, "fabric.rate_bps: Expected `float` >= 1.0, but it is 0.6"),
    ({"fabric.delay_s": 1e7}, "fabric.delay_s: Expected `float` <= 4500.0, but it is 1e+07"),
    ({"fabric.reroute_s": math.nan}, "fabric.reroute_s"),
    ({"fabric.buffer_packets": 2**63}, "fabric.buffer_packets: Expected `int` <= 2147483647, but it is 1e18 or more"),
    ({"fabric.host_buffer_bytes": 10**400}, "fabric.host_buffer_bytes"),
    ({"fabric.links": [{**LINK, "buffer_packets": 0}]}, r"fabric.links[0].buffer_packets: Expected `int` >= 1"),
    ({"fabric.links": [{**LINK, "buffer_packets": -1}]}, r"fabric.links[0].buffer_packets"),
    ({"fabric.links": [{**LINK, "rate_bps": 0.6}]}, r"fabric.links[0].rate_bps"),
    ({"fabric.links": [{**LINK, "down_s": math.inf}]}, r"fabric.links[0].down_s"),
    ({"fabric.links": [{**LINK, "down_s": 0.0, "up_s": 1e7}]}, r"fabric.links[0].up_s"),
    ({"fabric.links": [{**LINK, "parallel": 0}]}, r"fabric.links[0].parallel"),
    ({"fabric.links": 1001 * [LINK]}, "fabric.links"),
    ({"warm_up_s": math.inf}, "warm_up_s: Expected `float` <= 4500.0, but it is inf"),
    ({"end_s": 4501.0}, "end_s"),
    ({"end_s": 1e-13}, "end_s"),
    ({"probes": {"period_s": 1e-12}}, "probes.period_s: Expected `float` >= 1e-09, but it is 1e-12"),
    ({"probes": {"period_s": math.inf}}, "probes.period_s"),
    ({"traffic": [{**POISSON, "load": math.inf, "flows": 9}]}, "traffic[0].load"),
    ({"traffic": [{**POISSON, "flows_per_s": 1e-300, "flows": 9}]}, "traffic[0].flows_per_s"),
    ({"traffic": [{**POISSON, "load": 0.5, "duration_s": 1e18}]}, "traffic[0].duration_s"),
    ({"traffic": [{**POISSON, "load": 0.5, "flows": 9, "flow_bytes": "1e99GB"}]}, "flow_bytes: "),
    ({"traffic": [{**POISSON, "load": 0.5, "flows": 9, "flow_bytes": "1e999999GB"}]}, "flow_bytes: '1e999999GB'"),
    ({"traffic": [{**INCAST, "receiver": 2**63}]}, "traffic[0].receiver"),
    ({"traffic": [{**INCAST, "rounds": 3_000_000}]}, "traffic[0].rounds"),
    ({"traffic": [{**ON_OFF, "mean_on_s": 1e18, "mean_off_s": 1.0}]}, "traffic[0].mean_on_s"),
    ({"traffic": 32_768 * [POISSON]}, "traffic"),
    ({"fabric.rate_bps": 3000 * "1" + " x y"}, "rate_bps: '1111"),
    ({"seed": 2**63}, "seed"),
    ({"compare": {"schemes": ["ecmp"], "seeds": 10**9}}, "compare.seeds"),
]


@pytest.mark.parametrize(("change", "line"), BEYOND)
def test_a_scenario_beyond_its_bounds_is_one_line(change: dict[str, Any], line: str) -> None:
    with pytest.raises(ParameterError) as raised:
        changed(change)
    text = str(raised.value)
    assert line in text
    assert "\n" not in text
    assert len(text) < 250


PARAMS_BEYOND = [
    ({"transport": {"ack_bytes": 4e9}}, "ack_bytes = 4e"),
    ({"transport": {"ack_bytes": 99999999999}}, "ack_bytes = 99999999999"),
    ({"transport": {"initial_window_packets": 1e16}}, "initial_window_packets = 1e"),
    ({"transport": {"initial_rto_s": 1e6, "max_rto_s": 9e6}}, "rto_s = "),
    ({"transport": {"min_rto_s": 0.0, "initial_rto_s": 1e-12, "max_rto_s": 1e-12}}, "rto_s = 1e-12"),
    ({"transport": {"granularity_s": 1e300}}, "granularity_s = 1e"),
    ({"transport": {"dup_ack_threshold": 2**63}}, "dup_ack_threshold = 1e18 or more"),
    ({"sharing": {"copies": 0}}, "copies = 0"),
    ({"sharing": {"copies": 10**6}}, "copies = 1000000"),
    ({"__class__": {}}, "'__class__' is not a component"),
]


@pytest.mark.parametrize(("params", "line"), PARAMS_BEYOND)
def test_parameters_beyond_their_bounds_are_one_line(params: dict[str, Any], line: str) -> None:
    with pytest.raises(ParameterError) as raised:
        prepare(changed({"params": params, "scheme": "repflow"}))
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)


LATE = [
    {"traffic": [{**POISSON, "load": 1e-9, "flows": 10, "flow_bytes": 10**6}]},
    {"traffic": [{"kind": "list", "flows": [[0, 1, 10, 1e7]]}]},
    {"traffic": [{**INCAST, "rounds": 3, "period_s": 4500.0}]},
    {"traffic": [{"kind": "batch", "flow_bytes": 9, "pairs": "sides", "start_s": 4500.0, "spread_s": 1.0}]},
]


@pytest.mark.parametrize("change", LATE)
def test_a_flow_that_starts_after_every_run_is_named(change: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"^traffic\[0\]\.flows\[\d\]: start_s = .*, but it must be from 0 to 45"):
        prepare(changed(change))


def test_numbers_that_no_array_holds_are_named_by_their_flow() -> None:
    for row in ((0, 2**70, 5, 0.0), (-(2**70), 1, 5, 0.0), (0, 1, 2**63, 0.0), (0, 1, 5, math.inf)):
        with pytest.raises(ParameterError, match=r"^traffic\[0\]\.flows\[1\]: "):
            prepare(changed({"traffic": [{"kind": "list", "flows": [*PAIR, row]}]}))


def test_a_file_of_absurd_numbers_is_one_line(tmp_path: Path) -> None:
    for text, line in (
        ("seed = " + 5000 * "9", "is not TOML"),
        ("notes = " + 5000 * "[" + 5000 * "]", "nested too deeply"),
    ):
        file = tmp_path / "absurd.toml"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ParameterError, match=line) as raised:
            load_scenario(file)
        assert "\n" not in str(raised.value)


def test_a_segment_has_a_number_of_32_bits() -> None:
    """2**40 bytes in segments of 1 byte."""
    flows = [{"kind": "list", "flows": [[0, 2, 2**40, 0.0]]}]
    setup = prepare(changed({"traffic": flows, "params": {"transport": {"mss_bytes": 1}}, "end_s": 1e-6}))
    for engine in ("compiled", "reference"):
        with pytest.raises(ParameterError, match=r"segments of 1 bytes .* = 1099511627776, but it must be from 1 to"):
            run(setup, engine=engine)


def test_a_queue_of_weeks_ends_the_run_in_both_engines() -> None:
    """At 1 bit/s a packet of 1500 B takes 12000 s: 192 of them take 2.304e6 s, below 2^61 ps, and 200 take more."""

    def setup(n_flows: int, name: str) -> Setup:
        flows = [{"kind": "list", "flows": n_flows * [[0, 2, 14_600, 0.0]]}]
        return prepare(changed({"traffic": flows, "fabric.rate_bps": 1.0, "scheme": name, "end_s": 0.1}))

    for name in ("ecmp", "ecmp_pq"):
        assert differences(setup(19, name)) == []
        for engine in ("compiled", "reference"):
            with pytest.raises(ParameterError, match="the queue at host0>left takes more than 27 days to send"):
                run(setup(20, name), engine=engine)


def test_no_packet_time_leaves_63_bits() -> None:
    assert bounds.WIRE_BYTES * 8 * 10**12 + bounds.BACKLOG_PS + to_ps(bounds.TIME_S.largest) < 2**63
    assert to_ps(bounds.END_S.largest) < bounds.MAX_TIME_PS
    most_bytes_ns = bounds.MAX_TIME_PS // 1000 * bounds.WIRE_BYTES
    assert bounds.WORD + max(most_bytes_ns, bounds.MAX_TIME_PS) < 2**63
