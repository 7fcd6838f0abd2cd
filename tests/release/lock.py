"""The packages of this environment as constraints for pip: ``make lock``."""

from importlib.metadata import distributions

from packaging.utils import canonicalize_name
from packaging.version import Version

HEAD = """\
# What is tested: all that `make test`, `demo`, `lint`, `docs` and `dist` install, build tools and pip included.
# Written by `make lock`, from a new environment with the newest of everything but torch: a looser choice of torch may
# bring gigabytes of GPU libraries that nothing here uses. To renew torch, change its line before `make lock`.
# `make test-newest` and `make test-oldest` take from here the version of torch alone.
"""


def lock() -> str:
    """``constraints.txt``: a line per package, ``name==version``, without what tells one build from another."""
    versions = {canonicalize_name(each.name): Version(each.version).public for each in distributions()}
    return HEAD + "".join(
        f"{name}=={version}\n" for name, version in sorted(versions.items()) if name != "cocensor"
    )


if __name__ == "__main__":
    print(lock(), end="")
