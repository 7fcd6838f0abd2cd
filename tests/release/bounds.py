"""The lower bounds of pyproject.toml as constraints for pip.

``python -m tests.release.bounds > constraints-oldest.txt``
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
HEAD = """\
# The oldest versions that pyproject.toml allows, for `make test-oldest`. Written by
# python -m tests.release.bounds > constraints-oldest.txt
# torch is left to constraints.txt: older ones come without a build for the CPU, so that its lower bound is not tested.
# pyparsing 3.3 deprecates names that matplotlib 3.8.4 calls, and the tests take warnings for errors.
pyparsing<3.3
"""


def users_requirements() -> Iterator[Requirement]:
    """What users install: the dependencies, all extras, and the packages that they may bring."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = pyproject["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    for line in [*project["dependencies"], *extras, *pyproject["dependency-groups"]["brought"]]:
        requirement = Requirement(line)
        if requirement.name not in (project["name"], "torch"):
            yield requirement


def oldest() -> str:
    """``constraints-oldest.txt``: a line per package, ``name==lower bound``."""
    pins = set()
    for requirement in users_requirements():
        (bound,) = requirement.specifier
        if bound.operator != ">=":
            raise ValueError(f"{requirement} has no lower bound")
        pins.add(f"{canonicalize_name(requirement.name)}=={bound.version}\n")
    return HEAD + "".join(sorted(pins))


if __name__ == "__main__":
    print(oldest(), end="")
