"""Table 2 of CDCPS, flows by size, by the public tables of flow sizes that a simulation would draw from."""

import math

from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.verdicts import Numbers
from capsmodel.workloads.catalogue import load_workload

WORKLOADS = {"web": "websearch", "data": "datamining"}
_REASONS = {
    "web": "every public table of web search has 54, 16 to 18 and 27 to 30%",
    "data": "pFabric's table, in packets of 1460 B",
}
BANDS_BYTES = {"0-100kb": (0.0, 1e5), "100kb-1mb": (1e5, 1e6), "1mb": (1e6, math.inf)}


def share_of_band(claim: PublishedClaim) -> Numbers:
    """Table 2, per cent of the flows."""
    _, _, workload, band = claim.id.split("-", 3)
    sizes, (low, high) = load_workload(WORKLOADS[workload]), BANDS_BYTES[band]
    return 100 * float(sizes.cdf(high) - sizes.cdf(low))


def mean_of_web_search() -> Numbers:
    """Table 2, in MB."""
    return load_workload("websearch").mean_bytes / 1e6


def mean_of_data_mining() -> Numbers:
    """Table 2, in MB."""
    return load_workload("datamining").mean_bytes / 1e6
