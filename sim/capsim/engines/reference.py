"""The reference engine: SimPy, a process per port and per host, to be read top to bottom and stepped through.

Read :mod:`~capsim.engines.reference_ports` first, then this file; :mod:`~capsim.engines.reference_records` only makes
the records.

Everything that happens is an event with a time and the priority that :mod:`capsim.engines.events` gives it; SimPy's
own zero-delay wakes have lower numbers, so a process that is woken acts before the next event of the same time.
"""

from collections.abc import Callable, Generator
from typing import Any

import simpy

from capsim.engines.events import END, EPOCH, FLUSH, PROBE, START, TIMER
from capsim.engines.faults import ILLEGAL_PATH, error_of
from capsim.engines.reference_ports import At, Environment, Port
from capsim.engines.reference_records import Records
from capsim.hooks import FOLLOW, KEEP, PASS
from capsim.randomness import draw
from capsim.records import (
    ACK,
    ARRIVED,
    CLOSED,
    CODED,
    CONNECTION_SAMPLE,
    DATA,
    DROPPED,
    NO_ROUTE,
    NONE,
    PORT_SAMPLE,
    SYN_ACK,
)
from capsim.state import TRACE_DROPS, TRACE_PACKETS, RawRecords, Setup

PROGRESS_TRAVERSALS = 50_000


class Host:
    """An end host: the transports and coders of the connections that it sends and receives."""

    def __init__(self, network: "Network", nic: Port):
        self.network, self.env, self.nic = network, network.env, nic
        self.scheme, self.params = network.setup.scheme, network.params
        self.arrival = self.env.event()
        self.env.process(self.run())

    def run(self) -> Generator[simpy.Event, Any, None]:
        """Take packet after packet."""
        while True:
            packet = yield self.arrival
            self.arrival = self.env.event()
            conn = self.network.conns[packet.conn]
            if packet.kind in (ACK, SYN_ACK):
                self.hear(conn, packet)
            else:
                self.collect(conn, packet)

    def start(self, conn: Any) -> None:
        """Open a connection, unless the other copy of its flow was faster."""
        if conn.state != CLOSED:
            self.scheme.transport.open(self.params["transport"], conn, self.env.now)
            self.pump(conn)

    def hear(self, conn: Any, packet: Any) -> None:
        """Take an acknowledgement."""
        if conn.coded:
            estimator = self.network.estimators[conn.estimator]
            self.scheme.coding.observe(self.params["coding"], conn, estimator, packet, self.env.now)
        self.scheme.transport.hear(self.params["transport"], conn, self.network.segments, packet, self.env.now)
        self.network.remove(packet)
        self.pump(conn)

    def expire(self, conn: Any) -> None:
        """Act on the retransmission timer."""
        self.scheme.transport.expire(self.params["transport"], conn, self.network.segments, self.env.now)
        self.pump(conn)

    def pump(self, conn: Any) -> None:
        """Send all that the transport has to send now."""
        packet = self.network.new_packet()
        scheme, now_ps = self.scheme, self.env.now
        while scheme.transport.send(self.params["transport"], conn, self.network.segments, packet, now_ps):
            verdict = self.accept(conn, packet) if conn.coded else PASS
            if verdict != KEEP:
                self.launch(conn, packet)
                packet = self.network.new_packet()
            if verdict == FOLLOW:
                self.pump_coded(conn)
        self.network.pool.append(packet)
        if conn.coded:
            self.pump_coded(conn)
        self.network.set_timers(self, conn)
        self.network.finish_sending(conn)

    def accept(self, conn: Any, packet: Any) -> int:
        """Offer a packet to the encoder."""
        network = self.network
        network.spare_units()
        records = (network.estimators[conn.estimator], network.units, network.counters)
        return self.scheme.coding.accept(self.params["coding"], conn, *records, packet, self.env.now)

    def pump_coded(self, conn: Any) -> None:
        """Send what the encoder has ready."""
        network, packet = self.network, self.network.new_packet()
        estimator = network.estimators[conn.estimator]
        emit, params = self.scheme.coding.emit, self.params["coding"]
        while emit(params, conn, estimator, network.units, network.counters, packet, self.env.now):
            self.launch(conn, packet)
            network.spare_units()
            packet = network.new_packet()
        network.pool.append(packet)

    def launch(self, conn: Any, packet: Any) -> None:
        """Send a packet of a connection that begins here."""
        packet.conn, packet.target, packet.hash = conn.id, conn.dst, conn.hash
        if packet.kind in (DATA, CODED):
            conn.packets_sent += 1
            conn.bytes_sent += packet.bytes
        self.network.counters.in_flight += 1
        self.nic.enqueue(packet)

    def collect(self, conn: Any, packet: Any) -> None:
        """Take a data packet: through the decoder, if the connection is coded."""
        if not conn.coded:
            return self.receive(conn, packet)
        coding, network, params = self.scheme.coding, self.network, self.params["coding"]
        if coding.collect(params, conn, network.segments, network.units, packet, self.env.now):
            self.receive(conn, packet)
        else:
            network.remove(packet)
        packet = network.new_packet()
        while coding.release(params, conn, network.segments, network.units, packet, self.env.now):
            network.counters.in_flight += 1
            self.receive(conn, packet)
            packet = network.new_packet()
        network.pool.append(packet)
        return None

    def receive(self, conn: Any, packet: Any) -> None:
        """Deliver a packet to the receiving transport and send its reply."""
        transport, params = self.scheme.transport, self.params["transport"]
        replies = transport.receive(params, conn, self.network.segments, packet, self.env.now)
        if conn.received_ps == NONE and conn.receive_next == conn.n_segments:
            self.network.finish_receiving(conn)
        if replies:
            packet.conn, packet.target, packet.hash = conn.id, conn.src, conn.reverse_hash
            self.nic.enqueue(packet)
        else:
            self.network.remove(packet)


class Network(Records):
    """Ports, hosts and switches of a run."""

    def __init__(self, setup: Setup):
        super().__init__(setup)
        self.progress: Callable[[int], None] | None = None
        self.env = Environment(0)
        self.env.tie_seed = self.state.tie_seed
        self.done = self.env.event()
        self.armed: dict[tuple[int, int], int] = {}
        self.epoch = 0
        self.ports = [Port(self, record, number) for number, record in enumerate(self.port_records)]
        self.hosts = [Host(self, self.ports[nic]) for nic in setup.fabric.host_port]
        self.schedule()

    def schedule(self) -> None:
        """Schedule what is known beforehand."""
        for index, time_ps in enumerate(self.state.epoch_ps.tolist()[1:], start=1):
            At(self.env, time_ps, EPOCH, 0).then(self.change_epoch, index)
        for conn in self.conns:
            At(self.env, conn.start_ps, START, conn.id).then(self.hosts[conn.src].start, conn)
        if self.setup.probe_ps:
            At(self.env, self.setup.probe_ps, PROBE, 0).then(self.probe)

    def simulate(self) -> None:
        """Run until all is done or the time is over."""
        At(self.env, self.setup.end_ps, END, 0).then(self.end)
        if self.counters.open_conns:
            self.env.run(until=self.done)
        self.counters.now_ps, self.counters.events = self.env.now, self.env.events
        for port in self.ports:
            port.settle()

    def arrive(self, port: Port, packet: Any) -> None:
        """Take a packet that has crossed a link to the switch or host at the far end."""
        port.record.packets_arrived += 1
        self.counters.traversals += 1
        if self.progress is not None and self.counters.traversals % PROGRESS_TRAVERSALS == 0:
            self.progress(self.env.now)
        if self.setup.trace == TRACE_PACKETS:
            self.trace_packet(ARRIVED, 0, port, packet)
        node = port.record.to_node
        if node < len(self.hosts):
            self.hosts[node].arrival.succeed(packet)
        else:
            self.forward(node - len(self.hosts), packet)

    def forward(self, row: int, packet: Any) -> None:
        """Send a packet on from a switch."""
        first = int(self.state.route_first[self.epoch, row, packet.target])
        count = int(self.state.route_count[self.epoch, row, packet.target])
        if count == 0:
            return self.drop(packet, NO_ROUTE)
        candidates = self.candidates[first : first + count]
        path = self.choose(row, packet, candidates) if count > 1 else 0
        self.ports[candidates[path]].enqueue(packet)
        return None

    def choose(self, row: int, packet: Any, candidates: list[int]) -> int:
        """Return the path that the balancer chooses, as its position among the candidates."""
        switch, balancer, u0 = self.switches[row], self.setup.scheme.balancer, 0.0
        if balancer.draws:
            u0 = draw(switch)
        state, conn, params = self.balancer_state[row], self.conns[packet.conn], self.params["balancer"]
        path = balancer.choose(params, state, switch, conn, packet, self.port_records, candidates, self.env.now, u0)
        if not 0 <= path < len(candidates):
            raise error_of(ILLEGAL_PATH, self.setup)
        return path

    def drop(self, packet: Any, reason: int, port: Port | None = None) -> None:
        """Drop a packet."""
        self.conns[packet.conn].packets_dropped += 1
        if port is None:
            self.counters.unroutable += 1
        else:
            port.record.packets_dropped += 1
            port.record.bytes_dropped += packet.bytes
        if self.setup.trace >= TRACE_DROPS:
            self.trace_packet(DROPPED, reason, port, packet)
        self.remove(packet)

    def remove(self, packet: Any) -> None:
        """Take a packet out of the network."""
        self.counters.in_flight -= 1
        self.pool.append(packet)
        self.check_done()

    def check_done(self) -> None:
        """End the run when every connection has finished and the network is empty."""
        if not self.counters.open_conns and not self.counters.in_flight:
            self.end()

    def end(self) -> None:
        """Let the run stop after this event."""
        if not self.done.triggered:
            self.done.succeed()

    def trace_packet(self, what: int, reason: int, port: Port | None, packet: Any) -> None:
        """Write a line of the packet trace."""
        number = NONE if port is None else port.number
        queue_packets = 0 if port is None or what == ARRIVED else port.record.queue_packets
        line = (self.env.now, what, reason, number, packet.conn, packet.kind, packet.flags, packet.segment)
        self.trace.append((*line, packet.ack, packet.bytes, queue_packets))

    def set_timers(self, host: Host, conn: Any) -> None:
        """Arm both timers; one that is armed too early is left, and set anew when it fires."""
        for kind, deadline_ps in ((TIMER, conn.timer_ps), (FLUSH, conn.flush_ps)):
            if deadline_ps != NONE and not self.env.now < self.armed.get((kind, conn.id), NONE) <= deadline_ps:
                self.armed[kind, conn.id] = deadline_ps
                At(self.env, deadline_ps, kind, conn.id).then(self.fire, host, conn, kind)

    def fire(self, host: Host, conn: Any, kind: int) -> None:
        """Act on a timer if its deadline has not moved."""
        deadline_ps = conn.timer_ps if kind == TIMER else conn.flush_ps
        if deadline_ps != self.env.now:
            self.set_timers(host, conn)
        elif kind == TIMER:
            host.expire(conn)
        else:
            host.pump_coded(conn)
            self.set_timers(host, conn)

    def finish_receiving(self, conn: Any) -> None:
        """Note that all of a connection has arrived; the first copy of a flow completes the flow."""
        flow = self.flows[conn.flow]
        conn.received_ps = self.env.now
        if flow.received_ps != NONE:
            return
        flow.received_ps, flow.winner = self.env.now, conn.id
        if self.setup.scheme.replication.abort_losers:
            for other in self.conns[flow.first_conn : flow.first_conn + flow.n_conns]:
                if other is not conn and other.acked_ps == NONE:
                    other.state, other.timer_ps, other.flush_ps = CLOSED, NONE, NONE
                    self.counters.open_conns -= 1

    def finish_sending(self, conn: Any) -> None:
        """Note that all of a connection is acknowledged."""
        if conn.acked_ps == NONE and conn.una == conn.n_segments:
            flow = self.flows[conn.flow]
            conn.acked_ps, conn.timer_ps, conn.flush_ps = self.env.now, NONE, NONE
            flow.acked_ps = self.env.now if flow.acked_ps == NONE else flow.acked_ps
            self.counters.open_conns -= 1
            self.check_done()

    def change_epoch(self, index: int) -> None:
        """Change routes, and take links down and up."""
        self.epoch = index
        for port, up in zip(self.ports, self.state.port_up[index].tolist(), strict=True):
            if port.record.up and not up:
                port.fail()
            port.record.up = int(up)

    def probe(self) -> None:
        """Take one sample of every port and connection that is probed."""
        now_ps = self.env.now
        for number in self.setup.probe_ports:
            port = self.port_records[number]
            self.probes.append((now_ps, PORT_SAMPLE, number, port.queue_packets, port.queue_bytes, 0, 0, 0, 0))
        for number in self.setup.probe_conns:
            conn = self.conns[number]
            windows = (conn.cwnd_bytes, conn.ssthresh_bytes, conn.srtt_ps, conn.next_segment - conn.una)
            self.probes.append((now_ps, CONNECTION_SAMPLE, number, 0, 0, *windows))
        At(self.env, now_ps + self.setup.probe_ps, PROBE, 0).then(self.probe)


def run(setup: Setup, *, progress: Callable[[int], None] | None = None) -> RawRecords:
    """Simulate `setup` and return its records; `progress` is told the simulated time in picoseconds now and then."""
    network = Network(setup)
    network.progress = progress
    network.simulate()
    return network.finished()
