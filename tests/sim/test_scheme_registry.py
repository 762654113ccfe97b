"""Every registered scheme keeps the contract, and the registry says clearly what is wrong."""

from dataclasses import fields

import pytest

from capsim.hooks import param_record
from capsim.registry import scheme, schemes
from capsmodel._checks import ParameterError


def test_the_schemes_asked_for_are_there():
    assert {"ecmp", "rps", "ecmp_pq", "rps_pq", "repflow", "caps", "caps_dark", "dctcp", "sack", "single_path"} <= set(
        schemes()
    )


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


def test_unknown_component():
    with pytest.raises(ParameterError, match="'router' is not a component"):
        scheme("ecmp").with_params(router={"a": 1})
