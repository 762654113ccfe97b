"""Packet simulator of data-centre fabrics: protocols written once, run by two engines."""
