"""DropTail: a port takes a packet while there is room for it, in packets and in bytes."""

from capsim.roles.components import Queue

DROPTAIL = Queue(name="droptail")
