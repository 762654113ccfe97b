"""Decisions of end hosts and switches: plain functions over records, without clock, I/O or randomness of their own."""
