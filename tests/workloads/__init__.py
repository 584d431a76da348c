"""Known workloads with exact counts: blocks (W1), a radix tree (W2), whole steps (W3)."""
