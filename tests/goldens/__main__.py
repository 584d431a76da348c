"""`python -m tests.goldens DIR`: one line a recorded run, the counts in the last line; exit 1 after a failure."""

import sys

from scenarios.terminal import command


def main(arguments: list[str]) -> int:
    """Run every file of the folder. Imports what it needs only here, where Ctrl-C ends with one line."""
    from tests.cases import verdict
    from tests.goldens.engines import check

    return verdict.main(arguments, "python -m tests.goldens DIR", "cases", check)


if __name__ == "__main__":
    sys.exit(command(main))
