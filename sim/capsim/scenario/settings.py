"""Settings by name: how the command line and studies change one value of a scenario.

====================== ================================================================================
name                   what it sets
====================== ================================================================================
``seed``, ``end_s``    a field of :class:`~capsim.scenario.scenario.Scenario`; so do ``short_bytes``, ``trace``, ...
``fabric.KEY``         a key of the table ``[fabric]``, such as ``fabric.buffer_packets``
``fabric.LIST.N.KEY``  a key of entry N, counted from 0, of ``links`` or ``faults``, such as ``fabric.faults.0.share``
``traffic.KEY``        a key of every entry ``[[traffic]]`` whose kind has it, such as ``traffic.load``
``traffic.N.KEY``      a key of entry N, counted from 0
``probes.KEY``         a key of the table ``[probes]``, such as ``probes.histograms``; likewise ``hosts.KEY``
``ROLE.NAME``          a parameter of the scheme's component, such as ``transport.min_rto_s``, or of the NIC
====================== ================================================================================

A quantity may be text with its unit (``"10ms"``), as in a file.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from capsim.fabric.kinds import AnyFabric
from capsim.fabric.traffic import AnyTraffic
from capsim.protocols.registry import scheme as find
from capsim.roles.components import Scheme
from capsim.roles.hooks import HOST_ROLES, NETWORK_ROLES, ROLES
from capsim.roles.scheme_files import is_reference
from capsim.scenario.scenario import Hosts, Probes, Scenario, from_dict, load_scenario
from capsmodel.checks import ParameterError, nearest, require

_SIZES = {"workload", "flow_bytes", "flow_bytes_cdf"}
_RANGE = {"min_bytes", "max_bytes"}
# Keys that say the same in another way, removed when one is set.
_REPLACED: dict[str, set[str]] = {
    "load": {"flows_per_s"},
    "flows_per_s": {"load"},
    "flows": {"duration_s"},
    "duration_s": {"flows"},
    "buffer_packets": {"buffer_bytes"},
    "buffer_bytes": {"buffer_packets"},
    "count": {"share"},
    "share": {"count"},
    "host_buffer_packets": {"host_buffer_bytes"},
    "host_buffer_bytes": {"host_buffer_packets"},
    **{key: (_SIZES | _RANGE) - {key} for key in _SIZES},
    **dict.fromkeys(_RANGE, _SIZES),
}
_FABRICS: dict[str, Any] = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyFabric)}
_TRAFFIC: dict[str, Any] = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyTraffic)}


def with_settings(
    scenario: Scenario | str | Path, settings: Mapping[str, Any], *, folder: Path | None = None
) -> Scenario:
    """Return `scenario` with some values changed.

    Parameters
    ----------
    scenario : Scenario, str or Path
        As it was, or what makes one (:func:`capsim.load_scenario`).
    settings : mapping
        Name and new value of each.
    folder : Path, optional
        What the names of files in values are relative to; the current folder when left out.

    Raises
    ------
    ParameterError
        If a name does not fit the scenario or a value breaks a rule. Parameters of a scheme are checked when it runs.

    Examples
    --------
    >>> changed = with_settings("p64", {"fabric.rate_bps": "10Gbps", "transport.min_rto_s": "10ms"})
    >>> changed.fabric.rate_bps, changed.params
    (10000000000.0, {'transport': {'min_rto_s': 0.01}})
    """
    tables = (scenario if isinstance(scenario, Scenario) else load_scenario(scenario)).to_dict()
    for name, value in settings.items():
        _set(tables, name, value)
    return from_dict(tables, folder=folder)


@dataclass(frozen=True)
class Described:
    """A checked scenario and its tables; what differs from it in a few settings shares the rest and is made faster.

    Attributes
    ----------
    scenario : Scenario
        From a file or from tables, so that no rule is broken.
    tables : mapping
        Its :meth:`~capsim.scenario.scenario.Scenario.to_dict`, to be read only.
    """

    scenario: Scenario
    tables: Mapping[str, Any]

    @classmethod
    def of(cls, scenario: Scenario) -> "Described":
        """Return a checked scenario with its tables."""
        return cls(scenario, scenario.to_dict())

    def changed(self, settings: Mapping[str, Any]) -> "Described":
        """Return what :func:`with_settings` gives, with its tables; errors as there."""
        parts = {part if part in Scenario.__struct_fields__ else "params" for part in map(_part, settings)}
        parts |= {"fabric"} if "profile" in parts else set()  # whose links it fills in
        tables = {part: deepcopy(self.tables[part]) for part in parts if part in self.tables}
        for name, value in settings.items():
            _set(tables, name, value)
        rest = {name: getattr(self.scenario, name) for name in Scenario.__struct_fields__ if name not in parts}
        scenario = from_dict(rest | tables)
        same = {name: table for name, table in self.tables.items() if name not in parts}
        return Described(scenario, same | scenario.tables(only=parts))


def _part(name: str) -> str:
    """Return the key of a scenario that a setting belongs to."""
    plain = name.removeprefix("params.")
    return "params" if is_parameter(plain) else plain.partition(".")[0]


def is_parameter(name: str) -> bool:
    """Return whether a setting is a parameter of a component.

    Examples
    --------
    >>> is_parameter("nic.quantum_bytes"), is_parameter("nic"), is_parameter("fabric.rate_bps")
    (True, False, False)
    """
    role, dot, _ = name.partition(".")
    return bool(dot) and role in ROLES


def _set(tables: dict[str, Any], name: str, value: Any) -> None:
    first, *rest = name.removeprefix("params.").split(".")
    if first == "traffic" and rest:
        _set_traffic(tables["traffic"], name, rest, value)
    elif first == "fabric" and len(rest) == 1:
        _put(tables["fabric"], rest[0], value)
    elif first in ("hosts", "probes") and len(rest) == 1:
        tables.setdefault(first, {})[rest[0]] = value
    elif first == "fabric" and len(rest) == 3:
        _put_in_list(tables["fabric"], name, rest, value)
    elif not rest:
        known = Scenario.__struct_fields__
        if first not in known:
            raise ParameterError(f"{name} is no setting: {_nearest(tables, first) or _advice(known)}")
        tables[first] = value
    else:
        of_scheme = len(rest) == 1 and (first in ROLES or first not in Scenario.__struct_fields__)
        require(of_scheme, f"{name} is no setting: {_advice(())}")
        tables.setdefault("params", {}).setdefault(first, {})[rest[0]] = value


def _nearest(tables: Mapping[str, Any], name: str) -> str:
    """Return as advice the settings of a scenario whose last part is a name, or nearest to it; empty if none is."""
    parts = {"fabric": [_FABRICS[tables["fabric"]["kind"]]], "hosts": [Hosts], "probes": [Probes]}
    parts["traffic"] = [_TRAFFIC[entry["kind"]] for entry in tables["traffic"]]
    names = {part: [key for kind in kinds for key in kind.__struct_fields__] for part, kinds in parts.items()}
    scheme = tables.get("scheme", "ecmp")
    if not is_reference(scheme):  # whose file would be run
        names |= _names_of_params(find(scheme))
    full = [f"{part}.{key}" for part, keys in names.items() for key in keys]
    near = nearest(name, {one.partition(".")[2] for one in full})
    chosen = dict.fromkeys(one for one in full if one.partition(".")[2] in near)
    return f"did you mean {' or '.join(chosen)}?" if chosen else ""


def _names_of_params(scheme: Scheme) -> dict[str, list[str]]:
    """Return the names of parameters by role."""
    places = {role: scheme.stacks for role in HOST_ROLES} | dict.fromkeys(NETWORK_ROLES, (scheme,))
    return {
        role: [each.name for place in having for each in fields(getattr(place, role).params)]
        for role, having in places.items()
    }


def _advice(known: Iterable[str]) -> str:
    listed = f"one of {', '.join(known)}, or " if known else ""
    return f"write {listed}a name such as fabric.rate_bps, traffic.load or transport.min_rto_s"


def _set_traffic(entries: list[dict[str, Any]], name: str, rest: list[str], value: Any) -> None:
    position, key = (rest[0], rest[-1]) if len(rest) == 2 else ("", rest[0] if len(rest) == 1 else "")
    listed = position.isdecimal() and int(position) < len(entries)
    require(key and (listed or not position), f"{name} is no setting: there are {len(entries)} traffic entries, from 0")
    chosen = [entries[int(position)]] if position else entries
    having = [entry for entry in chosen if key in _TRAFFIC[entry["kind"]].__struct_fields__]
    kinds = ", ".join(dict.fromkeys(entry["kind"] for entry in chosen))
    require(bool(having), f"{name}: traffic of the kind {kinds} has no {key}")
    for entry in having:
        _put(entry, key, value)


def _put_in_list(fabric: dict[str, Any], name: str, rest: list[str], value: Any) -> None:
    """Set a key of one entry of a list of the fabric, ``links`` or ``faults``."""
    listed, position, key = rest
    entries = fabric.get(listed, ()) if listed in ("links", "faults") else ()
    there = position.isdecimal() and int(position) < len(entries)
    require(there, f"{name} is no setting: fabric.{listed} has {len(entries)} entries, from 0")
    _put(entries[int(position)], key, value)


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    for other in _REPLACED.get(key, ()):
        table.pop(other, None)
    table[key] = value
