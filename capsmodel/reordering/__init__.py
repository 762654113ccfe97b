"""Reordering on unequal paths and what TCP makes of it.

============= ==================================================================
Module        Holds
============= ==================================================================
`probability` whether packets of different paths arrive in order
`extents`     how many packets come late, and by how much
`dup_acks`    the duplicate-ACK threshold, by topology, and whether it is reached
============= ==================================================================
"""
