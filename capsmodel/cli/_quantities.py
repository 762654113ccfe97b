"""Quantities in the unit that people would choose, with the unit of their name's last part."""

from capsmodel.cli._numbers import number

# By the last part of the name: units from large to small, each with its factor.
_UNITS: dict[str, tuple[tuple[str, float], ...]] = {
    "s": (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12)),
    "bps": (("Tbps", 1e12), ("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)),
    "bytes": (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)),
}


def quantity(name: str, value: object) -> str:
    """Return the value of the quantity called `name`, as an option takes it.

    Examples
    --------
    >>> quantity("min_rto_s", 0.2), quantity("rate_bps", 1e10), quantity("mss_bytes", 1460), quantity("ecn", False)
    ('200ms', '10Gbps', '1460B', 'false')
    """
    if isinstance(value, bool):
        return str(value).lower()
    units = _UNITS.get(name.rpartition("_")[2], ())
    if not isinstance(value, int | float) or not units:
        return number(value)
    if value == 0:
        return f"0{units[0][0] if name.endswith('_s') else units[-1][0]}"
    places = 0 if name.endswith("_bytes") else 3
    fitting = (f"{value / factor:.15g}{unit}" for unit, factor in units if _is_short(value / factor, places))
    return next(fitting, number(value))


def _is_short(value: float, places: int) -> bool:
    """Return whether a value is at least 1 and has at most so many digits behind the point."""
    return abs(value) >= 1 and abs(value * 10**places - round(value * 10**places)) < 1e-6
