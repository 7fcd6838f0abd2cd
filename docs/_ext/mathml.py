"""Formulas as MathML, which browsers draw themselves: the site needs no script and no network for them.

docutils converts LaTeX; what it gets wrong, or leaves to a renderer of LaTeX, is mended here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import accents, tex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

_APPLY, _THIN = "\u2061", "0.17em"
_CLOSE = ("|", "‖", "/")  # to what they stand between
_LIMITS = ("min", "max", "inf", "sup", "lim")


def convert(formula: str, display: bool) -> str:
    """The MathML of a formula; a :class:`MathError` where it has none."""
    source = re.sub(r"\\dots\b", r"\\ldots", formula)
    source = re.sub(r"(\\[td]?frac)\s*(\d)\s*(\d)", r"\1{\2}{\3}", source)
    mathml = tex2mathml(source, as_block=display).replace("&ApplyFunction;", _APPLY)
    root = ET.fromstring(re.sub(r' xmlns="[^"]*"', "", mathml))
    for parent in list(root.iter()):
        _primes(parent)
    for parent in list(root.iter()):
        _accents(parent)
        _functions(parent)
        if parent.tag == "mo" and parent.text in _CLOSE:
            parent.attrib |= {"lspace": "0", "rspace": "0", "stretchy": "false"}
    return ET.tostring(root, encoding="unicode")


def _accents(parent: ET.Element) -> None:
    r"""An accent with a subscript, as in ``\hat S_i``: the subscript belongs beside, not below."""
    if parent.tag == "msup" and _is_accented(parent[0]):
        base, below, accent = parent[0]
        parent.tag, parent[:] = "msubsup", [_over(base, accent), below, parent[1]]
    elif _is_accented(parent):
        base, below, accent = parent
        parent.tag, parent[:] = "msub", [_over(base, accent), below]


def _is_accented(node: ET.Element) -> bool:
    return node.tag == "munderover" and node[2].tag == "mo" and node[2].text in accents.values()


def _over(base: ET.Element, accent: ET.Element) -> ET.Element:
    over = ET.Element("mover", {"accent": "true"})
    over[:] = [base, accent]
    return over


def _primes(parent: ET.Element) -> None:
    """A prime is a superscript of what stands before it."""
    for at in range(len(parent) - 1, 0, -1):
        prime, base = parent[at], parent[at - 1]
        if prime.tag == "mo" and prime.text and not prime.text.strip("'′"):
            prime.text = prime.text.replace("'", "′")
            if base.tag == "mo" and base.text == "'":
                base.text += prime.text
                del parent[at]
                continue
            primed = ET.Element("msubsup" if base.tag == "msub" else "msup")
            primed[:] = [*(base if base.tag == "msub" else [base]), prime]
            parent[at - 1 : at + 1] = [primed]


def _functions(parent: ET.Element) -> None:
    """Around the name of a function there is a thin space, but none to the bracket after it."""
    for at in range(len(parent) - 1, -1, -1):
        node = parent[at]
        if node.tag == "mo" and node.text in _LIMITS:
            node.attrib |= {"lspace": "0", "rspace": "0" if _is_operator(parent, at + 1) else _THIN}
        elif node.tag == "mo" and node.text == _APPLY:
            if not _is_operator(parent, at + 1):
                parent[at] = ET.Element("mspace", {"width": _THIN})
            if at > 1 and (not _is_operator(parent, at - 2) or parent[at - 2].text in (")", "]")):
                parent.insert(at - 1, ET.Element("mspace", {"width": _THIN}))


def _is_operator(parent: ET.Element, at: int) -> bool:
    return at >= len(parent) or parent[at].tag in ("mo", "mspace")


def _mathml(node: nodes.Element, display: bool) -> str:
    try:
        return convert(node.astext(), display)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{node.astext()}</code>"


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(_mathml(node, display=False))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(_mathml(node, display=True))
    translator.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; ``conf.py`` chooses it by ``html_math_renderer``."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
