"""CAPS Fig. 13: Mininet, over the share of time in which short flows are ON, beside three long flows.

Chosen: as caps-mininet-short; 50 flows for each ON period, each of another sender while there are enough, at its
beginning or spread over it, and as many periods as a long flow of 14.6 MB takes time alone. The long flows hash as all
others do: of 20 paths two share one in a seventh of the runs, where the paper has none that do. The gain of CAPS is the
time of short flows under another scheme over that under CAPS, at shares above 0.
"""

from collections.abc import Mapping
from typing import Any

from capsim import OnOff, Scenario
from capsmodel.papers.experiments import _caps_mininet as shared
from capsmodel.papers.experiments._caps import LONG_BYTES, SHORT_BYTES, gain, over, trend
from capsmodel.units import BITS_PER_BYTE

LONG_FLOWS, FLOWS_PER_BURST = 3, 50
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8)
PLACES = {f"ON share {share:g}": {"on_ratio": share} for share in SHARES}
ALL = list(PLACES)
NONE, SOME = ALL[:1], ALL[1:]
ALONE_S = BITS_PER_BYTE * LONG_BYTES / shared.RATE_BPS

STATEMENTS = {
    "caps-f13a-gain": gain(SOME),
    "caps-f13a-best": over("caps-f13a-best", SOME),
    "caps-f13b-zero": over("caps-f13b-zero", NONE),
    "caps-f13b-trend": trend("CAPS", ALL),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return ON periods of a place beside long flows; none at a share of 0."""
    links, share = shared.fabric(FLOWS_PER_BURST + LONG_FLOWS, settings), place["on_ratio"]
    long = shared.long_flows(LONG_FLOWS, links.hosts_per_leaf)
    bursts = (_bursts(links.hosts_per_leaf - LONG_FLOWS, share, settings),) if share else ()
    return Scenario(fabric=links, traffic=(*bursts, long), end_s=1000.0)


def _bursts(hosts: int, share: float, settings: Mapping[str, Any]) -> OnOff:
    """Return the ON periods, each with a flow of each sender."""
    on_s = settings["mean_on_s"]
    period_s = on_s / share
    return OnOff(
        pairs="sides",
        hosts=hosts,
        bursts=max(1, round(ALONE_S / period_s)),
        flows_per_burst=FLOWS_PER_BURST,
        mean_on_s=on_s,
        mean_off_s=period_s - on_s,
        together=settings["arrivals"] == "together",
        distinct_senders=True,
        **SHORT_BYTES,
    )


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="caps-e15-mininet-on",
    places=PLACES,
    sampled=(ALL[0], ALL[2], ALL[-1]),
    scenario=scenario,
    statements=STATEMENTS,
)
