"""CAPS Fig. 20: bursts of 500 short flows beside ten long ones, over the rate of the bursts.

Chosen: the preset ``caps-bursts`` with `BURSTS` bursts and long flows that are as much longer; lambda is bursts per
second. How many bursts there are is a setting too. The figure's schemes are those of Fig. 18, which the text does not
name here. The gain of CAPS is the time of short flows under another scheme over that under CAPS, and it must grow
against each. Fig. 19 is another judge's (caps-fig19).
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from capsim import LeafSpine, Scenario, load_scenario
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments._caps import FOUR_OTHERS, NAMES, adapted, gain, over
from capsmodel.papers.statements import levels
from capsmodel.units import BITS_PER_BYTE

RATES = (5, 10, 20, 30, 40)
PLACES = {f"lambda {rate}": {"rate": rate} for rate in RATES}
ALL = list(PLACES)
SCHEMES = [NAMES[name] for name in (*FOUR_OTHERS, "CAPS")]
BURSTS, LONG_BYTES = 10, 250_000_000
"""Of a run: as many bursts, and long flows as much longer, as two and a half runs of the preset have."""
PER_SECOND = {"bursts per second": 1, "bursts per 100 ms": 10}
_REDUCED_LEAVES, _REDUCED_LONG, _REDUCED_BURST = 5, 3, 125
_SMALL = {"leaves": 2, "hosts_per_leaf": 6, "spines": 3}
_SMALL_BURSTS, _SMALL_BURST, _SMALL_LONG, _SMALL_LONG_BYTES = 2, 20, 2, 1_000_000

STATEMENTS = {
    "caps-f20a-afct": levels(SCHEMES, ALL),
    "caps-f20a-gain": gain(ALL),
    "caps-f20b-tput": levels(SCHEMES, ALL),
    "caps-f20b-rps": over("caps-f20b-rps", ALL),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the bursts of a place."""
    base = load_scenario("caps-bursts")
    long, short = base.traffic
    bursts_per_s = place["rate"] * PER_SECOND[settings["load_unit"]]
    assert isinstance(base.fabric, LeafSpine)
    least_long_s = LONG_BYTES * BITS_PER_BYTE / base.fabric.rate_bps
    count = BURSTS if settings["bursts"] == "ten" else round(bursts_per_s * least_long_s)
    bursts = msgspec.structs.replace(short, mean_off_s=1 / bursts_per_s, bursts=count)
    return base.replace(traffic=(msgspec.structs.replace(long, flow_bytes=LONG_BYTES), bursts), end_s=1000.0)


def reduced(whole: Scenario) -> Scenario:
    """Return the same on a quarter of the hosts, with a quarter of the flows."""
    long, short = whole.traffic
    return whole.replace(
        fabric=msgspec.structs.replace(whole.fabric, leaves=_REDUCED_LEAVES),
        traffic=(
            msgspec.structs.replace(long, hosts=_REDUCED_LONG),
            msgspec.structs.replace(short, skip_hosts=_REDUCED_LONG, flows_per_burst=_REDUCED_BURST),
        ),
    )


def small(whole: Scenario) -> Scenario:
    """Return two bursts of some flows beside two long ones of a megabyte, on 12 hosts."""
    long, short = whole.traffic
    return whole.replace(
        fabric=msgspec.structs.replace(whole.fabric, **_SMALL),
        traffic=(
            msgspec.structs.replace(long, hosts=_SMALL_LONG, flow_bytes=_SMALL_LONG_BYTES),
            msgspec.structs.replace(short, skip_hosts=_SMALL_LONG, bursts=_SMALL_BURSTS, flows_per_burst=_SMALL_BURST),
        ),
    )


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="caps-e21-dynamic",
    places=PLACES,
    sampled=(ALL[0], ALL[2], ALL[-1]),
    scenario=scenario,
    reduced=reduced,
    small=small,
    statements=STATEMENTS,
    adapted=adapted,
)
