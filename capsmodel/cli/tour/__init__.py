"""The tour: one part (``Station``) for each area of the package, in the order of its page.

A station is a function that computes and returns a `Section`; a new one is a module beside these and a line here.
"""

from capsmodel.cli.tour import optimal_unit, papers, port_wait, recovery, schemes
from capsmodel.cli.tour.section import Station

STATIONS: tuple[Station, ...] = (
    optimal_unit.STATION,
    schemes.STATION,
    port_wait.STATION,
    recovery.STATION,
    papers.STATION,
)
