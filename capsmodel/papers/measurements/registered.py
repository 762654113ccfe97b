"""The measurements of single mechanisms that studies of the papers name in their table ``[measure]``.

Importing this module registers them (:func:`capsim.study.measures.register`).
"""

from capsim.study.measures import register
from capsmodel.papers.measurements.behind_long_flow import behind_long_flow
from capsmodel.papers.measurements.blocking_estimators import rtt_of_paths
from capsmodel.papers.measurements.burst_rtts import burst_distances
from capsmodel.papers.measurements.decoding_work import work_left
from capsmodel.papers.measurements.head_of_line import short_flows
from capsmodel.papers.measurements.received_sets import packets_that_survive
from capsmodel.papers.measurements.unit_sweeps import decoded_share, fastest_unit, unit_quantity

__all__ = ["REGISTERED"]

REGISTERED = (
    *(behind_long_flow, burst_distances, decoded_share, fastest_unit, packets_that_survive),
    *(rtt_of_paths, short_flows, unit_quantity, work_left),
)
register(*REGISTERED)
