"""What the sources of pages say to other programs, and the site does not show.

MkDocs calls the two functions for each page.
"""

from __future__ import annotations

import re
from typing import Any

_FENCE = re.compile(r"^( *```\w+) .*$", re.MULTILINE)
_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):(<code>)")


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401  (what MkDocs passes)
    """Drop what a fence says to the tests, such as `after=release`: it would be no fence to MkDocs."""
    return _FENCE.sub(r"\1", markdown)


def on_page_content(html: str, **_: Any) -> str:  # noqa: ANN401  (what MkDocs passes)
    """Drop the marks of Sphinx from docstrings: `:class:` before a name says nothing here."""
    return _ROLE.sub(r"\1", html)
