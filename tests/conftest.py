"""For all tests: no example has to be quick, because timings are never asserted."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
