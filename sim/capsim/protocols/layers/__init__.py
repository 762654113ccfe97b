"""Layers: what stands between transport and network at the end hosts."""
