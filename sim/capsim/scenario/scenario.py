"""A run, written down: fabric, traffic, scheme and what is recorded, as a frozen struct and as TOML.

In TOML a quantity may be typed with its unit (``rate_bps = "10Gbps"``, ``delay_s = "20us"``,
``buffer_bytes = "64KB"``); stored is the SI number that the key's suffix names. Unknown keys are refused.
"""

import re
from collections.abc import Collection, Mapping
from decimal import Decimal
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import tomli_w
from msgspec import Meta

from capsim.base import bounds
from capsim.base.bounds import EndTime, Time, shortened
from capsim.base.structs import KeyedStruct, converted, in_si, without_defaults
from capsim.fabric.files import FlowFile, read_flow_csv, read_graph
from capsim.fabric.kinds import AnyFabric
from capsim.fabric.traffic import AnyTraffic, check_workloads
from capsim.roles.scheme_files import in_folder
from capsim.scenario.connection_matrix import SUFFIX, read_connection_matrix
from capsim.scenario.excerpt import ExcerptOf, excerpts_of
from capsmodel.checks import ParameterError, one_number, positive, require
from capsmodel.text_tables import read_toml, toml_tables
from capsmodel.workloads.catalogue import load_workload
from capsmodel.workloads.files import is_size_file, read_flow_sizes
from capsmodel.workloads.sizes import SizeDistribution

SITES = "sites"
"""The profile of links between sites, whose rate, delay and buffers are given (:mod:`capsim.scenario.profile`)."""
_RATE_PROFILE = re.compile(r"([1-9][0-9]{0,3}(?:\.[0-9]{1,3})?)([gt])")
_PROFILE_DELAY_S = 1e-6
_BESIDE_FILE = ("stack", "after_at")  # keys of an entry whose flows are in a file


class Probes(KeyedStruct, frozen=True, kw_only=True):
    """What is sampled while the run goes on; sampling never changes a result.

    Parameters
    ----------
    period_s : float
        Time between samples, in seconds.
    fields : tuple of str
        What is sampled, by name (:mod:`capsim.engines.probes`): ``port.queue_bytes``, ``sub.cwnd_bytes``,
        ``flow.buffered``, ``congestion.alpha``, ``balancer.towards.last``. Left out: queues of ports, windows and
        round-trip times of flows.
    ports : tuple of str
        Port names, with ``*`` and ``?`` as in file names (``"leaf0>spine*"``).
    flows : tuple of int, or "all"
        Flows, with all their subflows.
    switches : tuple of str
        Switches whose balancer is sampled, if `fields` name its memory; names as in `ports`.
    histograms : bool
        Whether waiting times and lengths of queues are counted by layer of links, and extents of reordering by kind of
        flow: the table ``histograms``, and ``max_reorder_extent`` of subflows.
    """

    period_s: Annotated[float, bounds.PROBE_S.meta] = 1e-4
    fields: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    flows: tuple[Annotated[int, bounds.FLOW.meta], ...] | Literal["all"] = ()
    switches: tuple[str, ...] = ("*",)
    histograms: bool = False


class Hosts(KeyedStruct, frozen=True, kw_only=True):
    """How long coding takes an end host, and by how much its flows keep out of step.

    Coded packets pass one processor of their host, first come, first served: those that leave before the NIC, those
    that arrive before the decoder. Packets that are sent as they are pass by: those of schemes that code nothing, and
    the source packets of a systematic code. So do coded packets that come after their unit is decoded.

    Parameters
    ----------
    encode_s_per_packet, decode_s_per_packet : float
        Time for each coded packet that leaves and that arrives, in seconds; 0: none, and it does not wait either.
    flow_jitter_s : float
        Each packet that a sender sends reaches its NIC a uniform time below this later, in seconds, but not before the
        packet of its subflow before it: the order of a subflow stays, that of the subflows of a host may change.
        Acknowledgements have no delay. 0: perfect clocks, as in ns-3.
    """

    encode_s_per_packet: Annotated[float, bounds.WORK_S.meta] = 0.0
    decode_s_per_packet: Annotated[float, bounds.WORK_S.meta] = 0.0
    flow_jitter_s: Annotated[float, bounds.JITTER_S.meta] = 0.0


class Comparison(KeyedStruct, frozen=True, kw_only=True):
    """What ``capsmodel compare`` does when its options do not say otherwise.

    Parameters
    ----------
    schemes : tuple of str
        The first is what the others are compared with; ``all`` as in :func:`capsim.protocols.registry.named_schemes`.
    seeds : int
        Runs of each scheme, with the seeds `seed`, `seed` + 1, ...
    """

    schemes: tuple[str, ...]
    seeds: Annotated[int, bounds.SEEDS.meta] = 5


class Scenario(KeyedStruct, frozen=True, kw_only=True):
    """All that decides the outcome of a run. The bounds of each number are in :mod:`capsim.base.bounds`.

    Parameters
    ----------
    fabric : LeafSpine, FatTree, ParallelPaths, Dumbbell or Topology
        What packets travel through.
    traffic : tuple
        Why they are sent; entries add up.
    name, notes : str
        For people. `notes` says where a setting comes from and what a paper leaves open.
    scheme : str
        One of ``capsmodel schemes``; several put together, ``rps+dctcp`` (:mod:`capsim.protocols.combined`); or a
        Python file and the name of a scheme in it, ``two_choices.py:SCHEME`` (:mod:`capsim.roles.scheme_files`),
        relative to the folder of the scenario's file. The file is run.
    params : dict
        Parameters of the scheme that differ from its defaults, by component: ``{"transport": {"min_rto_s": 0.01}}``.
    profile : str
        A rate such as ``100g``, ``800g`` or ``1.6t``: what is left out is as fits hosts of this rate, in place of the
        defaults of 1 Gbps: rate and delay of links, packets, queue limits, receive window, minimum RTO, K and flowlet
        gap. ``sites``: rate, delay and buffers are given, as of links between sites, and the rest follows. The rules:
        :mod:`capsim.scenario.profile`. What they give is printed and kept with the result.
    seed : int
        All randomness of the run; arrivals, sizes, endpoints, hashes and spraying draw from streams of their own.
    short_bytes : int
        Largest size of a short flow, in bytes: 100 KB in all the papers that name one.
    end_s : float
        Simulated time after which a run stops even if flows are left, in seconds; at most 4500 (75 minutes).
    warm_up_s : float
        Flows that start earlier are simulated and not counted in summaries, in seconds.
    link_bytes : int
        Bytes that each packet takes on a link beyond its own (preamble, gap, framing).
    count_in_service : bool
        Whether a queue limit or ECN threshold counts the packet being sent.
    ties : str
        Which of the packets that arrive in the same picosecond, or leave a queue in it, is first: ``hashed``, by a
        hash of time and port that differs with the seed, or ``scheduled``, the one whose transmission began first, as
        in ns-3. The second computes an event for each departure too, and so takes longer.
    nic : str
        In which order the NIC of a host sends what waits there: ``fifo``, as it came, as in ns-2, ns-3 and the papers;
        ``round_robin``, a packet of each connection in turn, as with Linux' ``fq``, RDMA NICs and in htsim
        (:mod:`capsim.protocols.nics.round_robin`), with parameters in ``params.nic``. Where the queue of the scheme
        sends by priority (``pfabric``, ``ecmp_pq``, ``rps_pq``), hosts do so with either.
    host_jitter_s : float
        Each packet waits a uniform time below this before its host begins to send it (ns-2: ``overhead_``), in
        seconds. 0: all hosts share one perfect clock, as in ns-3. The order of a host's packets stays, so that a host
        with one flow sends burstier than one with several; `flow_jitter_s` of `hosts` has no such effect.
    hosts : Hosts, optional
        How long coding takes an end host, and the jitter of flows; left out, no time and none.
    payload : str
        Code whose packets the coded flows carry, byte by byte: ``rs``, ``ldpc``, ``rlnc`` or one of your own; its
        decoder then says what an arriving packet is worth. Empty: packets are counted, and any k decode a unit.
    probes : Probes, optional
        What is sampled.
    subflows : bool
        Whether the result has a table of subflows also where each flow has one; with several it always has.
    trace : str
        ``off``, ``drops`` or ``packets``.
    compare : Comparison, optional
        Defaults of ``capsmodel compare``.
    excerpt_of : ExcerptOf, optional
        Of an excerpt (:func:`capsim.excerpt`), what it is of. In a file the key ``excerpt``, such as
        ``excerpt = { leaves = 4 }``, makes an excerpt of the scenario that the other keys describe.
    """

    fabric: AnyFabric
    traffic: Annotated[tuple[AnyTraffic, ...], Meta(max_length=int(bounds.ENTRIES.largest))]
    name: str = "scenario"
    notes: str = ""
    scheme: str = "ecmp"
    params: dict[str, dict[str, bool | int | float | str]] = msgspec.field(default_factory=dict)
    profile: str = ""
    seed: Annotated[int, bounds.SEED.meta] = 1
    short_bytes: Annotated[int, bounds.THRESHOLD_BYTES.meta] = 100_000
    end_s: EndTime = 100.0
    warm_up_s: Time = 0.0
    link_bytes: Annotated[int, bounds.LINK_BYTES.meta] = 0
    count_in_service: bool = False
    ties: Literal["hashed", "scheduled"] = "hashed"
    nic: Literal["fifo", "round_robin"] = "fifo"
    host_jitter_s: Annotated[float, bounds.JITTER_S.meta] = 0.0
    hosts: Hosts | None = None
    payload: str = ""
    probes: Probes | None = None
    subflows: bool = False
    trace: Literal["off", "drops", "packets"] = "off"
    compare: Comparison | None = None
    excerpt_of: ExcerptOf | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain tables, lists and numbers, without what equals its default."""
        check_workloads(self.traffic)
        return self.tables()

    def tables(self, *, only: Collection[str] | None = None) -> dict[str, Any]:
        """Return what :meth:`to_dict` does, or the tables of some fields only, which it does not check."""
        tables = without_defaults(self, only=only)
        if self.profile and "fabric" in tables:  # reading it again fills in nothing
            known = {key: getattr(self.fabric, key) for key in ("rate_bps", "delay_s") if hasattr(self.fabric, key)}
            tables["fabric"] |= known
        return tables

    def to_toml(self) -> str:
        """Return the scenario as TOML, in SI numbers; :func:`load_scenario` reads it back to an equal one."""
        return tomli_w.dumps(self.to_dict())

    def replace(self, **changes: Any) -> "Scenario":
        """Return a checked copy with some fields changed."""
        return checked(msgspec.structs.replace(self, **changes))


def checked(scenario: Scenario) -> Scenario:
    """Return `scenario` after the checks that reading it from a file would make.

    Raises
    ------
    ParameterError
        If a value breaks its rule.
    """
    return from_dict(scenario.to_dict())


def excerpt(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    leaves: int | None = None,
    pods: int | None = None,
    blocks: int | None = None,
) -> Scenario:
    """Return a scenario of a few leaves or pods, with all spines or cores, whose flows have the law of the whole.

    Parameters
    ----------
    scenario : Scenario, str, Path or mapping
        The large scenario, or what makes one (:func:`load_scenario`).
    leaves, pods, blocks : int, optional
        How many to keep: leaves of a leaf-spine, pods of a fat-tree; ``blocks`` of either, and of a topology the parts
        that are left without its top tier. 4 when none is given; at most half of them.

    Returns
    -------
    Scenario
        An ordinary scenario; what it is of is in ``excerpt_of``. The rules: :mod:`capsim.scenario.excerpt`. It assumes
        that partners are drawn over the whole fabric, and that all leaves or pods are alike.

    Raises
    ------
    ParameterError
        If an excerpt would not answer for the whole, in one line with the remedy.

    Examples
    --------
    >>> from capsim import LeafSpine, Poisson
    >>> traffic = (Poisson(workload="websearch", load=0.5, flows=64_000),)
    >>> small = excerpt(Scenario(fabric=LeafSpine(leaves=64, hosts_per_leaf=8, spines=8), traffic=traffic), leaves=4)
    >>> small.fabric.leaves, small.traffic[0].flows, round(small.traffic[0].edge_prob, 4)
    (4, 4000, 0.0137)
    """
    one, *others = excerpts(scenario, leaves=leaves, pods=pods, blocks=blocks)
    word = one.fabric.blocks().word
    rule = f"and there is an excerpt of them and one of sound {word}: capsmodel estimate and capsim.estimate run both"
    require(not others, f"fabric: links differ in some {word} only, {rule}")
    return one


def excerpts(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    leaves: int | None = None,
    pods: int | None = None,
    blocks: int | None = None,
) -> tuple[Scenario, ...]:
    """Return what :func:`excerpt` does, and where links of some blocks differ a second one, whose first block does."""
    whole = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    again = "this is an excerpt already: make another one of the whole, which its key excerpt_of describes"
    require(whole.excerpt_of is None, again)
    kept = {"leaves": leaves, "pods": pods, "blocks": blocks}
    fabrics, traffic, of = excerpts_of(whole.fabric, whole.traffic, kept, seed=whole.seed)
    return tuple(whole.replace(fabric=fabric, traffic=traffic, excerpt_of=of) for fabric in fabrics)


def _excerpt_from_dict(tables: dict[str, Any], folder: Path | None, where: str) -> Scenario:
    """Return the excerpt that the key ``excerpt`` asks for, of the scenario of the other keys."""
    kept, rest = tables["excerpt"], {key: value for key, value in tables.items() if key != "excerpt"}
    whole = isinstance(kept, dict) and set(kept) <= {"leaves", "pods", "blocks"}
    whole = whole and all(type(number) is int for number in kept.values())
    require(whole, f"{where}: excerpt = {shortened(kept)}, but it must be such as excerpt = {{ leaves = 4 }}")
    return excerpt(from_dict(rest, folder=folder, where=where), **kept)


def from_dict(tables: dict[str, Any], *, folder: Path | None = None, where: str = "scenario") -> Scenario:
    """Return the scenario that plain `tables` describe.

    Parameters
    ----------
    tables : dict
        As TOML gives them; quantities may carry units.
    folder : Path, optional
        What the names of files in traffic entries and of a ``file`` fabric are relative to; the current folder when
        left out.
    where : str
        Begins the text of an error.

    Raises
    ------
    ParameterError
        One line: the key and the rule it breaks.
    """
    if "excerpt" in tables:
        return _excerpt_from_dict(tables, folder, where)
    plain = _with_scheme_files(in_si(tables, where), folder or Path())
    if isinstance(plain.get("fabric"), dict):
        plain["fabric"] = _with_graph(plain["fabric"], folder or Path())
        rate_bps = profile_rate_bps(plain.get("profile", ""), where=where)
        if rate_bps is not None and plain["fabric"].get("kind") != "topology":
            plain["fabric"] = {"rate_bps": rate_bps, "delay_s": _PROFILE_DELAY_S} | plain["fabric"]
    lists: list[FlowFile] = []
    if isinstance(plain.get("traffic"), list):
        plain["traffic"] = [_with_files(entry, folder or Path(), lists) for entry in plain["traffic"]]
    scenario = converted(plain, Scenario, where=where)
    for flows in lists:
        flows.check_hosts(scenario.fabric.node_counts()[0])
    return scenario


def profile_rate_bps(profile: object, *, where: str = "scenario") -> float | None:
    """Return the rate of the hosts that a profile is for, in bit/s; None where it is for any.

    Raises
    ------
    ParameterError
        If it is neither a rate nor `SITES`.

    Examples
    --------
    >>> profile_rate_bps("1.6t"), profile_rate_bps("sites")
    (1600000000000.0, None)
    >>> profile_rate_bps("8G", where="mine.toml")
    Traceback (most recent call last):
    capsmodel.checks.ParameterError: mine.toml: profile = '8G': write the rate of hosts, as in 100g or 1.6t, or sites
    """
    if profile in ("", SITES):
        return None
    match = _RATE_PROFILE.fullmatch(profile) if isinstance(profile, str) else None
    if match is None:
        rule = f"write the rate of hosts, as in 100g or 1.6t, or {SITES}"
        raise ParameterError(f"{where}: profile = {shortened(profile)}: {rule}")
    return float(Decimal(match[1]).scaleb(9 if match[2] == "g" else 12))


def _with_scheme_files(tables: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the tables with the files of schemes relative to `folder`."""
    copied = dict(tables)
    if isinstance(copied.get("scheme"), str):
        copied["scheme"] = in_folder(copied["scheme"], folder)
    compared = copied.get("compare")
    if isinstance(compared, dict) and isinstance(names := compared.get("schemes"), list | tuple):
        copied["compare"] = compared | {
            "schemes": [in_folder(name, folder) if isinstance(name, str) else name for name in names]
        }
    return copied


def _with_graph(fabric: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the table of a fabric with the contents of the files that it names."""
    if fabric.get("kind") != "file":
        return fabric
    files, rest = {"nodes_file", "links_file"}, {**fabric, "kind": "topology"}
    require(files <= set(fabric), "fabric: kind = 'file' has the keys nodes_file and links_file, names of CSV files")
    require(not {"nodes", "edges"} & set(fabric), "fabric: kind = 'file' has its nodes and links from files only")
    nodes, edges = read_graph(*(folder / str(rest.pop(key)) for key in ("nodes_file", "links_file")))
    return rest | {"nodes": msgspec.to_builtins(nodes), "edges": msgspec.to_builtins(edges)}


def _with_files(entry: Any, folder: Path, lists: list[FlowFile]) -> Any:
    """Return a traffic entry with the flows or sizes of the file that it names, so that a run depends on no file.

    With the key ``times`` sizes, of a file or a known workload, are so many times as large.
    Lists of flows are added to `lists` too.
    """
    if not isinstance(entry, dict):
        return entry
    if isinstance(entry.get("stack"), str):
        entry = entry | {"stack": in_folder(entry["stack"], folder)}
    if entry.get("kind") == "csv":
        known = {"kind", "file"} <= set(entry) <= {"kind", "file", *_BESIDE_FILE}
        require(known, "traffic: a csv entry has the keys kind and file, perhaps stack and after_at, nothing else")
        lists.append(_flow_file(folder / str(entry["file"])))
        return lists[-1].entry() | {key: entry[key] for key in _BESIDE_FILE if key in entry}
    name, times = entry.get("workload"), entry.get("times", 1)
    if not isinstance(name, str) or not (is_size_file(name) or "times" in entry):
        return entry
    factor = one_number(positive, "traffic: times", times)
    points = _size_points(read_flow_sizes(folder / name), factor) if is_size_file(name) else _known_sizes(name, factor)
    return {key: value for key, value in entry.items() if key not in ("workload", "times")} | {"flow_bytes_cdf": points}


def _flow_file(path: Path) -> FlowFile:
    return read_connection_matrix(path) if path.suffix == SUFFIX else read_flow_csv(path)


@cache
def _known_sizes(workload: str, factor: float) -> list[tuple[float, float]]:
    return _size_points(load_workload(workload), factor)


def _size_points(sizes: SizeDistribution, factor: float) -> list[tuple[float, float]]:
    """Return the points of a distribution of sizes that are so many times as large."""
    return list(zip((sizes.sizes * factor).tolist(), sizes.cdf_values.tolist(), strict=True))


def load_scenario(source: str | Path | Mapping[str, Any]) -> Scenario:
    """Return the scenario of a TOML file, of tables, or the preset of that name.

    Parameters
    ----------
    source : str, Path or mapping
        File, the name of one of :func:`presets`, or tables as such a file has them; names of files in tables are
        relative to the current folder.

    Raises
    ------
    ParameterError
        If the file is no TOML or a rule is broken; the text names the key.
    FileNotFoundError
        If there is neither a file nor a preset of that name.

    Examples
    --------
    >>> load_scenario("p64").fabric.spines
    8
    >>> batch = {"kind": "batch", "flow_bytes": "20KB"}
    >>> load_scenario({"fabric": {"kind": "dumbbell", "hosts_per_side": 2}, "traffic": [batch]}).traffic[0].flow_bytes
    20000
    """
    if isinstance(source, Mapping):
        return from_dict(dict(source))
    path, known = Path(source), _preset_files()
    if str(source) in known:
        tables = _preset_tables(str(source))
    elif path.is_file():
        _, tables = read_toml(path)
    else:
        raise FileNotFoundError(f"no file {str(source)!r} and no preset of that name: capsmodel presets lists them")
    return from_dict(tables, folder=path.parent, where=path.name)


@cache
def _preset_tables(name: str) -> dict[str, Any]:
    return toml_tables(_preset_files()[name].read_text(encoding="utf-8"), name=name)


def presets() -> dict[str, Scenario]:
    """Return the scenarios that come with the package by name, in alphabetical order.

    Examples
    --------
    >>> presets()["p64"].fabric.spines
    8
    """
    return {name: load_scenario(name) for name in _preset_files()}


@cache
def _preset_files() -> Mapping[str, Traversable]:
    """Return the file of each preset by its name."""
    files = resources.files("capsim").joinpath("presets").iterdir()
    named = {file.name.removesuffix(".toml"): file for file in files if file.name.endswith(".toml")}
    return dict(sorted(named.items()))
