"""The reference of the site: all public names are in it; each says what it takes, what it gives, and how it is used."""

import builtins
import doctest
import inspect
import re
import symtable
import sys
from collections import Counter
from importlib import util
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
_SPEC = util.spec_from_file_location("reference", DOCS / "_ext" / "reference.py")
assert _SPEC is not None
assert _SPEC.loader is not None
reference = sys.modules["reference"] = util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(reference)

PUBLIC = reference.public_names()
FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if inspect.isfunction(thing)}
CLASSES = {name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing)}


def _sections(thing: Any) -> dict[str, str]:
    """The sections of a docstring by title; what stands before the first has none."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(thing) or "", flags=re.M)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def _named(section: str) -> list[str]:
    """The names that a section lists: "a, b : float" and the lines below are about a and b."""
    heads = [line.split(" : ")[0] for line in section.splitlines() if line and not line.startswith(" ")]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def _parameters(thing: Any) -> list[str]:
    return [name for name in inspect.signature(thing).parameters if name != "self"]


def test_every_public_name_is_on_one_page():
    listed: Counter[str] = Counter()
    for page in (DOCS / "api").glob("*.rst"):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split()[-1]
            elif re.fullmatch(r"   \w+", line) and module:
                listed[f"{module}.{line.strip()}"] += 1
    assert listed == Counter(list(PUBLIC))


def test_what_is_left_out_as_plumbing_is_there():
    bases = {base.__name__: base for cls in CLASSES.values() for base in cls.__mro__}
    stale = [
        f"{cls}.{name}"
        for cls, names in reference.PLUMBING.items()
        for name in names.split()
        if cls not in bases or name not in vars(bases[cls])
    ]
    assert not stale


def test_functions_say_what_they_take_and_give():
    for name, function in FUNCTIONS.items():
        sections = _sections(function)
        assert sorted(_named(sections.get("Parameters", ""))) == sorted(_parameters(function)), name
        gives_nothing = inspect.signature(function).return_annotation in (None, "None")
        assert gives_nothing or "Returns" in sections, name


def test_classes_say_what_they_take_or_hold():
    """Those that users make say what they take; others, such as results, say what they hold."""
    for name, cls in CLASSES.items():
        sections = _sections(cls)
        if "Parameters" in sections:
            assert sorted(_named(sections["Parameters"])) == sorted(_parameters(cls)), name
        elif not issubclass(cls, Exception) and _parameters(cls):
            assert "Attributes" in sections, name
        source = "".join(
            inspect.getsource(base) for base in cls.__mro__ if base.__module__.startswith("cocensor")
        )
        for attribute in _named(sections.get("Attributes", "")):
            assert hasattr(cls, attribute) or re.search(rf"(self\.|^    ){attribute}\b", source, re.M), (
                f"{name}.{attribute}"
            )


def test_pages_have_an_example_or_lead_to_one():
    for name, thing in PUBLIC.items():
        sections = _sections(thing)
        assert sections[""].strip(), name
        if "Examples" not in sections:
            homes = {full_name.rpartition(".")[2]: thing for full_name, thing in PUBLIC.items()}
            others = [homes[other] for other in _named(sections.get("See Also", ""))]
            assert any("Examples" in _sections(other) for other in others), name


def test_examples_import_what_they_use():
    """A reader can paste them."""
    parser = doctest.DocTestParser()
    for name, thing in PUBLIC.items():
        own = reference.Members(thing).own if inspect.isclass(thing) else []
        for each in (thing, *(inspect.getattr_static(thing, member) for member in own)):
            lines = (example.source for example in parser.get_examples(inspect.getdoc(each) or ""))
            table = symtable.symtable("".join(lines), name, "exec")
            strange = {
                used.get_name()
                for scope in (table, *table.get_children())
                for used in scope.get_symbols()
                if used.is_referenced() and used.is_global() and not used.is_assigned()
            }
            strange -= {
                used.get_name() for used in table.get_symbols() if used.is_assigned() or used.is_imported()
            }
            assert strange <= set(dir(builtins)), name


def test_members_say_what_they_are():
    for name, cls in CLASSES.items():
        for member in reference.Members(cls).own:
            assert inspect.getdoc(inspect.getattr_static(cls, member)), f"{name}.{member}"


def test_sections_are_those_that_pages_show():
    known = {"", "Parameters", "Attributes", "Returns", "See Also", "Notes", "Examples", "References"}
    assert {title for thing in PUBLIC.values() for title in _sections(thing)} <= known
