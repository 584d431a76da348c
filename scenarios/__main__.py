"""The command line: `python -m scenarios COMMAND ...`.

Exit status: 0 good, 1 a check failed, 2 bad input (one line on stderr), 130 stopped by Ctrl-C. Only the module of the
command that was asked for is imported; it brings what it needs.
"""

import argparse
import re
import sys
from importlib import import_module
from typing import NoReturn

from scenarios.fields import shown
from scenarios.terminal import STOPPED, command, say, uninterrupted

COMMANDS = {
    "list": "the scenarios that come with KVScope",
    "run": "run a scenario, a scenario file, a saved run or a trace file and print its figures",
    "live": "let a real model answer prompts, on paged KV through the same scheduler",
    "check": "compare with every number of the source texts",
    "convert": "read a trace file, say what was found, write it as a scenario file",
    "export": "write a run as an offline replay, a Chrome trace or a saved run",
}


class UsageError(ValueError):
    """Arguments that cannot be understood."""


class Parser(argparse.ArgumentParser):
    """An argument parser that answers with one sentence instead of a usage text."""

    def error(self, message: str) -> NoReturn:
        short = re.sub(r"(\S{64})\S+", r"\1…", message)
        raise UsageError(f"{self.prog}: {short}; see {self.prog} --help.")


def main(arguments: list[str]) -> int:
    """Run one command and return the exit status."""
    try:
        return _execute(arguments)
    except KeyboardInterrupt as stop:
        with uninterrupted():
            say(str(stop) or "Stopped.")
        return STOPPED
    except BrokenPipeError:
        raise
    except (ValueError, OSError, MemoryError) as error:
        if not _is_for_users(error):
            raise
        say(_sentence(error))
        return 2


def _execute(arguments: list[str]) -> int:
    name = arguments[0] if arguments else "--help"
    if name not in COMMANDS:
        if not name.startswith("-"):
            raise UsageError(f"{shown(name)} is no command; choose one of {', '.join(COMMANDS)}.")
        _overview().parse_args([name])
    module = import_module(f"scenarios.commands.{name}")
    parser = Parser(prog=f"python -m scenarios {name}", description=COMMANDS[name], allow_abbrev=False)
    module.add_arguments(parser)
    return module.execute(parser.parse_args(_joined(arguments[1:])))


def _joined(arguments: list[str]) -> list[str]:
    """`--window -1:5` as `--window=-1:5`: a value that begins with a minus sign is no option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and _OPTION.fullmatch(joined[-1]) and _NEGATIVE.match(argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


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
    from engine.executor.model_error import ModelError
    from engine.settings import SettingsError
    from engine.trace.check import TraceFileError
    from scenarios.fields import ScenarioError
    from scenarios.readers.errors import ReadError

    known = (UsageError, SettingsError, ModelError, ScenarioError, ReadError, TraceFileError, OSError, MemoryError)
    return isinstance(error, known)


def _sentence(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; take a smaller input."
    if isinstance(error, OSError):
        return f"{error.filename or 'the output'}: {error.strerror or error}."
    return str(error)


_OPTION = re.compile(r"--[a-z]+")
_NEGATIVE = re.compile(r"-(\d|\.\d|inf|nan)", re.IGNORECASE)


if __name__ == "__main__":
    sys.exit(command(main))
