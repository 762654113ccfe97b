"""The origin of a result: software, parameters, environment, resources. No host name, no user, no path.

The *id* of a run is the SHA-256 of its parameters and the version of the model, as JSON with sorted keys and no spaces
(:func:`capsmodel.experiments.manifest.manifest_json`): equal ids mean equal results, whatever the engine, the machine
or the day. The version stands for the code of this package. A component that no scheme of this package has goes into
the parameters with ``digest``, a hash of its code and data (:mod:`capsmodel.code_identity`).
"""

import hashlib
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

import msgspec

from capsim.base.structs import plain_tables
from capsim.protocols.registry import NICS, built_in_names
from capsim.protocols.registry import scheme as scheme_called
from capsim.roles.components import Component, Scheme, Stack
from capsim.roles.hooks import HOST_ROLES, NETWORK_ROLES
from capsim.scenario.scenario import Scenario
from capsmodel import __version__
from capsmodel._environment import environment_of
from capsmodel.code_identity import values_digest
from capsmodel.experiments.manifest import manifest_json, software

LIBRARIES = ("numpy", "numba", "simpy", "pandas", "pyarrow", "msgspec")


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run took.

    Attributes
    ----------
    traversals : int
        Packets that fully crossed a link.
    events : int
        Events that the engine processed.
    simulated_s : float
        Simulated time, in seconds.
    cpu_s : float
        Processor time of the engine, in seconds.
    loading_cpu_s : float
        Processor time to load the engine, or to compile it in the first process that uses a scheme, in seconds.
    peak_memory_bytes : int
        Largest resident size of the process so far; 0 where the system does not say.
    compiled : bool
        Whether the engine was compiled, at least in part, and not loaded from disk.
    """

    traversals: int
    events: int
    simulated_s: float
    cpu_s: float
    loading_cpu_s: float
    peak_memory_bytes: int
    compiled: bool = False


class Stopwatch:
    """Processor time since it was made."""

    def __init__(self) -> None:
        self._begin_s = time.process_time()

    def cpu_s(self) -> float:
        """Return the processor time that this process has used since, in seconds."""
        return time.process_time() - self._begin_s


def peak_memory_bytes() -> int:
    """Return the largest resident size of this process so far, in bytes; 0 where the system does not say."""
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform.system() == "Darwin" else peak * 1024  # macOS counts bytes, others KiB


def scheme_parameters(scheme: Scheme) -> dict[str, Any]:
    """Return all parameters of a scheme by role, defaults included, and the digest of what is not built in.

    A NIC that sends in the order of its queue has none and is left out.

    Raises
    ------
    ParameterError
        If a hook reads what no digest can cover.
    """
    network = {role: _described(getattr(scheme, role), of=scheme) for role in NETWORK_ROLES}
    if scheme.nic.rank is None:
        del network["nic"]
    return {**host_parameters(scheme), **network}


def host_parameters(scheme: Scheme) -> dict[str, Any]:
    """Return what hosts know and run: both stacks with all parameters."""
    stacks = {name: _stack_parameters(getattr(scheme, name), of=scheme) for name in ("short", "long")}
    return {"name": scheme.name, "known_sizes": scheme.known_sizes, **stacks}


def _stack_parameters(stack: Stack, *, of: Scheme) -> dict[str, Any]:
    return {"priority": stack.priority, **{role: _described(getattr(stack, role), of=of) for role in HOST_ROLES}}


def _described(component: Component, *, of: Scheme) -> dict[str, Any]:
    digest = {} if _is_built_in(component, of=of) else {"digest": component_digest(component)}
    return {"component": component.name, **asdict(component.params), **digest}


def component_digest(component: Component) -> dict[str, Any]:
    """Return the digest of a component of a scheme: of all its fields but the parameters, which the manifest has.

    Returns
    -------
    dict
        ``sha256``, 64 hexadecimal digits; ``covers``, the fields that it is of; ``code``, whether the functions went in
        as ``"source"`` or one of them as ``"bytecode"``.

    Raises
    ------
    ParameterError
        If a hook reads what :func:`~capsmodel.code_identity.values_digest` does not describe.
    """
    covered = [field.name for field in fields(component) if field.name != "params"]
    digest, from_source = values_digest({name: getattr(component, name) for name in covered}, owner=component.name)
    return {"sha256": digest, "covers": covered, "code": "source" if from_source else "bytecode"}


@cache
def _components(names: tuple[str, ...]) -> Mapping[str, list[list[Any]]]:
    """Return the components of schemes of this package, and all NICs, without parameters, each once, by role."""
    schemes = [scheme_called(name) for name in names]
    components = [getattr(stack, role) for scheme in schemes for stack in scheme.stacks for role in HOST_ROLES]
    components += [*NICS.values(), *(getattr(scheme, role) for scheme in schemes for role in NETWORK_ROLES)]
    by_role: dict[str, list[list[Any]]] = {}
    for component in components:
        known = by_role.setdefault(component.role, [])
        known += [] if (rest := _without_params(component)) in known else [rest]
    return by_role


def _is_built_in(component: Component, *, of: Scheme) -> bool:
    """Return whether a scheme of this package has this component of `of`, whatever the parameters."""
    rest, every = _without_params(component), built_in_names()
    catalogues = [(of.name,), every] if of.name in every else [every]  # first its own: to import all takes longer
    return any(rest in _components(names).get(component.role, []) for names in catalogues)


def _without_params(component: Any) -> list[Any]:
    return [getattr(component, field.name) for field in fields(component) if field.name != "params"]


def run_parameters(
    scenario: Scenario, scheme: Scheme, entry_schemes: Mapping[int, Scheme] | None = None
) -> dict[str, Any]:
    """Return all that a run depends on besides the version: the whole scenario, flow lists included, and the scheme.

    ``stacks`` are the stacks of traffic entries that run those of another scheme, by the position of the entry.
    They are plain JSON values, so that a manifest that was read from a file equals the one that was written.
    """
    parameters = {"scenario": scenario.to_dict(), "scheme": scheme_parameters(scheme)}
    if entry_schemes:
        parameters["stacks"] = {str(entry): host_parameters(each) for entry, each in entry_schemes.items()}
    plain: dict[str, Any] = msgspec.json.decode(manifest_json(plain_tables(parameters)))
    return plain


def make_manifest(
    parameters: dict[str, Any], *, engine: str, load: dict[str, Any], drawn: Sequence[Sequence[str]] = ()
) -> dict[str, Any]:
    """Return the manifest of a run, without its resources.

    Parameters
    ----------
    parameters : dict
        As from :func:`run_parameters`, from before the run: no hook has had the time to change what it reads.
    engine : str
        Which engine ran; not part of the id, since both give the same records.
    load : dict
        What load was asked for, how it is defined and what the flows offered.
    drawn : sequence
        Names of the switches or links that each entry of ``fabric.faults`` has drawn from the seed.
    """
    return {
        "id": run_id(parameters),
        "software": software(),
        "parameters": parameters,
        "engine": engine,
        "load": load,
        **({"faults": [list(names) for names in drawn]} if drawn else {}),
        "environment": environment_of(LIBRARIES),
    }


def run_id(parameters: dict[str, Any]) -> str:
    """Return the id of a run with these parameters, 64 hexadecimal digits.

    Examples
    --------
    >>> len(run_id({"seed": 1})), run_id({"a": 1, "b": 2}) == run_id({"b": 2, "a": 1})
    (64, True)
    """
    return hashlib.sha256(manifest_json({"model": __version__, "parameters": parameters})).hexdigest()
