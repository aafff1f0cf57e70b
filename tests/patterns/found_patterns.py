"""All regular expressions of the rooms that read data from outside, found without a list of them.

Patterns in the globals of modules are found by looking through their values, patterns inside functions by the
calls of `re` in the source.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from pricewatch.adapters.base import Adapter
from tests.conftest import ROOT
from tests.source_files import files_of, name, tree

ROOMS = (
    "parsing", "adapters", "generic_reader", "declared_shops", "reading", "rules", "middlewares", "fetching",
)  # fmt: skip
Node = TypeVar("Node", bound=ast.AST)
FUNCTIONS = ("compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


@dataclass(frozen=True)
class FoundPattern:
    where: str
    pattern: re.Pattern[Any]
    # The methods that are called on it; empty if that is not visible.
    methods: frozenset[str]

    def __str__(self) -> str:
        return self.where


@dataclass(frozen=True)
class UnknownPattern:
    """A pattern that is only known when the code runs."""

    file: str
    line: int
    code: str


def found_patterns() -> tuple[list[FoundPattern], list[UnknownPattern]]:
    """Return the patterns, each once, and the calls whose pattern cannot be read from the source."""
    found: dict[tuple[Any, int], FoundPattern] = {}
    unknown: list[UnknownPattern] = []
    for path in files_of(*ROOMS):
        module = import_module(_module_name(path))
        in_values = list(_in_globals(vars(module), path))
        in_calls = list(_in_calls(path, vars(module)))
        unknown.extend(each for each in in_calls if isinstance(each, UnknownPattern))
        for each in [*in_values, *in_calls]:
            if isinstance(each, FoundPattern):
                key = (each.pattern.pattern, each.pattern.flags)
                known = found.get(key)
                methods = each.methods | known.methods if known and known.methods else each.methods
                found[key] = FoundPattern(known.where if known else each.where, each.pattern, methods)
    return list(found.values()), unknown


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _in_globals(values: Mapping[str, Any], path: Path) -> Iterator[FoundPattern]:
    seen: set[int] = set()
    imported = {alias.asname or alias.name for node in _nodes(path, ast.ImportFrom) for alias in node.names}
    for variable, value in values.items():
        if not variable.startswith("__") and variable not in imported:
            for pattern in _inside(value, seen):
                yield FoundPattern(f"{name(path)}: {variable}", pattern, _methods_of(variable, path))


def _inside(value: Any, seen: set[int]) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns in a value: in collections, in attributes of our own classes and their objects."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _inside(each, seen)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for each in value:
            yield from _inside(each, seen)
    elif isinstance(value, type) and value.__module__.startswith("pricewatch."):
        yield from _inside(dict(vars(value)), seen)
        if issubclass(value, Adapter):
            yield from map(re.compile, value.page_data)
    elif type(value).__module__.startswith("pricewatch."):
        yield from _in_object(value, seen)


def _in_object(value: Any, seen: set[int]) -> Iterator[re.Pattern[Any]]:
    for attribute, kind in vars(type(value)).items():
        if isinstance(kind, cached_property):
            # A pattern that is compiled at its first use.
            yield from _inside(getattr(value, attribute), seen)
    if isinstance(value, BaseModel) and isinstance(text := getattr(value, "pattern", None), str):
        # A pattern in the declaration of a shop.
        yield re.compile(text)
    yield from _inside(dict(getattr(value, "__dict__", {})), seen)


def _methods_of(variable: str, path: Path) -> frozenset[str]:
    """Return the methods that are called on a variable or attribute of this name, by any module if public."""
    called = re.compile(rf"(?<!\w){re.escape(variable)}\.({'|'.join(FUNCTIONS)})\(")
    files = [path] if variable.startswith("_") else files_of(*ROOMS)
    return frozenset(found for each in files for found in called.findall(_text(each)))


@cache
def _text(path: Path) -> str:
    return path.read_text()


def _in_calls(path: Path, values: Mapping[str, Any]) -> Iterator[FoundPattern | UnknownPattern]:
    functions = (*_nodes(path, ast.FunctionDef), *_nodes(path, ast.AsyncFunctionDef))
    in_functions = {id(inner) for function in functions for inner in ast.walk(function)}
    for node in _nodes(path, ast.Call):
        if ast.unparse(node.func) not in {f"re.{each}" for each in FUNCTIONS}:
            continue
        method = ast.unparse(node.func).removeprefix("re.")
        flags = [*node.args[1:], *(each.value for each in node.keywords if each.arg == "flags")]
        flag = next((ast.unparse(each) for each in flags if ast.unparse(each).startswith("re.")), "0")
        try:
            text, options = eval(f"({ast.unparse(node.args[0])}, {flag})", {"re": re, **values})  # noqa: S307
        except NameError:
            # Patterns at the level of a module are found by their value.
            if id(node) in in_functions:
                yield UnknownPattern(name(path), node.lineno, ast.unparse(node))
            continue
        methods = frozenset() if method == "compile" else frozenset({method})
        yield FoundPattern(f"{name(path)}:{node.lineno}", re.compile(text, options), methods)


def _nodes(path: Path, kind: type[Node]) -> Iterator[Node]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, kind))
