"""What transports tell congestion control: the signals of each acknowledgement and timeout, by hand."""

from dataclasses import replace

from support.scripted import MSS, Sender

from capsim import scheme
from capsim.protocols.congestion.reno import RENO
from capsim.protocols.schemes import caps_ns2, ecmp, sack
from capsim.records import ECN_ECHO
from capsim.roles.hooks import ACKED, DUPLICATE, EXPIRED, EXPIRED_AGAIN, GROW, LOST, MARKED, OPENED

STACKS = {"newreno": ecmp.STACK, "sack": sack.STACK, "tahoe": caps_ns2.LONG}


def listening(name, **options):
    """Return a sender, and the list that gets every sum of signals that its congestion control is told of."""
    signals_told = []

    def react(params, own, flow, sub, subs, signals, now_ps):
        signals_told.append(signals)
        return RENO.react(params, own, flow, sub, subs, signals, now_ps)

    stack = replace(STACKS[name], congestion=replace(RENO, react=react))
    return Sender(replace(scheme("ecmp"), short=stack, long=stack), **options), signals_told


def told_after(signals_told, act, *arguments, **options):
    """Return the signals that an action of the sender brings."""
    before = len(signals_told)
    act(*arguments, **options)
    return signals_told[before:]


def test_without_a_handshake_a_subflow_is_open_at_once(subtests):
    for name in STACKS:
        with subtests.test(name=name):
            assert listening(name)[1] == [OPENED]


def test_the_handshake_opens_once(subtests):
    """A SYN that gets lost is no loss of data; a second answer says nothing."""
    for name in STACKS:
        with subtests.test(name=name):
            sender, told = listening(name, handshake=True)
            sender.expire()
            assert told == []
            sender.syn_ack(at_us=1e7, rtt_us=100)
            sender.syn_ack(at_us=1e7, rtt_us=100)
            assert told == [OPENED]


def test_new_data_and_old_acknowledgements(subtests):
    """Old ones, below what is acknowledged, are nothing but their mark."""
    for flags, echo in [(0, 0), (ECN_ECHO, MARKED)]:
        for name in STACKS:
            with subtests.test(flags=flags, echo=echo, name=name):
                sender, told = listening(name)
                assert told_after(told, sender.ack, 3, flags=flags) == [ACKED | GROW | echo]
                assert sender.sub.newly_acked_bytes == 3 * MSS
                assert told_after(told, sender.ack, 2, flags=flags) == [echo] * bool(echo)


def test_a_recovery_of_newreno():
    """One loss however many duplicates; new data open the window again after the recovery has ended."""
    sender, told = listening("newreno")
    assert told_after(told, sender.duplicates, 0, 5) == [DUPLICATE, DUPLICATE, DUPLICATE | LOST, DUPLICATE, DUPLICATE]
    assert sender.sub.lost_flight_bytes == 10 * MSS
    assert told_after(told, sender.ack, 4) == [ACKED]  # partial
    assert told_after(told, sender.ack, 12, flags=ECN_ECHO) == [ACKED | MARKED]  # full
    assert told_after(told, sender.ack, 13) == [ACKED | GROW]


def test_a_recovery_of_sack():
    """A duplicate without a new block is one still: it says that a segment has come."""
    sender, told = listening("sack")
    ends = (2, 3, 3, 4, 5)
    found = [told_after(told, sender.ack, 0, blocks=[(1, end)]) for end in ends]
    assert found == [[DUPLICATE], [DUPLICATE], [DUPLICATE], [DUPLICATE | LOST], [DUPLICATE]]
    assert sender.sub.lost_flight_bytes == 10 * MSS
    assert told_after(told, sender.ack, 6, blocks=[(7, 8)]) == [ACKED]
    assert told_after(told, sender.ack, 12) == [ACKED]
    assert told_after(told, sender.ack, 13) == [ACKED | GROW]


def test_new_data_that_bring_word_of_a_loss():
    """RFC 6675, section 5: the blocks make it a loss, what it acknowledges opens the window first."""
    sender, told = listening("sack")
    assert told_after(told, sender.ack, 1, blocks=[(2, 5)]) == [ACKED | GROW | LOST]


def test_duplicates_of_tahoe():
    """It is in no recovery: new data open the window again at once."""
    sender, told = listening("tahoe")
    assert told_after(told, sender.duplicates, 0, 4) == [DUPLICATE, DUPLICATE, DUPLICATE | LOST, DUPLICATE]
    assert told_after(told, sender.ack, 4) == [ACKED | GROW]


def test_timeouts(subtests):
    """RFC 5681, section 3.1: a segment that times out again halves nothing; ns-2's Tahoe does not remember."""
    cases = [("newreno", EXPIRED_AGAIN), ("sack", EXPIRED_AGAIN), ("tahoe", 0)]
    for name, again in cases:
        with subtests.test(name=name, again=again):
            sender, told = listening(name)
            assert told_after(told, sender.expire) == [EXPIRED]
            assert told_after(told, sender.expire) == [EXPIRED | again]
            sender.ack(6)
            assert told_after(told, sender.expire) == [EXPIRED]
