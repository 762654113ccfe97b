"""Schemes put together from others, written with plus signs: ``rps+dctcp`` sprays packets of DCTCP.

Each part adds what it does otherwise than ``ecmp``, from which most schemes differ in one or two components: ``rps``
adds its balancer, ``dctcp`` its congestion control, the queue that marks, and transports whose packets can be marked.
``NAME.ROLE`` takes from a scheme what it has in one role: ``presto.layer``. The order of the parts says nothing, since
two that want different things in one place are refused.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from capsim.base.bounds import shortened
from capsim.protocols.schemes.ecmp import SCHEME as PLAIN
from capsim.roles.components import Component, Queue, Scheme
from capsim.roles.hooks import HOST_ROLES, ROLES, is_own
from capsmodel.checks import ParameterError, nearest, require

SIGN = "+"
Place = tuple[str, str, str]
"""Whose it is (``short``, ``long``, or empty for switches), the role, and the parameter; empty for the component."""


@dataclass(frozen=True)
class _Want:
    """What a part puts in a place: a component, or the value of a parameter."""

    place: Place
    value: Any
    part: str


def is_combined(name: str) -> bool:
    """Return whether a name is that of several schemes put together.

    Examples
    --------
    >>> is_combined("rps+dctcp"), is_combined("rps")
    (True, False)
    """
    return SIGN in name


def combined(name: str, find: Callable[[str], Scheme], *, key: str, known: Sequence[Scheme]) -> Scheme:
    """Return the scheme that several ones make together, called as it was written.

    Parameters
    ----------
    name : str
        Names of schemes with plus signs between them, each perhaps with a role: ``rps+presto.layer``.
    find : callable
        Gives the scheme of a name.
    key : str
        What named it, for the text of an error.
    known : sequence of Scheme
        Where components are looked for that are no schemes, to say which scheme has them.

    Raises
    ------
    ParameterError
        If a part is no scheme, two want different things in one place, or nobody would set or read a mark.
    """
    where = f"{key} = {shortened(name)}"
    parts = [part.strip() for part in name.split(SIGN)]
    require(all(parts), f"{where}: a part is missing: write names between the signs, as in rps+dctcp")
    require(len(set(parts)) == len(parts), f"{where} names a part twice: leave one out")
    schemes = [_scheme_of(part, parts, find, where, known) for part in parts]
    wants = [want for part, scheme in zip(parts, schemes, strict=True) for want in _wants(part, scheme)]
    _refuse_conflicts(wants, where)
    whole = _put_together({want.place: want for want in wants}, where)
    _check_marks(whole, where)
    return replace(
        whole,
        name=SIGN.join(parts),
        summary="; ".join(dict.fromkeys(one.summary for one in schemes)),
        cite=", ".join(dict.fromkeys(one.cite for one in schemes)),
        reconstructed=any(one.reconstructed for one in schemes),
    )


def _role_of(part: str) -> str:
    """Return the role that a part is limited to; empty for all of a scheme."""
    return part.rpartition(".")[2] if "." in part else ""


def _scheme_of(
    part: str, parts: Sequence[str], find: Callable[[str], Scheme], where: str, known: Sequence[Scheme]
) -> Scheme:
    """Return the scheme that a part names; refuse what is a file, a component or nothing."""
    in_file = 'combine a scheme of a file in the file, as in replace(scheme("dctcp"), balancer=MINE)'
    require(".py" not in part, f"{where}: {in_file}")
    role = _role_of(part)
    name = part.removesuffix(f".{role}")
    if role and role not in ROLES:
        near = nearest(role, ROLES)
        hint = f"did you mean {name}.{near[0]}? There" if near else "there"
        raise ParameterError(f"{where}: {shortened(role)} is no role: {hint} are {', '.join(ROLES)}")
    if name not in (each.name for each in known):
        _refuse_component(name, part, parts, where, known)
    return find(name)


def _refuse_component(name: str, part: str, parts: Sequence[str], where: str, known: Sequence[Scheme]) -> None:
    """Refuse the name of a component: which scheme has it, and what to write."""
    for scheme in known:
        role = next((place[1] for place, one in _components(scheme) if one.name == name), None)
        if role is not None:
            instead = SIGN.join(scheme.name if one == part else one for one in parts)
            text = f"{where}: {name} is no scheme but the {role} of {scheme.name}: write {instead}"
            raise ParameterError(text)


def _components(scheme: Scheme) -> Iterator[tuple[Place, Component]]:
    for role in ROLES:
        for flows in ("short", "long") if role in HOST_ROLES else ("",):
            yield (flows, role, ""), getattr(getattr(scheme, flows) if flows else scheme, role)


def _wants(part: str, scheme: Scheme) -> Iterator[_Want]:
    """Yield what a part does otherwise than the plain scheme, in the role that it is limited to."""
    only = _role_of(part)
    for (place, own), (_, plain) in zip(_components(scheme), _components(PLAIN), strict=True):
        if only in ("", place[1]):
            yield from _differing(place, own, plain, part)
    if only:
        return
    for flows in ("short", "long"):
        priority = getattr(scheme, flows).priority
        if priority != getattr(PLAIN, flows).priority:
            yield _Want((flows, "priority", ""), priority, part)
    if scheme.known_sizes != PLAIN.known_sizes:
        yield _Want(("", "known_sizes", ""), scheme.known_sizes, part)


def _differing(place: Place, own: Component, plain: Component, part: str) -> Iterator[_Want]:
    """Yield a component that is another one, or the parameters in which it is not as in the plain scheme."""
    if replace(own, params=plain.params) != plain:
        yield _Want(place, own, part)
        return
    for each in fields(own.params):
        value = getattr(own.params, each.name)
        if value != getattr(plain.params, each.name):
            yield _Want((*place[:2], each.name), value, part)


def _refuse_conflicts(wants: Sequence[_Want], where: str) -> None:
    by_place: dict[Place, _Want] = {}
    for want in wants:
        other = by_place.setdefault(want.place, want)
        if other.value == want.value:
            continue
        role = want.place[1]
        more = {one.place[1]: one.part for one in wants if one.part in (want.part, other.part)}
        others = [f"{part}.{one}" for one, part in more.items() if one != role and one in ROLES and "." not in part]
        remedy = f"take one role of a part, as in {others[0]}" if others else "leave one of them out"
        what = ".".join(filter(None, want.place[1:]))
        raise ParameterError(f"{where}: {other.part} and {want.part} each have a {what} of their own: {remedy}")


def _put_together(wanted: Mapping[Place, _Want], where: str) -> Scheme:
    """Return the plain scheme with all that is wanted: whole components first, then their parameters."""
    stacks: dict[str, Any] = {"short": PLAIN.short, "long": PLAIN.long}
    network: dict[str, Any] = {}
    for (flows, role, name), want in sorted(wanted.items(), key=lambda one: bool(one[0][2])):
        before = stacks[flows] if flows else replace(PLAIN, **network)
        value: Any = _with_param(getattr(before, role), want, where) if name else want.value
        if flows:
            stacks[flows] = replace(stacks[flows], **{role: value})
        else:
            network[role] = value
    return replace(PLAIN, name=where, **stacks, **network)


def _with_param(component: Component, want: _Want, where: str) -> Component:
    _, role, name = want.place
    has = name in {each.name for each in fields(component.params)}
    require(
        has, f"{where}: {want.part} sets {role}.{name}, which {component.name} does not have: leave one of them out"
    )
    return replace(component, params=replace(component.params, **{name: want.value}))


def _check_marks(scheme: Scheme, where: str) -> None:
    """Refuse a queue that would mark if packets could be marked, and windows that wait for marks."""
    capable = any(getattr(stack.transport.params, "ecn", False) for stack in scheme.stacks)
    reads = any(stack.congestion.reads_marks for stack in scheme.stacks)
    whole = "take a scheme that marks as a whole, such as dctcp"
    is_vain = _marks(scheme.queue) and not capable
    require(not is_vain, f"{where}: its queue marks packets, but its hosts send none to be marked: {whole}")
    is_deaf = reads and not (capable and _may_mark(scheme.queue))
    require(not is_deaf, f"{where}: its windows wait for marks, but no packet is marked: {whole}")


def _may_mark(queue: Queue) -> bool:
    """Return whether a queue marks, or is a user's, of which that is not known."""
    return _marks(queue) or any(is_own(hook) for hook in (queue.admit, queue.leave) if hook)


def _marks(queue: Queue) -> bool:
    """Return whether a queue of this package marks."""
    return bool(getattr(queue.params, "marks", False))
