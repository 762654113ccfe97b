"""Queues: whether a port takes a packet, marks it or refuses it."""
