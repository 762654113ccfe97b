"""Replication: how many connections carry a flow."""

from capsim.hooks import Replication

NO_REPLICATION = Replication(name="none")
REPFLOW = Replication(name="repflow", copies_of_short=2)
