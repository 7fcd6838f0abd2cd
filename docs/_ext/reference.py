"""What a page of the reference shows of a class: its own members, those of its public bases by name, no plumbing."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils.nodes import Element
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

ROOMS = (
    "data",
    "copulas",
    "estimators",
    "adjustments",
    "metrics",
    "inference",
    "joint",
    "study",
    "study.sensitivity",
)
ROOMS += ("scale", "warnings", "views.plots", "simulate", "paper", "paper.datasets", "paper.learners")
MODULES = ("cocensor", *(f"cocensor.{room}" for room in ROOMS))

# Public by name, since other rooms of the package call them, but of no use to users. By class, public or not.
PLUMBING = {
    "ArchimedeanCopula": "graphic_curve log_curvature log_elasticity log_rise single_step",
    "Copula": (
        "formulas formulas_at log_cdf_hazard log_cross_ratio_hazard log_hfunc1_hazard log_hfunc2_hazard log_pdf_hazard"
    ),
    "CopulaChoice": "profile_is_quick",
    "DCalibration": "of_gaps",
    "JointModel": "covariates",
    "JointSettings": "checked given_covariates",
    "MarginEstimator": "dropout_limits without_sample",
    "Modelled": "in_order",
    "Plan": "takes_copula under",
    "PointwiseMetric": "functionals_by_time time_weights",
    "Predicted": "alike changed drawn end in_order_of joined known_at limit marker on read taken",
    "Predictions": "alike drawn known_at on trusted",
    "RiskTable": "exchanged exposed_at margin",
    "SectionMetric": "linear profile value",
    "Sample": "labels",
    "Sensitivity": "grids",
    "EventWeights": "at_columns block fit_in_one pieces tiles weighted",
    "StepFunction": "read trusted",
}


def public_names() -> dict[str, Any]:
    """Every public name with what it stands for, by its full name; modules are not among them.

    What is at the top too is named there alone.
    """
    names: dict[int, str] = {}
    things = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            thing = getattr(module, name)
            full_name = f"{module.__name__}.{name}"
            if not inspect.ismodule(thing) and names.setdefault(id(thing), full_name) == full_name:
                things[full_name] = thing
    return things


@dataclass(frozen=True)
class Members:
    """The methods and properties of a class that its page describes, and those that pages of its bases do."""

    cls: type

    @cached_property
    def _plumbing(self) -> set[str]:
        return {name for base in self.cls.__mro__ for name in PLUMBING.get(base.__name__, "").split()}

    def _of(self, base: type) -> list[str]:
        """What a class itself defines, as written, with what it has from bases that are not public."""
        names: dict[str, None] = {}
        for each in reversed(base.__mro__):
            if each is base or (
                each.__module__.startswith("cocensor") and each not in public_names().values()
            ):
                names |= dict.fromkeys(vars(each))
        return [
            name
            for name in names
            if not name.startswith("_")
            and name not in self._plumbing
            and _described(inspect.getattr_static(base, name))
        ]

    @cached_property
    def inherited(self) -> dict[str, list[str]]:
        """Members of public bases, by the full name of the base; overrides among them."""
        found: dict[str, list[str]] = {}
        taken: set[str] = set()
        for full_name, base in reversed(public_names().items()):
            if base in self.cls.__mro__[1:]:
                found[full_name] = self._of(base)
        # The furthest base comes first: it says what the others only do in another way.
        ordered = sorted(found, key=lambda name: -self.cls.__mro__.index(public_names()[name]))
        result = {}
        for full_name in ordered:
            result[full_name] = [name for name in found[full_name] if name not in taken]
            taken |= set(found[full_name])
        return {name: members for name, members in reversed(result.items()) if members}

    @cached_property
    def own(self) -> list[str]:
        """Members that no public base has."""
        taken = {name for names in self.inherited.values() for name in names}
        return [name for name in self._of(self.cls) if name not in taken]

    @property
    def all(self) -> list[str]:
        """Own members and those of public bases."""
        return self.own + [name for names in self.inherited.values() for name in names]

    def _is_property(self, name: str) -> bool:
        return isinstance(inspect.getattr_static(self.cls, name), property | cached_property)

    @property
    def properties(self) -> list[str]:
        """The own properties."""
        return [name for name in self.own if self._is_property(name)]

    @property
    def methods(self) -> list[str]:
        """The own methods, with those that make an instance."""
        return [name for name in self.own if not self._is_property(name)]


def _described(member: Any) -> bool:
    return isinstance(member, property | cached_property | classmethod | staticmethod) or inspect.isfunction(
        member
    )


def _members(full_name: str) -> Members:
    return Members(public_names()[full_name])


def _short(full_name: str) -> str:
    return full_name.removeprefix("cocensor.")


def _hide_signature(app: Sphinx, what: str, name: str, thing: Any, *_: Any) -> tuple[str, str] | None:
    """Classes that say nothing of parameters are made by a function, not by users."""
    if what == "class" and "Parameters\n----" not in (inspect.getdoc(thing) or ""):
        return "", ""
    return None


def _by_short_name(app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: Element) -> Element | None:
    """The link of a public name that another module has than the page it is on, such as those of "See Also"."""
    first, _, rest = node.get("reftarget", "").partition(".")
    homes = [name for name in public_names() if name.rpartition(".")[2] == first]
    if node.get("refdomain") != "py" or not homes:
        return None
    target = homes[0] + ("." + rest if rest else "")
    return env.domains["py"].resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], target, node, shown
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Give the templates of the reference what they ask for."""
    app.config.autosummary_context = {"members_of": _members, "short": _short}
    app.connect("missing-reference", _by_short_name)
    app.connect("autodoc-process-signature", _hide_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
