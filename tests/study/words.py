"""Which functions of a module read words that are made for people: compare them, take them apart, or look things up."""

import ast
from collections.abc import Iterator

#: Attributes and functions that give such words, and names of what ``str`` makes them of.
_WORDS, _MAKES_WORDS, _SAID = (
    {"text", "statement", "label"},
    {"label_without_time"},
    {"error", "note", "fault"},
)
#: Methods that give the same words in another spelling, that take words apart, and that look something up by them.
_SPELLING = {"casefold", "lower", "upper", "strip", "lstrip", "rstrip"}
_TAKES_APART = {
    "startswith",
    "endswith",
    "partition",
    "rpartition",
    "split",
    "rsplit",
    "find",
    "rfind",
    "replace",
}
_LOOKS_UP = {"setdefault", "get", "pop", "index", "count", "add"}


class _Readers(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: set[str] = set()
        self._functions, self._names = ["module"], list[set[str]]()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._functions.append(node.name)
        self._names.append(set())
        for each in ast.walk(node):
            if isinstance(each, ast.Assign):
                pairs = (pair for target in each.targets for pair in _assigned(target, each.value))
                self._names[-1] |= {name for name, value in pairs if self._are_words(value)}
        self.generic_visit(node)
        self._functions.pop()
        self._names.pop()

    def _are_words(self, node: ast.AST) -> bool:
        """Whether an expression is words for people, in whatever spelling, or a key with some among them."""
        if isinstance(node, ast.Name):
            return any(node.id in names for names in self._names)
        if isinstance(node, ast.Attribute):
            return node.attr in _WORDS
        if isinstance(node, ast.Tuple):
            return any(map(self._are_words, node.elts))
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in _SPELLING and self._are_words(node.func.value)
        name = getattr(node.func, "id", "")
        return name in _MAKES_WORDS or (
            name == "str" and any(getattr(each, "id", "") in _SAID for each in node.args)
        )

    def _read(self, *nodes: ast.AST) -> None:
        if any(map(self._are_words, nodes)):
            self.found.add(self._functions[-1])

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Compare):
            self._read(node.left, *node.comparators)
        elif isinstance(node, ast.Match):
            self._read(node.subject)
        elif isinstance(node, ast.Subscript):
            self._read(node.slice)
        elif isinstance(node, ast.Dict):
            self._read(*filter(None, node.keys))
        elif isinstance(node, ast.DictComp):
            self._read(node.key)
        elif isinstance(node, ast.SetComp):
            self._read(node.elt)
        elif isinstance(node, ast.Call):
            self._call(node)
        super().generic_visit(node)

    def _call(self, node: ast.Call) -> None:
        sorts_by = [each.value for each in node.keywords if each.arg == "key"]
        self._read(*(each.body for each in sorts_by if isinstance(each, ast.Lambda)))
        if not isinstance(node.func, ast.Attribute):
            return
        if node.func.attr in _TAKES_APART:
            self._read(node.func.value)
        if node.func.attr in _LOOKS_UP:
            self._read(*node.args[:1])
        if getattr(node.func.value, "id", "") == "re":
            self._read(*node.args)


def _assigned(target: ast.AST, value: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Names, and what they stand for."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _assigned(one, other)


def readers(source: str) -> set[str]:
    """The functions of a module that read words."""
    found = _Readers()
    found.visit(ast.parse(source))
    return found.found
