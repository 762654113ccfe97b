"""Table 2 of CDCPS, flows by size, by the public tables of flow sizes that a simulation would draw from."""

import math

from capsmodel.papers.index import Claim
from capsmodel.papers.verdicts import Verdict, by_size, judges
from capsmodel.workloads.catalogue import load_workload

WORKLOADS = {"web": "websearch", "data": "datamining"}
_REASONS = {
    "web": "every public table of web search has 54, 16 to 18 and 27 to 30%",
    "data": "pFabric's table, in packets of 1460 B",
}
BANDS_BYTES = {"0-100kb": (0.0, 1e5), "100kb-1mb": (1e5, 1e6), "1mb": (1e6, math.inf)}


@judges(*(f"cdcps-t2-{workload}-{band}" for workload in WORKLOADS for band in BANDS_BYTES))
def share_of_band(claim: Claim) -> Verdict:
    """Table 2, per cent of the flows."""
    _, _, workload, band = claim.id.split("-", 3)
    sizes, (low, high) = load_workload(WORKLOADS[workload]), BANDS_BYTES[band]
    return by_size(claim, 100 * float(sizes.cdf(high) - sizes.cdf(low)), _REASONS[workload])


@judges("cdcps-t2-web-avg")
def mean_of_web_search(claim: Claim) -> Verdict:
    """Table 2, in MB."""
    return by_size(claim, load_workload("websearch").mean_bytes / 1e6, "the table that DCTCP's figure gives")


@judges("cdcps-t2-data-avg")
def mean_of_data_mining(claim: Claim) -> Verdict:
    """Table 2, in MB."""
    return by_size(
        claim, load_workload("datamining").mean_bytes / 1e6, f"{_REASONS['data']}; 7.41 MB in packets of 1448 B"
    )
