"""Reads a list of flows from a file.

The columns ``src``, ``dst``, ``flow_bytes`` (or ``bytes``) and ``start_s`` may stand in any order, heads and numbers in
other units (``start_ms``, ``flow_kb``, ``10us``; :mod:`capsmodel.text_tables`). A column ``path`` pins flows to paths
(:mod:`capsim.fabric.paths`); an empty cell leaves a flow to the balancer. Further columns are carried to the
flows table of the results, in the order of the file, each cell as it is.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsim import bounds, schema
from capsim.fabric.flows import hosts_are
from capsim.fabric.listed import PATH
from capsmodel.text_tables import Faults, Table, quantity, read_table, text, whole

COLUMNS = (
    whole("src", bounds.HOST),
    whole("dst", bounds.HOST),
    quantity("flow_bytes", bounds.FLOW_BYTES, also={"bytes": "b"}),
    quantity("start_s", bounds.TIME_S),
)
PATHS = text(PATH, needed=False)
_ADVICE = "; the page 'Flows and topologies of other simulators' converts lists of HPCC, htsim and ns-3"


@dataclass(frozen=True)
class FlowFile:
    """A list of flows as a file has it, in the order of its lines."""

    table: Table

    @property
    def flows(self) -> list[tuple[int, int, int, float]]:
        """Return the rows (src, dst, flow_bytes, start_s)."""
        return list(zip(*(self.table.columns[column.name] for column in COLUMNS), strict=True))

    def entry(self) -> dict[str, Any]:
        """Return the flows as a traffic entry of a scenario."""
        columns = {"columns": self.table.extra} if self.table.extra else {}
        cells = [cell or "" for cell in self.table.columns[PATH]]
        paths = {PATH: cells} if any(cells) else {}
        return {"kind": "list", "flows": self.flows} | paths | columns

    def check_hosts(self, n_hosts: int) -> None:
        """Raise :class:`ParameterError` if a flow has an end that is no host of a fabric with `n_hosts` hosts."""
        faults = Faults()
        for name in ("src", "dst"):
            for row, host in enumerate(self.table.columns[name]):
                if host >= n_hosts:
                    faults.add(f"{self.table.place(row)}: {name} = {host}, but {hosts_are(n_hosts)}")
        faults.check()


def read_flow_csv(path: Path) -> FlowFile:
    """Return the list of flows in a file.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    ParameterError
        If the file is no text, or the heads or a row cannot be read; the text names the file and the line, and each
        note of the error a further fault (:pep:`678`).
    OSError
        If the file cannot be read.
    """
    table = read_table(
        path, (*COLUMNS, PATHS), most=int(bounds.FLOWS.largest), further_but=frozenset(schema.FLOWS), advice=_ADVICE
    )
    faults = Faults()
    for row, (src, dst) in enumerate(zip(table.columns["src"], table.columns["dst"], strict=True)):
        if src == dst:
            faults.add(f"{table.place(row)}: src = dst = {src}, but a flow needs two hosts")
    faults.check()
    return FlowFile(table)
