"""How the pages of this folder become a site: `make docs`, with every warning an error and no network."""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

import cssvm

DOCS = Path(__file__).parent
ROOT = DOCS.parent

project = "cssvm"
author = copyright = "cssvm developers"
version = release = cssvm.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
default_role = "obj"  # a word in single backticks is code, and a link if it is a public name
highlight_language = "none"  # formulas in docstrings; blocks of pages name their language
templates_path = ["_templates"]
exclude_patterns = ["_templates", "gallery/sg_execution_times.rst"]

myst_heading_anchors = 4  # links to headings, as forges make them

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings state types in words
numpydoc_show_class_members = False  # the template of classes lists them, without scikit-learn's

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "ignore_pattern": r"make_loans\.py$",
    "filename_pattern": r"/plot_",  # these are run, the others shown
    "abort_on_example_error": True,
    "download_all_examples": False,
    "write_computation_times": False,
    "min_reported_time": float("inf"),
    "show_signature": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "cssvm"
html_theme_options = {"navigation_with_keys": False, "header_links_before_dropdown": 7, "show_prev_next": False}
html_show_sourcelink = False
html_sidebars = {"index": []}

# Pages that are files of the repository elsewhere: the site shows those in place of the stubs in this folder.
ELSEWHERE = {
    "changelog": ROOT / "CHANGELOG.md",
    "contributing": ROOT / "CONTRIBUTING.md",
}
PAGES = {path: DOCS / f"{name}.md" for name, path in ELSEWHERE.items()} | {ROOT / "README.md": DOCS / "index.md"}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def show_files_of_the_repository(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the text of the file that a stub stands for in its place, and let links lead to where the site has them."""
    page = DOCS / f"{docname}.md"
    file = ELSEWHERE.get(docname, page)
    if not page.exists():
        return
    if file != page:
        source[0] = file.read_text()
        app.env.note_dependency(file)

    def on_the_site(link: re.Match[str]) -> str:
        text, target, heading = link.groups()
        path = (file.parent / target).resolve()
        path = PAGES.get(path, path)
        if path.is_dir() or (path.suffix == ".md" and DOCS not in path.parents):  # not on the site
            return text
        return f"[{text}]({os.path.relpath(path, page.parent)}{heading or ''})"

    source[0] = LINK.sub(on_the_site, source[0])


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", show_files_of_the_repository)
