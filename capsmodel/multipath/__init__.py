"""Connections of several subflows: windows, losses, timeouts and coded packets.

================= =================================================================
Module            Holds
================= =================================================================
`lia`             coupled congestion control (LIA, RFC 6356): increases, equilibrium
`fully_coupled`   windows that grow and shrink as one: equilibrium, means of two
`sawtooth`        means of windows that halve on loss, beside the equilibrium
`coded_transport` DC2-MTCP: loss of a connection, redundancy rate, coding delay
`coding_schedule` DC2-MTCP: when a sender codes (Eqs. 3 and 4)
`timeouts`        timeout probability and completion time after losses
`subflows`        MMPTCP: how many subflows, and what share of their windows is minimal
================= =================================================================
"""
