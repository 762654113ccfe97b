"""A switch without a network: tests state each packet, each queue and each draw, and read which path it takes."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from support.engine_setups import memory_of, params_of, record

from capsim import Balancer, records

PORT = 10  # of the first candidate


class OneSwitch:
    """A switch with `n_paths` candidates, ports 10, 11, ...; times are microseconds.

    The balancer has one record of each scope, but for subflows: these are told apart by the hash of the packet.
    """

    def __init__(self, balancer: Balancer, *, n_paths: int = 4, tier: int = 0, salt: int = 12345, **params: Any):
        self.balancer = replace(balancer, params=replace(balancer.params, **params))
        self.params = params_of(self.balancer)
        self.candidates = [PORT + path for path in range(n_paths)]
        self.ports = {port: record(records.PORT) for port in self.candidates}
        self.record = record(records.SWITCH, salt=salt, tier=tier)
        self.own = {scope: memory_of(self.balancer, scope) for scope in ("fabric", "switch", "set", "towards")}
        self.own["paths"] = [memory_of(self.balancer, "path") for _ in self.candidates]
        self.own["ports"] = {port: memory_of(self.balancer, "port") for port in self.candidates}
        self.flows: dict[int, dict[str, Any]] = {}

    def queues(self, *queue_bytes: int) -> None:
        """Set the queues of the candidates."""
        for port, size in zip(self.candidates, queue_bytes, strict=True):
            self.ports[port].queue_bytes = size

    def path(self, now_us: float = 0.0, *, u0: float = 0.0, sub: Any = None, **packet: Any) -> int:
        """Return the path that a packet takes."""
        self.packet = record(records.PACKET, **{"label": records.NONE} | packet)
        flow = self.flows.setdefault(
            self.packet.hash, {scope: memory_of(self.balancer, scope) for scope in ("subflow", "passing")}
        )
        own = SimpleNamespace(**self.own, **flow)
        found: int = self.balancer.choose(
            self.params,
            own,
            self.record,
            record(records.SUBFLOW) if sub is None else sub,
            self.packet,
            self.ports,
            self.candidates,
            round(now_us * 1e6),
            u0,
        )
        return found
