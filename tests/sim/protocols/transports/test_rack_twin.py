"""A twin of the RACK-TLP sender, written from RFC 8985 with a dictionary of segments, decides the same at each event.

Packets take times of their own, so they overtake each other, and are lost as listed; the receiver reports blocks and
duplicates. After each acknowledgement and each timer both have sent the same, count the same as lost, and have the same
window and deadline. Times are whole microseconds.
"""

import heapq
from dataclasses import dataclass
from itertools import count

from hypothesis import example, given
from hypothesis import strategies as st
from support.scripted import MSS, US, Sender, runs_above

from capsim.records import MISSING, RETRANSMITTED

MIN_RTO, BACK, THRESHOLD = 2000 * US, 20, 3


@dataclass
class Segment:
    """Section 5.1; `acked` is selectively so."""

    xmit_ts: int
    retransmitted: bool = False
    lost: bool = False
    acked: bool = False


class Rfc8985:
    """Sections 6 and 7 in whole segments; RFC 5681 windows, RFC 6298 timeouts, RFC 6675's pipe, Linux's undo."""

    def __init__(self, *, window, receive_window, n_segments, tlp, undo):
        self.segments: dict[int, Segment] = {}
        self.una = self.next = 0
        self.n_segments, self.receive_window, self.tlp = n_segments, receive_window, tlp
        self.cwnd, self.ssthresh = window * MSS, 2**40
        self.recover, self.fast = -2, False
        self.rack_xmit = self.rack_seq = self.fack = -1
        self.rack_rtt = self.reo_wnd = self.min_rtt = 0
        self.reordering_seen, self.mult, self.persist, self.dsack_round = False, 1, 16, None
        self.srtt = self.rttvar = 0
        self.rto, self.backed_off, self.timed_out = MIN_RTO, 1, None
        self.rto_at = self.reo_at = self.pto_at = None
        self.tlp_end, self.tlp_is_retrans, self.measured = None, False, False
        self.cut_at, self.must_send, self.must_probe = 0, False, False
        self.undo, self.in_vain, self.before = undo, None, None  # not reported twice yet; una, window, ssthresh
        self.undone = 0
        self.found = []  # (now, sent, RACK.rtt) of what time has made lost

    # -- what is in flight
    @property
    def in_recovery(self):
        return self.una <= self.recover

    def pipe(self):
        return sum(not (each.acked or each.lost) for each in self.segments.values())

    def sacked(self):
        return sum(each.acked for each in self.segments.values())

    def missing(self):
        return {number for number, each in self.segments.items() if each.lost}

    # -- sending
    def send(self, now):
        sent = [self._probe(now)] if self.must_probe else []
        while self.missing() and (self.must_send or self._room()):
            self.must_send = False
            sent.append(self._retransmit(min(self.missing()), now))
        while not self.missing() and self._has_new() and self._room():
            sent.append(self._transmit(now))
        return sent

    def _room(self):
        return (self.pipe() + 1) * MSS <= self.cwnd

    def _has_new(self):
        return self.next < min(self.n_segments, self.una + self.receive_window)

    def _transmit(self, now):
        self.segments[self.next] = Segment(now)
        self.next += 1
        if self.rto_at is None:
            self.rto_at = now + self.rto
        self._schedule_pto(now)
        return self.next - 1

    def _retransmit(self, number, now):
        segment = self.segments[number]
        segment.xmit_ts, segment.retransmitted, segment.lost = now, True, False
        if self.in_vain is not None:
            self.in_vain += 1
        return number

    # -- section 7
    def _schedule_pto(self, now):
        """7.2; without a round trip since the last probe the probe would not be sent (7.3)."""
        idle = self.tlp_end is None and self.measured and self.srtt
        if self.tlp and idle and not self.in_recovery and not self.sacked() and self.reo_at is None:
            self.pto_at = min(now + 2 * self.srtt, self.rto_at)
        else:
            self.pto_at = None

    def _probe(self, now):
        """7.3."""
        self.must_probe = self.measured = self.tlp_is_retrans = False
        if self._has_new():
            number = self._transmit(now)
        else:
            number = self._retransmit(self.next - 1, now)
            self.tlp_is_retrans = True
        self.tlp_end, self.pto_at = self.next, None
        return number

    def _process_tlp_ack(self, ack, before, blocks, dsack):
        """7.4.2; return whether a loss was repaired."""
        if self.tlp_end is None or ack < self.tlp_end:
            return False
        if not self.tlp_is_retrans or dsack == self.tlp_end - 1:
            self.tlp_end = None
        elif ack > self.tlp_end:
            self.tlp_end = None
            return True
        elif ack == before and not blocks and dsack is None:
            self.tlp_end = None
        return False

    # -- section 6.2
    @staticmethod
    def sent_after(t1, seq1, t2, seq2):
        return t1 > t2 or (t1 == t2 and seq1 > seq2)

    def _update(self, delivered, now):
        """Step 2: in order of transmission."""
        for number, each in sorted(delivered, key=lambda pair: (pair[1].xmit_ts, pair[0])):
            if each.retransmitted and now - each.xmit_ts < self.min_rtt:
                continue
            self.rack_rtt = now - each.xmit_ts
            if self.sent_after(each.xmit_ts, number, self.rack_xmit, self.rack_seq):
                self.rack_xmit, self.rack_seq = each.xmit_ts, number

    def _detect_reordering(self, delivered):
        """Step 3."""
        for number, each in sorted(delivered, key=lambda pair: pair[0]):
            if number > self.fack:
                self.fack = number
            elif number < self.fack and not each.retransmitted:
                self.reordering_seen = True

    def _update_reo_wnd(self, dsack, exiting):
        """Step 4, first half."""
        if self.dsack_round is not None and self.una >= self.dsack_round:
            self.dsack_round = None
        if self.dsack_round is None and dsack is not None:
            self.dsack_round = self.next
            self.mult += 1
            self.persist = 16
        elif exiting:
            self.persist -= 1
            if self.persist <= 0:
                self.mult = 1

    def _reo_wnd(self):
        """Step 4, second half."""
        if not self.reordering_seen and (self.in_recovery or self.sacked() >= THRESHOLD):
            return 0
        return min(self.mult * self.min_rtt // 4, self.srtt or 2**62)

    def _detect_loss(self, now):
        """Step 5; return whether congestion control is to be told."""
        self.reo_wnd, timeout, again, marked = self._reo_wnd(), 0, False, False
        for number, each in self.segments.items():
            if each.acked or each.lost or not self.sent_after(self.rack_xmit, self.rack_seq, each.xmit_ts, number):
                continue
            remaining = each.xmit_ts + self.rack_rtt + self.reo_wnd - now
            if remaining <= 0:
                each.lost = marked = True
                again |= each.retransmitted and each.xmit_ts >= self.cut_at
                self.found.append((now, each.xmit_ts, self.rack_rtt))
            else:
                timeout = max(timeout, remaining)
        self.reo_at = now + timeout if timeout else None
        if marked and (again or not self.in_recovery):
            before = self.una, self.ungrown, self.ssthresh
            self._halve(now)
            if self.undo and not again:
                self.in_vain, self.before = 0, before
            self.cwnd = self.ssthresh
            self.recover, self.fast, self.must_send = self.next - 1, True, True

    def _halve(self, now):
        self.ssthresh = max(min((self.next - self.una) * MSS, self.cwnd) // 2, 2 * MSS)
        self.cut_at, self.tlp_end, self.in_vain = now, None, None

    def _undo(self, dsack):
        """Restore all once as many segments came twice as were sent again (Linux: undo_retrans is 0)."""
        if not self.in_vain or dsack is None or dsack < self.before[0]:
            return
        self.in_vain -= 1
        if self.in_vain == 0:
            self.in_vain, self.undone = None, self.undone + 1
            self.cwnd, self.ssthresh = max(self.cwnd, self.before[1]), max(self.ssthresh, self.before[2])
            self.recover, self.fast = min(self.recover, self.una - 1), False

    # -- events
    def ack(self, now, ack, blocks, dsack, echo, retransmitted):
        before, recovering = self.una, self.in_recovery
        if not retransmitted:
            self.min_rtt = min(self.min_rtt or now - echo, now - echo)
            self.measured = True
        covered = {number for number in self.segments if number < ack}
        covered |= {number for block in blocks for number in range(*block) if number in self.segments}
        delivered = [(number, self.segments[number]) for number in covered if not self.segments[number].acked]
        self._update(delivered, now)
        self._detect_reordering(delivered)
        for _, each in delivered:
            each.acked, each.lost = True, False
        grows = ack > before and self._advance(now, ack, echo, retransmitted)
        repaired = self._process_tlp_ack(ack, before, blocks, dsack)
        self._update_reo_wnd(dsack, recovering and not self.in_recovery)
        self._undo(dsack)
        self.ungrown = self.cwnd
        if grows:
            self.cwnd += MSS if self.cwnd < self.ssthresh else max(1, MSS * MSS // self.cwnd)
            self.cwnd = min(self.cwnd, self.receive_window * MSS)
        if repaired:
            self._halve(now)
            self.cwnd = self.ssthresh
        if self.segments:
            self._detect_loss(now)
            if ack > before or self.sacked() or self.in_recovery or self.reo_at is not None:
                self._schedule_pto(now)
        else:
            self.rto_at = self.reo_at = self.pto_at = None
        return self.send(now)

    def _advance(self, now, ack, echo, retransmitted):
        """Return whether the window grows."""
        self.una = ack
        self.segments = {number: each for number, each in self.segments.items() if number >= ack}
        if not retransmitted:
            rtt = now - echo
            self.rttvar = (3 * self.rttvar + abs(self.srtt - rtt)) // 4 if self.srtt else rtt // 2
            self.srtt = (7 * self.srtt + rtt) // 8 if self.srtt else rtt
        self.rto = max(MIN_RTO, self.srtt + 4 * self.rttvar) if self.srtt else MIN_RTO
        self.rto_at = now + self.rto
        grows = not self.fast
        if self.fast and not self.in_recovery:
            self.fast, self.cwnd = False, self.ssthresh
        return grows

    def deadline(self):
        if self.reo_at is not None:
            return min(self.reo_at, self.rto_at)
        return self.rto_at if self.pto_at is None else self.pto_at

    def expire(self, now):
        self.ungrown = self.cwnd
        if self.reo_at is not None and self.reo_at <= now:
            self._detect_loss(now)
            if self.reo_at is not None or self.in_recovery:
                self.pto_at = None
        elif self.pto_at is not None and self.pto_at <= now:
            self.must_probe, self.rto_at = True, now + self.rto
        else:
            self._time_out(now)
        return self.send(now)

    def _time_out(self, now):
        """6.3; RFC 5681, section 3.1."""
        if self.timed_out != self.una:
            self._halve(now)
        self.cut_at, self.tlp_end, self.timed_out, self.in_vain = now, None, self.una, None
        self.cwnd, self.recover, self.fast, self.must_send = MSS, self.next - 1, False, True
        for number, each in self.segments.items():
            overdue = each.xmit_ts + self.rack_rtt + self.reo_wnd <= now
            if not each.acked and not each.lost and (number == self.una or overdue):
                each.lost = True
        self.rto *= 2
        self.rto_at, self.reo_at, self.pto_at = now + self.rto, None, None


class Path:
    """Packets on their way: the times that they take in turn, None for one that is lost; `unheard` acks are lost."""

    def __init__(self, times, unheard):
        self.times, self.unheard, self.events, self.order = times, unheard, [], count()
        self.sent, self.came, self.acks = 0, set(), 0

    def carry(self, now, segments, high):
        """Send packets; `high` is one above the highest segment sent before."""
        for segment in segments:
            took = self.times[self.sent % len(self.times)]
            self.sent += 1
            if took is not None:
                heapq.heappush(self.events, (now + took, next(self.order), segment, now, segment < high))
            high = max(high, segment + 1)
        return high

    def receive(self):
        """Return the next acknowledgement: time, cumulative, blocks, duplicate, echoed time and flag; None if lost."""
        at, _, segment, sent, again = heapq.heappop(self.events)
        twice = segment if segment in self.came else None
        self.came.add(segment)
        ack = next(number for number in count() if number not in self.came)
        room = 3 if twice is None else 2
        blocks = sorted(runs_above(self.came, ack), key=lambda run: segment not in range(*run))[:room]
        self.acks += 1
        return at + BACK, None if self.acks in self.unheard else (ack, blocks, twice, sent, again)


def play(*, window, receive_window, n_segments, tlp, undo, times, unheard):
    """Let both send a flow over a path; return the twin and how often its timer fired."""
    options = {"initial_window_packets": window, "tlp": tlp, "undo": undo, "max_window_bytes": receive_window * MSS}
    sender = Sender("rack", n_segments=n_segments, **options)
    twin = Rfc8985(window=window, receive_window=receive_window, n_segments=n_segments, tlp=tlp, undo=undo)
    path, fired = Path(times, unheard), 0
    sent = twin.send(0)
    assert [packet.segment for packet in sender.packets] == sent
    high = path.carry(0, sent, 0)
    while twin.una < n_segments and fired < 60:
        arrives = path.events[0][0] + BACK if path.events else None
        assert sender.sub.timer_ps == twin.deadline()
        if arrives is None or arrives > twin.deadline() // US:
            now, fired = twin.deadline(), fired + 1
            sent, ours = twin.expire(now), sender.expire()
        else:
            at, found = path.receive()
            if found is None:
                continue
            ack, blocks, twice, echo, again = found
            now = at * US
            sent = twin.ack(now, ack, blocks, twice, echo * US, again)
            flags = RETRANSMITTED if again else 0
            ours = sender.ack(ack, at_us=at, rtt_us=at - echo, blocks=blocks, flags=flags, twice=twice)
        assert ours == sent
        assert sender.sub.cwnd_bytes == twin.cwnd
        ring, sub = sender.hosts.rings[sender.sub.id], sender.sub
        assert {each for each in range(sub.una, sub.high) if ring[each & sub.ring_mask] & MISSING} == twin.missing()
        high = path.carry(-(-now // US), sent, high)
    return twin, fired


TIMES = st.one_of(
    st.none(), st.integers(40, 60), st.integers(40, 400), st.integers(1500, 4000)
)  # the last: after a timeout
FATES = st.lists(TIMES, min_size=5, max_size=40)


@given(
    window=st.integers(1, 16),
    receive_window=st.integers(2, 40),
    n_segments=st.integers(1, 80),
    tlp=st.booleans(),
    undo=st.booleans(),
    times=FATES.filter(lambda fates: sum(fate is not None for fate in fates) > len(fates) // 2),
    unheard=st.sets(st.integers(1, 80), max_size=10),
)
@example(300, 400, 900, True, False, [50, 50, None, 50, 380, 50, 45, 50, 50, 120, 50], {40, 41, 300})
@example(10, 40, 40, True, False, [*[2500] * 5, 2100, *[2600] * 4, *[50] * 9], set())
@example(10, 64, 60, False, True, [*[1880] * 10, *[None] * 5, *[2250] * 15, None, *[50] * 9], set())
@example(200, 256, 700, True, True, [*[50] * 70, None, *[90, 50] * 30, None, None], set())
def test_the_twin_decides_the_same(window, receive_window, n_segments, tlp, undo, times, unheard):
    """And nothing counts as lost by time before the round trip of the newest delivered has passed since it was sent."""
    options = {"window": window, "receive_window": receive_window, "n_segments": n_segments, "tlp": tlp, "undo": undo}
    twin, _ = play(**options, times=times, unheard=unheard)
    assert all(now - sent >= rtt for now, sent, rtt in twin.found)


def test_the_twin_meets_windows_that_are_restored():
    """Packets overtake each other by far and none is lost, so all reductions are in vain."""
    times = [50, 50, 50, 50, 50, 50, 50, 50, 50, 150, 50, 90]
    options = {"window": 20, "receive_window": 64, "n_segments": 400, "tlp": True, "times": times, "unheard": set()}
    restored, reduced = (play(**options, undo=undo)[0] for undo in (True, False))
    assert (restored.undone > 1, reduced.undone) == (True, 0)
    assert restored.ssthresh > reduced.ssthresh
