"""The sub-commands of `python -m scenarios`, one file each.

A command has `add(subparsers)`, which describes its arguments, and `execute(arguments) -> int`, which returns the exit
status: 0 good, 1 a check failed. What is wrong with an input is raised as an error with one sentence and becomes status
2 in `__main__.py`.
"""
