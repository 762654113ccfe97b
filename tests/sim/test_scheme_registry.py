"""Every registered scheme keeps the contract, and the registry says clearly what is wrong."""

from dataclasses import fields, replace

import pytest

from capsim.hooks import param_record
from capsim.registry import scheme, schemes
from capsmodel._checks import ParameterError


def test_the_schemes_asked_for_are_there():
    papers = {"ecmp", "rps", "ecmp_pq", "rps_pq", "repflow", "caps", "caps_dark", "caps_decode", "caps_ns2"}
    assert papers | {"dctcp", "sack", "single_path"} <= set(schemes())


@pytest.mark.parametrize("name", schemes())
def test_contract(name):
    entry = schemes()[name]
    assert entry.name == name
    assert entry.summary
    assert entry.cite
    for component in (entry.transport, entry.balancer, entry.coding, entry.queue):
        assert len(param_record(component.params).dtype.names or ()) == len(fields(component.params))
        for hook in (getattr(component, field.name) for field in fields(component)):
            assert not callable(hook) or hook.__doc__


def test_unknown_scheme_names_the_known():
    with pytest.raises(ParameterError, match=r"scheme = 'ecpm', but there are caps, .*ecmp"):
        scheme("ecpm")


def test_unknown_parameter_names_the_known():
    with pytest.raises(ParameterError, match=r"transport\.mtu is not a parameter of newreno: there are mss_bytes"):
        scheme("ecmp").with_params(transport={"mtu": 1500})


@pytest.mark.parametrize("name", ["caps", "caps_ns2"])
def test_long_from_the_start_needs_known_sizes(name):
    with pytest.raises(ParameterError, match="but sizes are not known"):
        replace(scheme(name), known_sizes=False)


def test_unknown_component():
    with pytest.raises(ParameterError, match="'router' is not a component"):
        scheme("ecmp").with_params(router={"a": 1})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"transport": {"mss_bytes": 0}}, r"transport\.mss_bytes = 0, but it must be at least 1"),
        ({"transport": {"min_rto_s": -1.0}}, r"transport\.min_rto_s = -1.0, but it must be a number of at least 0"),
        ({"transport": {"min_rto_s": 99.0}}, r"transport\.min_rto_s is above max_rto_s"),
        ({"transport": {"max_window_bytes": 10}}, r"transport\.max_window_bytes is below mss_bytes"),
        ({"balancer": {"mode_period_s": 0.0}}, r"balancer\.mode_period_s must be at least a picosecond"),
        ({"coding": {"initial_blocking_prob": 1.0}}, r"coding\.initial_blocking_prob must lie in \[0, 1\)"),
        ({"coding": {"sampling_s": 1e-13}}, r"coding\.sampling_s = 1e-13, but it must be 0 or at least a picosecond"),
        ({"coding": {"ack": "unit"}}, r"coding\.ack = 'unit', but it must be one of packet, decoded"),
        ({"coding": {"min_repair": 10**6}}, r"coding\.min_repair = 1e\+06, but 1000 is the most"),
        ({"balancer": {"long_from": "later"}}, r"balancer\.long_from = 'later', but .* start, threshold"),
        ({"coding": {"max_overhead": 1e6}}, r"coding\.max_overhead = 1e\+06, but 1000 is the most"),
    ],
)
def test_impossible_parameters_are_one_clear_line(changes, text):
    with pytest.raises(ParameterError, match=text):
        scheme("caps").with_params(**changes)
