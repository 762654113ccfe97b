"""Calls from both engines to Python in runs whose packets carry the bytes of a code (:mod:`capsim.engines.payload`)."""

from typing import Any

from capsim.engines.own_memory import OwnMemory
from capsim.engines.state import Setup, Table

# w.payload: packets carry no bytes; they do; what the packet that arrives next is worth has been computed
COUNTED, CARRIED, ANSWERED = range(3)


def payload_of(setup: Setup) -> Any:
    """Return what computes the bytes of a run, None where packets are counted; the codec is loaded only for it."""
    if not setup.payload:
        return None
    from capsim.engines.payload import Payload

    return Payload(setup)


def answer(arrays: dict[str, Table], record: Table, own: OwnMemory, payload: Any) -> None:
    """Compute for the compiled engine what the packet that arrives next is worth, and let the loop go on."""
    number = int(record["asked"][0])
    sub = int(arrays["packets"]["sub"][number])
    stack, flow = (int(arrays["subs"][name][sub]) for name in ("stack", "flow"))
    record["payload"] = ANSWERED
    if not payload.codes(stack):
        return
    own.tables |= {name: arrays[name] for name in ("subflow", "unit", "packet")}
    layer = (stack, "layer")
    coders, options = (payload.rows(own.records(name, layer)) for name in ("subflow", "packet"))
    units = payload.rows(own.records("unit", layer)) if layer in own.layouts["unit"].records else None
    packet, option = payload.rows(arrays["packets"])[number], options[number] if options.names else None
    arrays["packets"]["stale"][number] = payload.stale(packet, stack, flow, coders[sub], units, option)
