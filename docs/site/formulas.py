"""Formulas of the explanations, typeset.

Pages write formulas as code, with the marks of TeX: `Σ_k w_k e^{−ε}`. That reads well everywhere, and on the site they
become letters in italics with indices and exponents. Code that is no formula stays code.

MkDocs calls :func:`on_page_content` for each page.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

_FOLDERS = ("explanation/", "tutorial/")
_INLINE = re.compile(r"(<pre\b.*?</pre>)|<code>([^<]*)</code>", re.DOTALL)
_DISPLAYED = re.compile(r'<div class="language-text highlight"><pre><span></span><code>([^<]*)</code></pre></div>')
_FUNCTIONS = re.findall(
    "[A-Za-z]+",
    "ln log exp cos sin tan sinh cosh arg max min sup inf sign logit Re Var Cov Bin Hyp Mult Poi Beta SPC lo hi "
    "if and or for over all of",
)
"""Names of functions, and the few words that stand in formulas."""
_CODE = re.compile(
    rf"""
    ["\\`@#$] | -- | ::        # texts, options, paths of Rust
    | ^[:.] | ^\w+/$            # a port, a suffix, a folder
    | \.[A-Za-z]\w+ | \w\.\w*[a-z]   # an attribute, a name of a file
    | [a-z0-9]=                 # an argument
    | _[A-Za-z]{{2,}}           # a name of several words,
    | (?<![A-Za-z])(?!(?:{"|".join(_FUNCTIONS)})_)[A-Za-z]{{3,}}_  # unless the first is a function
    """,
    re.VERBOSE,
)
"""What no formula has."""
_SYMBOL = re.compile(r"[Α-ωℓ°Σ∞≤≥∈√∫·−∖∪∩→↦∝²³½]|[_^()\[\]/+<>~]")
_PRODUCT = re.compile(r"[A-Za-z]{2}|[a-z][A-Z][a-z]")
"""Letters that stand beside each other, such as rK."""
_TOKEN = re.compile(
    r"(?P<raised>[_^](?:\{|\(|[-−]?\d+|.))|(?P<word>[A-Za-z]{2,})|(?P<letter>[A-Za-zα-ωℓ]\u0302?)|(?P<other>.)",
    re.DOTALL,
)


def on_page_content(html: str, page: Page, **_: Any) -> str:  # noqa: ANN401  (what MkDocs passes)
    """Typeset the formulas of an explanation or a tutorial."""
    if not page.file.src_uri.startswith(_FOLDERS):
        return html
    displayed = _DISPLAYED.sub(lambda block: _displayed(block[0], unescape(block[1])), html)
    return _INLINE.sub(lambda code: code[1] or _inline(unescape(code[2])), displayed)


def is_formula(text: str, *, with_words: bool = False) -> bool:
    """Whether code is a formula: numbers, operators, single letters with marks, and names of functions.

    Parameters
    ----------
    text
        The code.
    with_words
        Whether other words may stand between them, as in formulas that are displayed.

    Examples
    --------
    >>> [is_formula(text) for text in ("w_0 = 1 − Σ w_k", "x", "sp.Between(0.1, 0.2)", "rules/gated_count.py", "kind")]
    [True, True, False, False, False]
    """
    if _CODE.search(text) or not text.strip():
        return False
    words = set(re.findall(r"[A-Za-z]{2,}", text)).difference(_FUNCTIONS)
    return not words or (bool(_SYMBOL.search(text)) and (with_words or all(map(_PRODUCT.fullmatch, words))))


def typeset(text: str) -> str:
    """The HTML of a formula.

    Examples
    --------
    >>> typeset("w_0 e^{−ε_k}")
    '<i>w</i><sub>0</sub> <i>e</i><sup>−<i>ε</i><sub><i>k</i></sub></sup>'
    """
    found, place = [], 0
    while token := _TOKEN.match(text, place):
        place = token.end()
        if raised := token["raised"]:
            inner = raised[1:]
            if inner in "{(":
                end = _closing(text, place, inner)
                inner, place = text[place:end], end + 1
            mark = "sub" if raised[0] == "_" else "sup"
            found.append(f"<{mark}>{typeset(inner)}</{mark}>")
        elif letter := token["letter"]:
            found.append(f"<i>{letter}</i>")
        elif word := token["word"]:
            found.append(f"<i>{word}</i>" if _PRODUCT.fullmatch(word) and word not in _FUNCTIONS else word)
        else:
            found.append(escape(token["other"].replace("-", "−"), quote=False))
    return "".join(found)


def _closing(text: str, start: int, opening: str) -> int:
    """The place of the bracket that closes the one before `start`; the end where there is none."""
    depth, closing = 1, {"{": "}", "(": ")"}[opening]
    for place in range(start, len(text)):
        depth += (text[place] == opening) - (text[place] == closing)
        if depth == 0:
            return place
    return len(text)


def _inline(text: str) -> str:
    if not is_formula(text):
        return f"<code>{escape(text, quote=False)}</code>"
    return f'<span class="formula">{typeset(text)}</span>'


def _displayed(block: str, text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    if not all(is_formula(line, with_words=True) for line in lines):
        return block
    return f'<div class="formula">{typeset(text.rstrip())}</div>'
