"""The list of codes: a new code is one file and one line here."""

from collections.abc import Mapping
from types import MappingProxyType

from capsmodel.codec.base import BlockCode, CodecError, by_name
from capsmodel.codec.ldpc import LdpcStaircase
from capsmodel.codec.reed_solomon import ReedSolomon
from capsmodel.codec.rlnc import RandomLinear

CODES: Mapping[str, type[BlockCode]] = MappingProxyType(
    by_name(
        (ReedSolomon, LdpcStaircase, RandomLinear),
    )
)


def get_code(name: str) -> type[BlockCode]:
    """Return the class of the code called `name`.

    Raises
    ------
    CodecError
        When there is none; the text lists those there are.
    """
    try:
        return CODES[name]
    except KeyError:
        raise CodecError(f"no code is called {name!r}: choose one of {', '.join(sorted(CODES))}") from None
