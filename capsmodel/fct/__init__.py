"""Flow completion time (FCT), with replication.

============= ==================================================================
Module        Holds
============= ==================================================================
`completion`  mean and tail of the FCT of short flows
`long_flows`  the same of long flows
`slow_start`  rounds of slow start that a flow needs
`replication` the load that replicated short flows add, and what two waits gain
============= ==================================================================
"""
