"""What end hosts and switches decide: plain functions over records, without clock, I/O or randomness of their own."""
