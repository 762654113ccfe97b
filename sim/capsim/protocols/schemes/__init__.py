"""Named combinations of components: one file each, one ``SCHEME`` in it."""
