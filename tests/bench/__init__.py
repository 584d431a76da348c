"""Measurements behind `make bench`: what a decoded token costs, what recording adds, how large a run is on the wire,
and how long a lecturer waits for a picture of the player.

Only ratios taken side by side in one run mean anything on a shared machine; absolute times say where it stands.
"""
