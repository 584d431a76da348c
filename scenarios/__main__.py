"""The command line: `python -m scenarios COMMAND ...`.

Exit status: 0 good, 1 a check failed, 2 bad input (one line on stderr), 130 stopped by Ctrl-C. Only the module of the
command that was asked for is imported; it brings what it needs.
"""

import argparse
import os
import sys
from importlib import import_module
from typing import NoReturn

COMMANDS = {
    "list": "the scenarios that come with KVScope",
    "run": "run a scenario, a scenario file, a saved run or a trace file and print its figures",
    "check": "compare with every number of the source texts",
    "convert": "read a trace file, say what was found, write it as a scenario file",
    "export": "write a run as an offline replay, a Chrome trace or a saved run",
}


class UsageError(ValueError):
    """Arguments that cannot be understood."""


class Parser(argparse.ArgumentParser):
    """An argument parser that answers with one sentence instead of a usage text."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}; see {self.prog} --help.")


def main(arguments: list[str]) -> int:
    """Run one command and return the exit status."""
    try:
        return _execute(arguments)
    except KeyboardInterrupt as stop:
        print(str(stop) or "Stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError, MemoryError) as error:
        if not _is_for_users(error):
            raise
        print(_one_line(error), file=sys.stderr)
        return 2


def _execute(arguments: list[str]) -> int:
    name = arguments[0] if arguments else "--help"
    if name not in COMMANDS:
        _overview().parse_args([name])
    command = import_module(f"scenarios.commands.{name}")
    parser = Parser(prog=f"python -m scenarios {name}", description=COMMANDS[name], allow_abbrev=False)
    command.add_arguments(parser)
    return command.execute(parser.parse_args(arguments[1:]))


def _overview() -> Parser:
    commands = "\n".join(f"  {name:<10}{text}" for name, text in COMMANDS.items())
    parser = Parser(
        prog="python -m scenarios",
        usage="python -m scenarios COMMAND ... (COMMAND --help says more)",
        description=f"commands:\n{commands}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, help=argparse.SUPPRESS)
    return parser


def _is_for_users(error: Exception) -> bool:
    """Whether the error says something about the input; anything else is a fault of ours and keeps its traceback."""
    from engine.settings import SettingsError
    from engine.trace.check import TraceFileError
    from scenarios.fields import ScenarioError
    from scenarios.readers.errors import ReadError

    known = (UsageError, SettingsError, ScenarioError, ReadError, TraceFileError, OSError, MemoryError)
    return isinstance(error, known)


def _one_line(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; take fewer requests (--first N) or a larger block_size."
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror or error}."
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
