"""From the options of ``simulate`` and ``compare`` to a scenario: a file or preset changed by flags, or flags alone."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from cyclopts import Group, Parameter

from capsim import Scenario, load_scenario, with_settings
from capsim.base.bounds import LOAD
from capsim.scenario.profile import Filled
from capsim.scenario.scenario import from_dict
from capsmodel.checks import ParameterError, require
from capsmodel.cli.shared.options import (
    MaybeCount,
    MaybeFlows,
    MaybeLoad,
    MaybeRate,
    MaybeTime,
    Texts,
    failure,
    settings_of,
)
from capsmodel.experiments.number_texts import quantity
from capsmodel.units import parse_size_bytes

Engine = Literal["compiled", "reference"]

# A whole number that 64 bits hold.
_COUNT = r"[0-9]{1,18}"

# Numbers behind the colon of --fabric, in their order; those behind "optional" may be left out.
_FABRIC_COUNTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "leaf-spine": (("leaves", "hosts_per_leaf", "spines"), ()),
    "fat-tree": (("pods",), ("hosts_per_edge",)),
    "parallel-paths": (("paths", "hosts_per_side"), ()),
    "dumbbell": (("hosts_per_side",), ()),
}


SCENARIO = Group("Scenario", sort_key=10)
RUN = Group("Runs", sort_key=20)


@Parameter(name="*", group=SCENARIO)
@dataclass(frozen=True, kw_only=True)
class ScenarioOptions:
    """Flags that describe a scenario, or change the one that is named.

    Parameters
    ----------
    fabric
        leaf-spine:LEAVESxHOSTSxSPINES, fat-tree:PODS[xHOSTS], dumbbell:HOSTS, parallel-paths:PATHSxHOSTS, or
        your own, file:NODES.csv,LINKS.csv.
    rate
        Rate of all links, such as 10Gbps (1Gbps); links of file: have their own.
    delay
        Propagation delay of each link, such as 5us (12.5us); likewise.
    buffer
        Queue limit of switch ports: packets, 100, or bytes, 64KB (256 packets).
    workload
        Sizes of Poisson flows: of capsmodel workloads, or a CSV file (websearch).
    load
        Load of the links of hosts by Poisson flows, such as 0.6 (0.5).
    flows
        Poisson flows that count: a number, or those for a half-width of 5% (1000).
    flow_file
        CSV file with src, dst, flow_bytes and start_s; or FILE.cm of htsim.
    profile
        Defaults for hosts of a rate: 100g, 1.6t; for links between sites: sites.
    nic
        Order in which hosts send (fifo).
    fail
        Link that fails, leaf0-spine1@10ms, or @10ms-30ms; may be repeated.
    set
        Any other setting, such as transport.min_rto_s=10ms or traffic.start=empty; may be repeated. capsmodel schemes
        NAME lists the parameters of a scheme.
    seed
        Seed of all randomness, or the first of several (1).
    end
        Simulated time at which the run stops, such as 2s (100s).
    """

    fabric: str | None = None
    rate: MaybeRate = None
    delay: MaybeTime = None
    buffer: str | None = None
    workload: str | None = None
    load: MaybeLoad = None
    flows: MaybeFlows = None
    flow_file: Path | None = None
    profile: str | None = None
    nic: Literal["fifo", "round_robin"] | None = None
    fail: Texts = ()
    set: Texts = ()
    seed: MaybeCount = None
    end: MaybeTime = None


def scenario_from(source: str | None, options: ScenarioOptions) -> Scenario:
    """Return the scenario that a file or preset name and the flags describe; flags win.

    Raises
    ------
    ParameterError
        If a flag cannot be read or does not apply.
    """
    tables = _defaults() if source is None else load_scenario(source).to_dict()
    if options.fabric is not None:
        chosen = _fabric(options.fabric)
        tables["fabric"] = _kept(tables["fabric"], chosen["kind"]) | chosen
    _change_links(tables["fabric"], options)
    tables["traffic"] = _traffic(tables["traffic"], options)
    if options.seed is not None:
        tables["seed"] = options.seed
    if options.end is not None:
        tables["end_s"] = options.end
    if options.nic is not None:
        tables["nic"] = options.nic
    if options.profile is not None:
        tables["profile"] = options.profile
    failures = [failure(text) for text in options.fail]
    if failures:
        tables["fabric"] = tables["fabric"] | {"links": [*tables["fabric"].get("links", ()), *failures]}
    return with_settings(from_dict(tables), settings_of(options.set))


def _defaults() -> dict[str, Any]:
    poisson = {"kind": "poisson", "workload": "websearch", "load": 0.5, "flows": 1000, "start": "steady"}
    return {"fabric": _fabric("leaf-spine:8x8x8"), "traffic": [poisson]}


def _kept(fabric: dict[str, Any], new_kind: str) -> dict[str, Any]:
    """Return what a new shape of fabric keeps of the old one: buffers, and rates and delays if its links share them."""
    kept = {"reroute_s", "buffer_packets", "buffer_bytes", "host_buffer_packets", "host_buffer_bytes"}
    if new_kind != "file":
        kept |= {"rate_bps", "host_rate_bps", "delay_s", "host_delay_s"}
    return {key: value for key, value in fabric.items() if key in kept}


def _fabric(text: str) -> dict[str, Any]:
    kind, _, numbers = text.partition(":")
    if kind == "file":
        nodes, _, links = numbers.partition(",")
        require(bool(nodes and links), f"--fabric {text}: write file:NODES.csv,LINKS.csv")
        return {"kind": kind, "nodes_file": nodes, "links_file": links}
    if kind not in _FABRIC_COUNTS:
        kinds = ", ".join([*_FABRIC_COUNTS, "file"])
        raise ParameterError(f"--fabric {text}: the kinds are {kinds}, as in leaf-spine:8x8x8")
    needed, optional = _FABRIC_COUNTS[kind]
    parts = numbers.split("x")
    names = (*needed, *optional)
    if not len(needed) <= len(parts) <= len(names) or not all(re.fullmatch(_COUNT, part) for part in parts):
        raise ParameterError(f"--fabric {text}: write {kind}:{'x'.join(name.upper() for name in names)}")
    return {"kind": kind, **dict(zip(names, map(int, parts), strict=False))}


def _change_links(fabric: dict[str, Any], options: ScenarioOptions) -> None:
    if fabric["kind"] in ("file", "topology") and (options.rate is not None or options.delay is not None):
        flag = "--delay" if options.rate is None else "--rate"
        raise ParameterError(f"{flag}: each link of this topology has its own: change the links, or leave {flag} out")
    if options.rate is not None:
        fabric["rate_bps"] = options.rate
        fabric.pop("host_rate_bps", None)
    if options.delay is not None:
        fabric["delay_s"] = options.delay
        fabric.pop("host_delay_s", None)
    if options.buffer is not None:
        fabric.pop("buffer_packets", None)
        fabric.pop("buffer_bytes", None)
        whole = re.fullmatch(_COUNT, options.buffer)
        key = "buffer_packets" if whole else "buffer_bytes"
        fabric[key] = int(options.buffer) if whole else parse_size_bytes(options.buffer)


def _traffic(entries: list[Any], options: ScenarioOptions) -> list[Any]:
    changes = {"load": options.load, "flows": options.flows, "workload": options.workload}
    given = {key: value for key, value in changes.items() if value is not None}
    _require_plausible(options.load, options.flows)
    if options.flow_file is not None:
        if given:
            raise ParameterError(f"--flow-file lists the flows: leave out --{next(iter(given))}")
        return [{"kind": "csv", "file": str(_existing(options.flow_file))}]
    if given and not any(entry["kind"] == "poisson" for entry in entries):
        kinds = " and ".join(dict.fromkeys(entry["kind"] for entry in entries))
        rule = "this scenario has no Poisson traffic to change"
        remedy = f"its traffic is of the kind {kinds}: change that with --set traffic.KEY=VALUE"
        raise ParameterError(f"--{next(iter(given))}: {rule}; {remedy}")
    return [_poisson(entry, given) if entry["kind"] == "poisson" else entry for entry in entries]


def _require_plausible(load: float | None, flows: int | str | None) -> None:
    if load is not None:
        LOAD.check("--load", load)
    require(not isinstance(flows, int) or flows >= 1, f"--flows = {flows}, but a run needs at least 1")


def _poisson(entry: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    replaced = {
        "load": ("flows_per_s",),
        "flows": ("duration_s",),
        "workload": ("flow_bytes", "flow_bytes_cdf", "min_bytes", "max_bytes"),
    }
    gone = {name for key in given for name in replaced[key]}
    return {key: value for key, value in entry.items() if key not in gone} | given


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}: --flow-file names a CSV file")
    return path


def profile_lines(ran: Iterable[Filled]) -> list[str]:
    """Return in a line what the profile of some runs has set; nothing if they have none."""
    values_of: dict[str, dict[str, None]] = {}
    for one in ran:
        if one.sizes is None:
            continue
        fabric, sizes = one.scenario.fabric, one.sizes
        links = {f"fabric.{key}": getattr(fabric, key) for key in ("rate_bps", "delay_s") if hasattr(fabric, key)}
        begin = f"{sizes.packet_bytes} bytes, base RTT {sizes.rtt_s * 1e6:.4g} us, BDP {sizes.bdp_packets} packets"
        values_of.setdefault("packets of", {})[begin] = None
        for name, value in {**links, **one.values}.items():
            values_of.setdefault(name, {})[quantity(name, value)] = None
    texts = {name: " or ".join(values) for name, values in values_of.items()}
    rest = ", ".join(f"{name} = {text}" for name, text in texts.items() if name != "packets of")
    return [f"profile: packets of {texts['packets of']}; {rest}"] if texts else []


def with_scheme(scenario: Scenario, scheme: str | None) -> Scenario:
    """Return `scenario` with another scheme, if one is named."""
    return scenario if scheme is None else msgspec.structs.replace(scenario, scheme=scheme)
