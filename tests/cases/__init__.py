"""Runs case files: small inputs with the answer that is right, one JSON file each.

`python -m tests.cases DIR` prints a line for each case. `verdict` holds what a runner answers, `sentences` how prose is
checked, `compare` how structured fields are; the other files know one kind of input each.
"""
