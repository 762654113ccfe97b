"""CAPS Fig. 21 and 22: coding units of the window, of the least size and of the best, over number and size of flows.

Chosen: the preset ``caps-fig1`` with 10 paths and three long flows of 14.6 MB, each flow to a receiver of its own, in
the numbers of short flows of the appendices and sizes of 20 to 100 KB. "Large" units are windows, "optimal" ones
follow Eq. 4 with the defaults of the scheme (long RTT 3 ms); another setting has the k that Section VI-D prints for its
p_B of 0.3. The decoding delay of a packet is that of its unit, from when the unit's first packet is sent; another
setting waits for all units before it too. Trends over "any k" are judged with each. The gain of the best k is that over
the geometric mean of the other two, in completion time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from capsim import Scenario, load_scenario
from capsim.study.measures import coded_run
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments import _caps as shared
from capsmodel.papers.experiments._caps import LONG_BYTES, SHORT_FLOWS
from capsmodel.papers.measurements.caps_comparison import LONG_FLOWS
from capsmodel.papers.statements import Comparison, Statement, same_scheme
from capsmodel.papers.verdicts import cell

PATHS, CAPS = 10, "caps"
FULL_BYTES, FLOWS = 100_000, 100
SIZES = (20_000, 40_000, 60_000, 80_000, FULL_BYTES)
UNITS = ("optimal", "large", "small")
FCT, DECODING, IN_ORDER = "mean_fct_short_s", "decode_s", "decode_in_order_s"
WINDOW_BYTES = 1_000_000
"""Of all flows: above what 256 packets of buffer hold, and small enough for the best size to be found."""
_SMALL_FLOWS, _SMALL_LONG_BYTES = 12, 1_000_000
_KINDS = {"optimal": "optimal", "large": "window", "small": "fixed"}
_PRINTED_PACKETS = int(cell("caps-optk-0.3"))
"""The best k of Section VI-D for p_B = 0.3."""
_NEVER_S = 1e6
DECODING_NOTE = "from the first packet of a unit on until it decodes"
IN_ORDER_NOTE = "from the first packet of a unit on until it and all before it have decoded"


def number_places(unit: str, counts: Sequence[int] = SHORT_FLOWS) -> list[str]:
    """Return the names of the places over the number of short flows."""
    return [f"{count} flows, {unit} k" for count in counts]


def size_places(unit: str, sizes: Sequence[int] = SIZES) -> list[str]:
    """Return the names of the places over the size of short flows."""
    return [f"{size} B, {unit} k" for size in sizes]


PLACES = {
    **{
        name: {"short_flows": count, "flow_bytes": FULL_BYTES, "unit": unit}
        for unit in UNITS
        for count, name in zip(SHORT_FLOWS, number_places(unit), strict=True)
    },
    **{
        name: {"short_flows": FLOWS, "flow_bytes": size, "unit": unit}
        for unit in UNITS
        for size, name in zip(SIZES, size_places(unit), strict=True)
    },
}


def best_over(unit: str, column: str) -> Statement:
    """Return the statement about the best k over another one."""
    pairs = zip(number_places("optimal"), number_places(unit), strict=True)
    return same_scheme([CAPS], pairs, column=column, note=DECODING_NOTE if column == DECODING else "")


def over_number(column: str, note: str = "") -> Statement:
    """Return the statement about a column over the number of short flows, for each unit."""
    return Statement(
        comparisons=tuple(
            Comparison(name, ((1, (CAPS, name)),), series=f"{unit} k") for unit in UNITS for name in number_places(unit)
        ),
        column=column,
        note=note,
    )


def gain() -> Statement:
    """Return how many times longer flows take with the other two sizes of units than with the best, over their size."""
    signs = {"large": 1, "small": 1, "optimal": -2}
    columns = zip(SIZES, *(size_places(unit) for unit in signs), strict=True)
    return Statement(
        comparisons=tuple(
            Comparison(
                f"{size} B", tuple((sign, (CAPS, name)) for sign, name in zip(signs.values(), names, strict=True))
            )
            for size, *names in columns
        ),
        column="mean_fct_short_s",
    )


STATEMENTS = {
    **{f"caps-f21a-{unit}": best_over(unit, FCT) for unit in ("large", "small")},
    **{f"caps-f21b-{unit}": best_over(unit, DECODING) for unit in ("large", "small")},
    "caps-f21a-n": over_number(FCT),
    "caps-f21b-n": over_number(DECODING, note=DECODING_NOTE),
    "caps-f22-size": gain(),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return short flows beside three long ones over ten paths."""
    base, count = load_scenario("caps-fig1"), place["short_flows"]
    short, long = base.traffic
    equal = {"min_bytes": None, "max_bytes": None, "flow_bytes": place["flow_bytes"]}
    return base.replace(
        fabric=msgspec.structs.replace(base.fabric, paths=PATHS, hosts_per_side=count + LONG_FLOWS),
        traffic=(
            msgspec.structs.replace(short, hosts=count, flows=count, **equal),
            msgspec.structs.replace(long, skip_hosts=count, flows=LONG_FLOWS, flow_bytes=LONG_BYTES),
        ),
        short_bytes=FULL_BYTES,
    )


def small(whole: Scenario) -> Scenario:
    """Return a dozen short flows beside long ones of a megabyte."""
    short, long = whole.traffic
    few = {"hosts": _SMALL_FLOWS, "flows": _SMALL_FLOWS}
    return whole.replace(
        traffic=(msgspec.structs.replace(short, **few), msgspec.structs.replace(long, flow_bytes=_SMALL_LONG_BYTES))
    )


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return the size of units, and a blocking probability that stays what it is where the setting says which."""
    unit, known = place["unit"], settings["blocking_prob"]
    printed = unit == "optimal" and settings["optimal_unit"] == "printed"
    return {
        "layer.unit_size": "fixed" if printed else _KINDS[unit],
        "layer.fixed_packets": _PRINTED_PACKETS if printed else settings["small_unit_packets"],
        "transport.max_window_bytes": WINDOW_BYTES,
    } | ({} if known == "measured" else {"layer.initial_blocking_prob": float(known), "layer.sampling_s": _NEVER_S})


def adapted(statement: Statement, settings: Mapping[str, Any]) -> Statement:
    """Return the statement about the reading of CAPS and the decoding delay that settings name."""
    read = shared.adapted(statement, settings)
    in_order = statement.column == DECODING and settings["decoding_delay_of"] == "units in order"
    return replace(read, column=IN_ORDER, note=IN_ORDER_NOTE) if in_order else read


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="caps-e22-unit-afct",
    places=PLACES,
    sampled=tuple(
        name for unit in UNITS for name in (*number_places(unit, SHORT_FLOWS[::2]), *size_places(unit, SIZES[::2]))
    ),
    scenario=scenario,
    small=small,
    statements=STATEMENTS,
    adapted=adapted,
    measure=coded_run,
    parameters=parameters,
)
