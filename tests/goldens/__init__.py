"""Compares the managers with recorded runs of the real engines: `python -m tests.goldens DIR`.

DIR/cases holds the operations, DIR/expected the JSON lines that the engine answered. One file here knows one engine.
"""
