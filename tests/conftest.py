"""For all tests: no example has to be quick, because timings are never asserted; workers do not fight for the cores."""

import os

from hypothesis import settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # before torch is imported: two workers with two threads each stall each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
