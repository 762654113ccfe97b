"""Reads the packet trace by what happened, the kind of packet, and the layer of the fabric where it happened."""

from dataclasses import dataclass

import pandas as pd

from capsim.fabric.topology import enters_host, leaves_host
from capsim.results.result import Result
from capsim.results.tables import EVENTS, KINDS
from capsmodel.checks import ParameterError, require


@dataclass(frozen=True)
class Trace:
    """The packet trace of one run; every selection keeps the columns and the order of the table.

    Attributes
    ----------
    lines : DataFrame
        The trace table of a result (:mod:`capsim.base.schema`). Its column ``layer`` has the kinds of both ends of a
        link, its column ``path`` the number of the only path that the link belongs to (:mod:`capsim.fabric.kinds`).

    Examples
    --------
    >>> from capsim import Batch, ParallelPaths, Scenario, simulate
    >>> traffic = (Batch(flows=1, flow_bytes=5 * 1460, pairs="sides"),)
    >>> scenario = Scenario(fabric=ParallelPaths(paths=4, hosts_per_side=1), traffic=traffic, trace="packets")
    >>> trace = Trace.of(simulate(scenario, scheme="rps", engine="reference"))
    >>> len(trace.sent("data")), len(trace.arrived("ack"))
    (5, 5)
    >>> trace.layers
    ('host>left', 'left>host', 'host>right', 'right>host', 'left>right', 'right>left')
    >>> set(trace.at("left>right", event="enqueued", packet="data")["path"]) <= {0, 1, 2, 3}
    True
    """

    lines: pd.DataFrame

    @classmethod
    def of(cls, result: Result) -> "Trace":
        """Return the trace of a run.

        Raises
        ------
        ParameterError
            If the run did not record all packets.
        """
        level = result.scenario.trace
        require(level == "packets", f"the run has trace = {level!r}, which records not all packets: set 'packets'")
        return cls(result.trace)

    @property
    def layers(self) -> tuple[str, ...]:
        """Return the layers of the fabric."""
        return tuple(layer for layer in self.lines["layer"].cat.categories if layer)

    def sent(self, packet: str | None = None) -> pd.DataFrame:
        """Return where packets joined the queue of their host's NIC; all kinds of packet when `packet` is left out."""
        return self._select([layer for layer in self.layers if leaves_host(layer)], "enqueued", packet)

    def arrived(self, packet: str | None = None) -> pd.DataFrame:
        """Return where packets arrived at the host that they were sent to; all kinds when `packet` is left out."""
        return self._select([layer for layer in self.layers if enters_host(layer)], "arrived", packet)

    def at(self, layer: str, *, event: str | None = None, packet: str | None = None) -> pd.DataFrame:
        """Return what happened on the links of one layer.

        Parameters
        ----------
        layer : str
            One of `layers`, such as ``leaf>spine``.
        event : str, optional
            ``enqueued``, ``dropped``, ``arrived`` (at the far end of the link) or ``trimmed``; all when left out.
        packet : str, optional
            Kind of packet, as in the column of that name; all of them when left out.

        Raises
        ------
        ParameterError
            If the fabric has no such layer, or there is no such event or kind of packet.
        """
        _check("layer", layer, self.layers)
        return self._select([layer], event, packet)

    def _select(self, layers: list[str], event: str | None, packet: str | None) -> pd.DataFrame:
        chosen = self.lines["layer"].isin(layers)
        if event is not None:
            _check("event", event, EVENTS)
            chosen &= self.lines["event"] == event
        if packet is not None:
            _check("packet", packet, KINDS)
            chosen &= self.lines["packet"] == packet
        return self.lines[chosen]


def _check(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ParameterError(f"{name} = {value!r}, but there are {', '.join(known)}")
