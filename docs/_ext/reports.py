"""Reports that examples write, shown below the cell that wrote them, and the one style of all their figures."""

import shutil
from pathlib import Path
from typing import Any

_FRAME = """
.. raw:: html

    <iframe src="../{address}" title="The report" loading="lazy"
            style="width: 100%; height: 42rem; border: 1px solid var(--pst-color-border)"></iframe>
    <p><a href="../{address}">Open the report alone</a></p>
"""

_shown: set[Path] = set()


def house_style(_gallery_conf: dict[str, Any], _name: str) -> None:
    """What examples draw by themselves looks like what the library draws."""
    import matplotlib.pyplot as plt
    from cycler import cycler

    colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
    plt.rcParams.update(
        {
            "axes.prop_cycle": cycler(color=colours),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlesize": "medium",
            "legend.fontsize": "small",
            "legend.frameon": False,
        }
    )


def report_scraper(_block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """The page in a frame, once a variable of the example holds the path of one that exists."""
    static = Path(gallery_conf["src_dir"], "_static")
    found = ""
    for path in block_vars["example_globals"].values():
        if isinstance(path, Path) and path.suffix == ".html" and path.is_file() and path not in _shown:
            _shown.add(path)
            address = f"reports/{Path(block_vars['src_file']).stem}.html"
            (static / "reports").mkdir(exist_ok=True)
            shutil.copyfile(path, static / address)
            found += _FRAME.format(address=f"_static/{address}")
    return found
