"""No layer: the network carries the packets of the transport as they are."""

from capsim.roles.components import Layer

NO_LAYER = Layer(name="none")
