"""How the site is built: ``make docs``, without a network."""

import os
import sys
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS

import cocensor

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

from reference import public_names  # noqa: E402 - beside this file

project = "cocensor"
author = copyright = "The cocensor developers"
version = release = cocensor.__version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "reference",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py"]
templates_path = ["_templates"]
default_role = "code"
nitpicky = False

# Pages: Markdown as the public host shows it too.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"
highlight_options = {"python": {"stripnl": True}}  # the empty line that ends a doctest is not shown
suppress_warnings = ["config.cache"]  # functions in the settings of the gallery cannot be cached

# The reference: one page for every public name.
autosummary_generate = True
autosummary_filename_map = {  # names that differ in case alone are one file on some systems
    "cocensor.adjustment": "cocensor.adjustment-function",
    "cocensor.copula": "cocensor.copula-function",
    "cocensor.metric": "cocensor.metric-function",
    "cocensor.paper.learners.learner": "cocensor.paper.learners.learner-function",
}
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # docstrings say types in words
numpydoc_show_class_members = False

# Examples, run by every build; `make docs` fails where one does.
sphinx_gallery_conf = {
    "examples_dirs": str(DOCS.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("cocensor",),
    "image_scrapers": ("matplotlib", "reports.report_scraper"),
    "ignore_repr_types": r"matplotlib|'list'",  # axes, which figures show
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 3600,  # none: they tell of the machine alone
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "copyfile_regex": r".*\.(R|csv)",
    "image_srcset": ["2x"],
    "reset_modules": ("matplotlib", "reports.house_style"),
}

# Names of other packages lead to their sites where the inventories are at hand: in a folder, as NAME.inv, that
# COCENSOR_INVENTORIES names. Without them these names are plain text, and nothing is fetched.
_sites = {
    "python": "https://docs.python.org/3",
    "numpy": "https://numpy.org/doc/stable",
    "scipy": "https://docs.scipy.org/doc/scipy",
    "sksurv": "https://scikit-survival.readthedocs.io/en/stable",
    "pandas": "https://pandas.pydata.org/docs",
}


def _site_of(target: str) -> str:
    return "python" if "python:" in target else "numpy"


_inventories = Path(os.environ.get("COCENSOR_INVENTORIES", DOCS / "_inventories"))
intersphinx_mapping = {
    name: (site, str(_inventories / f"{name}.inv"))
    for name, site in _sites.items()
    if (_inventories / f"{name}.inv").exists()
}

# Types in docstrings are links where they are public classes, or words that numpydoc knows of sites that are at hand.
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {
    **{word: word for word, target in DEFAULT_LINKS.items() if _site_of(target) not in intersphinx_mapping},
    **{name.rpartition(".")[2]: name for name, thing in public_names().items() if isinstance(thing, type)},
}

html_theme = "pydata_sphinx_theme"
html_title = "cocensor"
html_context = {"default_mode": "auto"}
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# Pages that stand alone have no list of their section beside them.
_alone = (
    "index",
    "start",
    "which-number",
    "testable",
    "plausible-range",
    "searched-for",
    "paper",
    "from-scikit-survival",
    "from-r",
    "limits",
    "contributing",
    "changes",
)
html_sidebars: dict[str, list[str]] = {page: [] for page in _alone}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "alt_text": "",
        "text": "cocensor",
    },
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False
