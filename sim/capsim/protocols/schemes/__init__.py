"""Named combinations of transport, balancer, coding, queue and replication: one file each, one ``SCHEME`` in it."""
