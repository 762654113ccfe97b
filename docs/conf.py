"""How Sphinx builds the site: the source folder is the repository, so that links between documents hold in both."""

import sys
from pathlib import Path

from capsmodel import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
sys.path.append(str(Path(__file__).parents[1] / "tests"))  # measurements that pages draw

project = "capsmodel"
author = "The capsmodel authors"
copyright = author
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.githubpages",  # an empty file by which a host shows folders that begin with an underscore
    "sphinx_copybutton",
    "api",
    "myst_nb",
    "notebook_pages",
    "mathml",
    "command_pages",
    "scheme_pages",
    "shell",
    "input_pages",
    "paper_pages",
    "gallery_pages",
]

include_patterns = ["docs/**", "notebooks/*.ipynb", "CONTRIBUTING.md", "CHANGELOG.md", "sim/README.md", "data/**.md"]
exclude_patterns = [".venv", "out"]

toc_object_entries = False  # the tree beside each page would have thousands
default_role = "code"
smartquotes_action = "D"  # dashes; "leaf-spine" in a title is typed with these quotes
nitpicky = True  # a function that a docstring names must exist; the types of parameters are prose
nitpick_ignore_regex = [("py:class", ".*")]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = "$ "  # of a block of commands the commands are copied, not what they print
nb_execution_mode = "off"  # they are committed with their outputs
nb_ipywidgets_js = {}  # sliders need a running notebook

napoleon_use_param = False  # types are prose ("array_like, shape (k, n)"), no names to link
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_use_type_comments = False  # there are none, and to look for them takes a tenth of the reading

html_theme = "furo"
html_math_renderer = "mathml"
html_title = f"capsmodel {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path = ["_templates"]
html_show_sphinx = False
html_copy_source = False
# The first page, where one looks for it, and addresses of pages that are part of another one.
MOVED = {
    "index": "docs/index",
    "docs/capsim_against_htsim": "docs/validation",
    "docs/capsim_against_ns3": "docs/validation",
    "docs/howto/cluster": "docs/howto/study",
    "docs/howto/collectives": "docs/howto/own_flows",
    "docs/howto/combine": "docs/howto/own_scheme",
    "docs/howto/failed_link": "docs/howto/own_topology",
    "docs/howto/high_rates": "docs/howto/sprayed",
    "docs/howto/own_sizes": "docs/howto/own_flows",
    "docs/howto/udp": "docs/howto/codec",
    "docs/howto/wireshark": "docs/howto/debug_scheme",
    "docs/numba_names": "CONTRIBUTING",
    "docs/performance": "CONTRIBUTING",
    "docs/relied_on": "docs/findings",
}
root_doc = MOVED["index"]
html_additional_pages = dict.fromkeys(MOVED, "redirect.html")
html_context = {"moved": MOVED}
