"""The scheme of a run, and mixtures: traffic entries whose hosts run the stacks of another one than the switches."""

from collections.abc import Mapping, Sequence
from typing import Any

from capsim.fabric.traffic import AnyTraffic
from capsim.protocols.registry import NICS
from capsim.protocols.registry import scheme as find
from capsim.roles.components import Scheme
from capsim.roles.hooks import HOST_ROLES, NETWORK_ROLES
from capsim.scenario.scenario import Scenario

Params = Mapping[str, Mapping[str, Any]]


def scheme_of_run(scenario: Scenario, scheme: Scheme) -> Scheme:
    """Return `scheme` with the NIC and the parameters that a scenario asks for.

    What a scheme has but does not read is left out: a scenario is also for others, which do
    (:func:`capsim.scenario.profile.setting_remarks` names it).

    Raises
    ------
    ParameterError
        If it has no such parameter, or a value is not of the parameter's kind.

    Examples
    --------
    >>> from capsim.scenario.scenario import load_scenario
    >>> scheme_of_run(load_scenario("p64").replace(nic="round_robin"), find("ecmp")).nic.name
    'round_robin'
    """
    nic = scheme.nic if scenario.nic == "fifo" else NICS[scenario.nic]
    unread = unread_params(scenario, scheme)
    read = {
        role: {name: value for name, value in values.items() if f"{role}.{name}" not in unread}
        for role, values in scenario.params.items()
    }
    return scheme.with_nic(nic).with_params(**read)


def unread_params(scenario: Scenario, scheme: Scheme) -> list[str]:
    """Return the parameters of a scenario that `scheme` has and does not read, by the name of the setting.

    Examples
    --------
    >>> from capsim.scenario.scenario import load_scenario
    >>> asked = load_scenario("p64").replace(params={"transport": {"min_rto_s": 0.01, "ecn": True}})
    >>> unread_params(asked, find("pfabric")), unread_params(asked, find("ecmp"))
    (['transport.min_rto_s'], [])
    """
    unread_names = []
    for role, values in scenario.params.items():
        components = [getattr(stack, role) for stack in scheme.stacks] if role in HOST_ROLES else []
        components += [getattr(scheme, role)] if role in NETWORK_ROLES else []
        having = [each for each in components if any(name in values for name in getattr(each.params, "unread", ()))]
        unread = {name for each in having for name in each.params.unread}
        unread -= {name for each in components for name in each.settable}
        unread_names += [f"{role}.{name}" for name in values if name in unread]
    return unread_names


def entry_schemes(entries: Sequence[AnyTraffic], params: Params) -> dict[int, Scheme]:
    """Return the scheme whose stacks the flows of an entry run, by the position of each entry that names one.

    Parameters
    ----------
    entries : sequence
        The traffic of a scenario.
    params : dict
        Parameters of the scenario, by role: those of host roles hold for all stacks whose components have them.

    Raises
    ------
    ParameterError
        If there is no such scheme, or a value is not of the parameter's kind.

    Examples
    --------
    >>> from capsim import Batch
    >>> mixture = (Batch(flow_bytes=1000), Batch(flow_bytes=10**6, stack="mptcp"))
    >>> {position: scheme.long.sharing.name for position, scheme in entry_schemes(mixture, {}).items()}
    {1: 'mptcp'}
    """
    named = {position: entry.stack for position, entry in enumerate(entries) if entry.stack is not None}
    return {
        position: _with_known(find(name, key=f"traffic[{position}].stack"), params) for position, name in named.items()
    }


def _with_known(scheme: Scheme, params: Params) -> Scheme:
    """Return `scheme` with those parameters of hosts that it has: the rest is of other entries and of switches."""
    known = {}
    for role in HOST_ROLES:
        own = {name for stack in scheme.stacks for name in getattr(stack, role).settable}
        known[role] = {name: value for name, value in params.get(role, {}).items() if name in own}
    return scheme.with_params(**{role: values for role, values in known.items() if values})
