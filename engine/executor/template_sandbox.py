"""Jinja for templates that nobody has read: what one may use, and what a rendering may cost.

Jinja's own sandbox lets a template see and change nothing but its own values, yet a few characters could still count for
days or fill the memory. So only what chat templates use is there, and a `Meter` is asked wherever time can pass or a
value can grow: at each turn of a loop, call, filter, test, comparison, operator, list and piece of text.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from time import thread_time
from typing import Any

from jinja2 import TemplateRuntimeError, TemplateSyntaxError, Undefined, nodes
from jinja2.defaults import DEFAULT_FILTERS
from jinja2.runtime import LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

SECONDS = 2.0
UNITS = 1_000_000
UNITS_PER_CHARACTER = 50
"""What a rendering may use up: a character of text costs 1, a value or a turn 10; long conversations may cost more."""
VALUE_COST = 10
MAX_SOUGHT = 1_000
"""Characters that may be looked for in a text; for longer ones some searches take a time that grows with both."""

TEXT_METHODS = {
    "capitalize", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdigit", "islower", "isspace", "isupper",
    "join", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind", "rpartition", "rsplit",
    "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper",
}  # fmt: skip
METHODS: tuple[tuple[Any, set[str]], ...] = (
    (str, TEXT_METHODS),
    (list | tuple, {"count", "index"}),
    (dict, {"get", "items", "keys", "values"}),
)
TEXT_FILTERS = ("capitalize", "lower", "title", "upper")
FILTERS = (
    *("abs", "count", "d", "default", "first", "float", "int", "items", "last", "length", "list", "map", "reject"),
    *("rejectattr", "reverse", "select", "selectattr", *TEXT_FILTERS),
)
TURNS, PAID, JOINED = "each turn", "what it costs", "joined texts"
"""Filters of ours; no template can spell their names."""


class Meter:
    """What is left to one rendering."""

    def start(self, num_characters: int) -> None:
        self._left = UNITS + UNITS_PER_CHARACTER * num_characters
        self._deadline = thread_time() + SECONDS

    def take(self, units: int = VALUE_COST) -> None:
        """Raises TemplateRuntimeError where that is too much or too late."""
        self._left -= units
        if self._left < 0:
            raise TemplateRuntimeError("it makes more text or longer lists than a conversation needs")
        if thread_time() > self._deadline:
            raise TemplateRuntimeError(f"it takes more than {SECONDS:g} s")

    def weigh(self, value: Any) -> Any:
        """The value, paid for with all that is in it."""
        values = [value]
        while values:
            one = values.pop()
            self.take(VALUE_COST + len(one) if isinstance(one, str) else VALUE_COST)
            if isinstance(one, list | tuple):
                values.extend(one)
            elif isinstance(one, dict):
                values.extend((*one, *one.values()))
        return value


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """Compiles and renders; `meter` has to be started before either."""

    intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"], finalize=written)
        self.meter = Meter()
        ours = {"join": self._join, "replace": self._replace, "trim": self._trim, "tojson": self._json}
        ours |= {"string": written_text, "safe": written_text}
        ours |= {TURNS: self._turns, PAID: self.meter.weigh, JOINED: self._join}
        self.filters = {name: _missing(name) for name in DEFAULT_FILTERS}
        known: Mapping[str, Any] = DEFAULT_FILTERS
        self.filters |= {name: self._metered(known[name], name in TEXT_FILTERS) for name in FILTERS} | ours
        tests: Mapping[str, Any] = self.tests
        self.tests = {name: self._metered(test) for name, test in tests.items()}
        self.globals = {name: self.globals[name] for name in ("dict", "namespace", "range")}

    def compiled(self, source: str) -> Any:
        """The template, with the meter at all places where Jinja itself would not ask."""
        tree = _Metered().visit(self.parse(source))
        tree.set_environment(self)
        return self.from_string(tree)

    def concat(self, pieces: Iterable[str]) -> str:
        """Jinja puts every output together with this."""
        return "".join([self.meter.weigh(piece) for piece in pieces])

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        for kind, names in METHODS:
            if isinstance(obj, kind):
                return attr in names
        return isinstance(obj, Namespace | LoopContext) and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Any:
        """`format` is a method like others, and not one of those that are there."""
        return None

    def call(self, context: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        own = {name: value for name, value in kwargs.items() if name not in ("_loop_vars", "_block_vars")}
        self.meter.weigh((args, own))
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str):
            ours: Any = {"join": self._join_by, "replace": self._replace}.get(function.__name__)
            if ours is not None:
                return ours(owner, *args, **own)
            _check_sought(args)
        return self.meter.weigh(super().call(context, function, *args, **kwargs))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "+" and isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
            self.meter.weigh((left, right))
        elif not isinstance(left, Undefined) and not isinstance(right, Undefined):
            most = 1 << (6 if operator == "**" else 53)
            if not all(isinstance(value, int | float) and abs(value) < most for value in (left, right)):
                raise TemplateRuntimeError(f"{operator} is only done with small numbers")
        self.meter.take()
        return super().call_binop(context, operator, left, right)

    def _metered(self, function: Callable[..., Any], is_of_text: bool = False) -> Callable[..., Any]:
        """The filter or test; one of texts takes nothing else, because a list written as text can be of any length."""

        @wraps(function)
        def metered(*args: Any, **kwargs: Any) -> Any:
            return self.meter.weigh(function(*map(written, args) if is_of_text else args, **kwargs))

        return metered

    def _turns(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self.meter.take()
            yield value

    def _join(self, values: Iterable[Any], by: str = "", attribute: str | None = None) -> str:
        if attribute is not None:
            values = [self.getitem(value, attribute) for value in self._turns(values)]
        texts = [self.meter.weigh(written_text(value)) for value in self._turns(values)]
        self.meter.take(len(texts) * len(by))
        return by.join(texts)

    def _join_by(self, by: str, values: Iterable[Any]) -> str:
        return self._join(values, by)

    def _replace(self, value: Any, old: str, new: str, count: int | None = None) -> str:
        text = written_text(value)
        _check_sought((old,))
        self.meter.take(VALUE_COST + len(text) + text.count(old) * len(new))
        return text.replace(old, new, -1 if count is None else count)

    def _trim(self, value: Any, signs: str | None = None) -> str:
        _check_sought((signs,))
        trimmed: str = self.meter.weigh(written_text(value)).strip(signs)
        return trimmed

    def _json(self, value: Any, indent: int | None = None, ensure_ascii: bool = False, sort_keys: bool = False) -> str:
        """As transformers writes it for a template, without escapes for HTML."""
        if indent is not None and indent not in range(9):
            raise TemplateRuntimeError("tojson indents by 0 to 8 spaces")
        encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, sort_keys=sort_keys)
        return self.concat(encoder.iterencode(self.meter.weigh(value)))


class _Metered(NodeTransformer):
    """Puts our filters around what costs something and goes past the environment."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        if node.recursive:
            raise TemplateSyntaxError("loops that call themselves are not known", node.lineno)
        self.generic_visit(node)
        node.iter = _filtered(node.iter, TURNS)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), JOINED)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(node, PAID) if isinstance(node.arg, nodes.Slice) else node

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(node, PAID) if node.ctx == "load" else node

    def visit_List(self, node: nodes.Expr) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(node, PAID)

    visit_Dict = visit_Compare = visit_List

    def visit_ScopedEvalContextModifier(self, node: nodes.Node) -> nodes.Node:
        raise TemplateSyntaxError("autoescape is not known", node.lineno)


def written(value: Any) -> Any:
    """The value, where it can be written without asking how long it gets. Raises TemplateRuntimeError."""
    if value is None or isinstance(value, str | int | float | Undefined):
        return value
    raise TemplateRuntimeError(f"a {type(value).__name__} is written as text; only texts and numbers can be")


def written_text(value: Any) -> str:
    return str(written(value))


def _check_sought(values: Iterable[Any]) -> None:
    for value in values:
        if isinstance(value, str) and len(value) > MAX_SOUGHT:
            raise TemplateRuntimeError(f"{len(value)} characters are looked for; at most {MAX_SOUGHT} can be")


def _missing(name: str) -> Callable[..., Any]:
    """A filter of Jinja's that is known, so that a branch which nobody takes may name it."""

    def missing(*args: Any, **kwargs: Any) -> Any:
        raise TemplateRuntimeError(f"the filter {name!r} is not known")

    return missing


def _filtered(node: Any, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)
