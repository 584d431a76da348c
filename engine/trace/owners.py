"""Which request a sequence answers: the sequences of a request are numbered on from its `first_sequence`."""

import numpy as np

from engine.trace.trace import Trace


def owners(trace: Trace) -> np.ndarray:
    """int64 [num_sequences]: the index of the request of each sequence."""
    first = np.array([request["first_sequence"] for request in trace.requests], np.int64)
    samples = np.array([request["n"] for request in trace.requests], np.int64)
    sequences = np.arange(samples.sum()) + np.repeat(first - np.cumsum(samples) + samples, samples)
    owner = np.zeros(int((first + samples).max(initial=0)), np.int64)
    owner[sequences] = np.repeat(np.arange(len(samples)), samples)
    return owner
