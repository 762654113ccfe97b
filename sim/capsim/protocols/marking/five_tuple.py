"""The five-tuple of a subflow: all its packets have one hash, its acknowledgements another."""

from capsim.roles.components import Marking

FIVE_TUPLE = Marking(name="five_tuple")
