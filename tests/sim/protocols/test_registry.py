"""Every registered scheme keeps the contract, and the registry says clearly what is wrong."""

from dataclasses import fields, replace
from importlib.metadata import EntryPoint

import pytest
from support.engine_setups import components_of, flow_list, setup_of
from support.scripted import PAIR, Hosts

from capsim import scheme, schemes
from capsim.engines.hosts import handlers
from capsim.engines.own_memory import param_record
from capsim.protocols import registry
from capsim.roles.hooks import ROLES
from capsmodel.checks import ParameterError


def test_the_schemes_asked_for_are_there():
    papers = {"ecmp", "rps", "ecmp_pq", "rps_pq", "repflow", "caps", "caps_dark", "caps_decode", "caps_ns2"}
    assert papers | {"dctcp", "sack", "single_path"} <= set(schemes())


def test_contract(subtests):
    for name in schemes():
        with subtests.test(name=name):
            entry = schemes()[name]
            assert entry.name == name
            assert scheme(name) is entry
            assert entry.summary
            assert entry.cite
            for component in (each for role in ROLES for each in components_of(entry, role)):
                assert len(param_record(component.params).dtype.names or ()) == len(fields(component.params))
                for hook in (getattr(component, field.name) for field in fields(component)):
                    assert not callable(hook) or hook.__doc__


def test_unknown_scheme_names_the_nearest(subtests):
    """Catches a list of all names in place of the nearest, and one that is near only in another case left out."""
    cases = [
        ("ecpm", "scheme = 'ecpm': did you mean ecmp? capsmodel schemes lists all"),
        ("CAPS", "scheme = 'CAPS': did you mean caps? capsmodel schemes lists all"),
        ("xyz", "scheme = 'xyz': no scheme has this name; capsmodel schemes lists all"),
    ]
    for name, told in cases:
        with subtests.test(name=name, told=told):
            with pytest.raises(ParameterError) as error:
                scheme(name)
            assert str(error.value) == told


def test_unknown_parameter_names_the_known():
    with pytest.raises(ParameterError, match=r"transport\.mtu is not a parameter of newreno: there are mss_bytes"):
        scheme("ecmp").with_params(transport={"mtu": 1500})


@pytest.mark.parametrize("name", ["caps", "caps_ns2"])
def test_long_from_the_start_needs_known_sizes(name):
    with pytest.raises(ParameterError, match="but sizes are not known"):
        replace(scheme(name), known_sizes=False)


@pytest.mark.parametrize("name", ["repflow", "ecmp_pq"])
def test_a_stack_of_short_flows_needs_known_sizes(name):
    with pytest.raises(
        ParameterError, match=f"^{name}: sizes are not known, but short flows have a stack of their own"
    ):
        replace(scheme(name), known_sizes=False)


@pytest.mark.parametrize("priority", [-1, 8])
def test_a_priority_is_one_of_eight(priority):
    with pytest.raises(ParameterError, match=rf"^priority = {priority}, but it must be from 0 to 7 as a class"):
        replace(scheme("ecmp").short, priority=priority)


def test_unknown_component():
    rule = "'router' is not a component with parameters: there are transport, .* with fabric, traffic, hosts or probes"
    with pytest.raises(ParameterError, match=rule):
        scheme("ecmp").with_params(router={"a": 1})


def test_impossible_parameters_are_one_clear_line(subtests):
    cases = [
        ({"transport": {"mss_bytes": 0}}, r"transport\.mss_bytes = 0, but it must be from 1 to 100000 bytes"),
        ({"transport": {"min_rto_s": -1.0}}, r"transport\.min_rto_s = -1, but it must be a number of at least 0"),
        ({"transport": {"min_rto_s": 99.0}}, r"transport\.min_rto_s is above max_rto_s"),
        ({"transport": {"max_window_bytes": 10}}, r"transport\.max_window_bytes is below mss_bytes"),
        (
            {"balancer": {"mode_period_s": 0.0}},
            r"balancer\.mode_period_s = 0, but it must be from 1e-12 to 4500 seconds",
        ),
        (
            {"layer": {"initial_blocking_prob": 1.0}},
            r"layer\.initial_blocking_prob = 1, but it must be from 0 to 0",
        ),
        ({"layer": {"sampling_s": 1e-13}}, r"layer\.sampling_s = 1e-13, but it must be 0 or from 1e-12 to"),
        ({"layer": {"ack": "unit"}}, r"layer\.ack = 'unit': there are packet, decoded"),
        ({"layer": {"min_repair": 10**6}}, r"layer\.min_repair = 1000000, but it must be from 0 to 1000 repair"),
        ({"balancer": {"long_from": "later"}}, r"balancer\.long_from = 'later': there are start, threshold"),
        ({"layer": {"max_overhead": 1e6}}, r"layer\.max_overhead = 1e\+06, but it must be from 0 to 1000 repair"),
    ]
    for changes, text in cases:
        with subtests.test(changes=changes, text=text), pytest.raises(ParameterError, match=text):
            scheme("caps").with_params(**changes)


LIMITS = [
    ("transport", "mss_bytes", 1, 0),
    ("transport", "ack_bytes", 1, 0),
    ("transport", "syn_bytes", 1, 0),
    ("transport", "initial_window_packets", 1, 0),
    ("transport", "dup_ack_threshold", 1, 0),
    ("transport", "mss_bytes", 99_960, 99_961),  # with 40 of headers
    ("transport", "max_window_bytes", 1460, 1459),
    ("transport", "initial_rto_s", 60.0, 60.1),
    ("transport", "min_rto_s", 60.0, 60.1),
    ("transport", "min_rto_s", 1e-6, 0.0),  # without an initial RTO
    ("transport", "max_rto_s", 0.2, 0.0),
    ("transport", "full_ack_option", 1, 0),
    ("transport", "full_ack_option", 2, 3),
    ("transport", "sack_blocks", 1, 0),
    ("transport", "sack_blocks", 4, 5),
    ("layer", "fixed_packets", 1, 0),
    ("layer", "max_overhead", 1000.0, 1000.5),
    ("layer", "sampling_s", 1e-12, 0.95e-12),
    ("layer", "sampling_s", 0.0, 0.95e-12),
    ("balancer", "mode_period_s", 1e-12, 0.95e-12),
]


def test_the_last_possible_value(subtests):
    for part, name, last, beyond in LIMITS:
        with subtests.test(part=part, name=name, last=last, beyond=beyond):
            caps, sack = scheme("caps"), scheme("sack").short.transport
            base = replace(caps, long=replace(caps.long, transport=sack))
            changed = components_of(base.with_params(**{part: {name: last}}), part)
            assert {getattr(component.params, name) for component in changed if name in component.settable} == {last}
            with pytest.raises(ParameterError, match=part):
                base.with_params(**{part: {name: beyond}})


def test_no_minimum_of_the_rto_with_an_initial_one():
    assert scheme("ecmp").with_params(transport={"min_rto_s": 0.0, "initial_rto_s": 1e-3})
    with pytest.raises(ParameterError, match="max_rto_s = 0, but it must be from 1e-06 to 4500 seconds"):
        scheme("ecmp").with_params(transport={"min_rto_s": 0.0, "max_rto_s": 0.0})


# What an RFC or a paper fixes.
FIXED = [
    ("caps_decode", "layer", {"systematic": False}),  # IV (1): k packets wait for each other
    ("ecmp", "transport", {"initial_window_packets": 10}),  # RFC 6928, section 2
    ("ecmp", "transport", {"dup_ack_threshold": 3, "limited_transmit": True}),  # RFC 5681, section 3.2; RFC 3042
    ("ecmp", "transport", {"max_rto_s": 60.0}),  # RFC 6298, 2.5
    ("ecmp", "transport", {"min_rto_s": 0.2}),  # RFC 6298 has 1 s; 200 ms in Linux and ns-2
    ("ecmp", "transport", {"ecn": False, "ecn_acks": False}),  # RFC 3168, 6.1.4
    ("dctcp", "congestion", {"ewma_gain": 1 / 16, "initial_alpha": 1.0}),  # RFC 8257
    ("dctcp", "transport", {"ecn": True, "ecn_acks": False}),  # RFC 8257
    ("dctcp", "queue", {"threshold_packets": 20}),  # Alizadeh et al. 2010
    ("sack", "transport", {"rescue": True, "resend_at_partial_ack": False}),  # RFC 6675, sections 4 and 5
    ("sack", "transport", {"sack_blocks": 3, "sack_option_bytes": 4, "sack_block_bytes": 8}),  # RFC 2018, section 3
    ("rps", "balancer", {"round_robin": False, "spray_acks": True, "leaf_only": False}),  # Dixit et al. 2013
    ("drill", "balancer", {"samples": 2, "memories": 1}),  # DRILL(2, 1): Ghorbani et al. 2017
    ("letflow", "balancer", {"gap_s": 500e-6, "table_entries": 65_536}),  # Vanini et al. 2017
    ("conga", "balancer", {"gap_s": 500e-6, "metric_bits": 3, "age_s": 10e-3}),  # Alizadeh et al. 2014
    ("presto", "layer", {"cell_bytes": 65_536, "hold_factor": 2.0, "grow_divisor": 2.0}),  # He et al. 2015
    ("caps", "balancer", {"threshold_bytes": 100_000, "mode_period_s": 500e-6}),  # Algorithm 1
    ("caps", "layer", {"sampling_s": 200e-6, "rtt_factor": 2.0}),  # VII, VI-A
    ("caps", "layer", {"rtt_short_s": 100e-6, "rtt_long_s": 3e-3, "packet_s": 12e-6}),  # VI-D
    ("caps", "layer", {"initial_blocking_prob": 1 / 6, "fixed_packets": 10}),  # the authors' ns-2 code: 10 + 2
    ("caps", "layer", {"min_repair": 0, "repair_partial": True, "resend_copies": 0.0}),  # VI-B
    ("caps_dark", "layer", {"coded_packets": 69}),  # VII: 100 KB
    ("caps_ns2", "layer", {"fixed_packets": 10, "min_repair": 2, "max_overhead": 0.0, "repair_partial": False}),
]


def test_defaults_that_a_source_fixes(subtests):
    for name, part, values in FIXED:
        with subtests.test(name=name, part=part, values=values):
            params = components_of(scheme(name), part)[0].params
            assert {key: getattr(params, key) for key in values} == values


def test_caps_dark_does_not_know_sizes():
    """VII: neither hosts nor switches are told which flows are short."""
    flows = flow_list([(0, 1, 1000, 0.0), (0, 1, 10**6, 0.0)])
    known = {name: [sub.short for sub in opened(flows, name).subs] for name in ("caps", "caps_dark")}
    assert known == {"caps": [1, 0], "caps_dark": [0, 0]}


def opened(flows, name):
    """Return hosts that have opened these flows and sent what their first windows allow."""
    found = Hosts(setup_of(PAIR, flows, name))
    for flow in range(len(flows)):
        handlers.start(found, flow, 0)
    return found


def test_repflow_sends_short_flows_twice_and_caps_ns2_may_spray_at_random():
    flows = flow_list([(0, 1, 1000, 0.0), (0, 1, 10**6, 0.0)])
    subflows = {name: [flow.n_subs for flow in opened(flows, name).flows] for name in ("repflow", "ecmp")}
    assert subflows == {"repflow": [2, 1], "ecmp": [1, 1]}
    assert scheme("caps_ns2").balancer.draws  # for round_robin = false


def registered(monkeypatch, value):
    """Let a package register `value`, module:attribute, as the scheme ``own``."""
    monkeypatch.setattr(registry, "schemes", registry.schemes.__wrapped__)
    monkeypatch.setattr(registry, "entry_points", lambda group: [EntryPoint("own", value, group)])


def test_a_package_registers_a_scheme(monkeypatch):
    own = replace(scheme("rps"), name="own")
    monkeypatch.setattr(registry, "OWN", own, raising=False)
    registered(monkeypatch, "capsim.protocols.registry:OWN")
    assert scheme("own") is own is registry.schemes()["own"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("no_such_module:SCHEME", "cannot be loaded, ModuleNotFoundError: No module named 'no_such_module': repair"),
        ("capsim.protocols.registry:NO_SUCH", "cannot be loaded, AttributeError"),
        ("capsim.protocols.registry:ENTRY_POINT_GROUP", "is no Scheme"),
        ("capsim.protocols.schemes.ecmp:SCHEME", "two schemes are called 'ecmp'"),
    ],
)
def test_a_package_that_registers_no_scheme_is_named_and_those_of_this_one_are_there(value, told, monkeypatch):
    registered(monkeypatch, value)
    for ask in (registry.schemes, lambda: scheme("own")):
        with pytest.raises(ParameterError, match=told):
            ask()
    assert scheme("ecmp").name == "ecmp"
