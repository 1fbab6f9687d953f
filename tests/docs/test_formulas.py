"""On the site, formulas are typeset, and code stays code."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from docs.site.formulas import is_formula, on_page_content, typeset
from docs.site.markup import on_page_markdown

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("formula", "html"),
    [
        ("x", "<i>x</i>"),
        ("w_0", "<i>w</i><sub>0</sub>"),
        ("h_{j+1}(k, l)", "<i>h</i><sub><i>j</i>+1</sub>(<i>k</i>, <i>l</i>)"),
        ("2^-53", "2<sup>−53</sup>"),
        ("P^k Q^(N−k)", "<i>P</i><sup><i>k</i></sup> <i>Q</i><sup><i>N</i>−<i>k</i></sup>"),
        ("(x)_+ < e^{−ε_k}", "(<i>x</i>)<sub>+</sub> &lt; <i>e</i><sup>−<i>ε</i><sub><i>k</i></sub></sup>"),
        ("E(1 − rK)_+", "<i>E</i>(1 − <i>rK</i>)<sub>+</sub>"),
        ("max_j ln Δ̂_j", "max<sub><i>j</i></sub> ln Δ̂<sub><i>j</i></sub>"),
    ],
)
def test_letters_are_in_italics_and_marks_are_indices_and_exponents(formula, html):
    assert is_formula(formula)
    assert typeset(formula) == html


@pytest.mark.parametrize(
    "code",
    [
        'bound="exact"',
        "sp.Between(0.1, 0.2)",
        "rules/gated_count.py",
        "--json",
        "digits=",
        "kind",
        "cli/",
        "exact_delta",
        "[[table]]",
        "a.b_c",
        "pair=(1, 0)",
        "",
    ],
)
def test_code_stays_code(code):
    assert not is_formula(code)


def shown(html, place="explanation/ranges.md"):
    return on_page_content(html, SimpleNamespace(file=SimpleNamespace(src_uri=place)))


def test_what_is_displayed_may_have_words_and_only_explanations_are_typeset():
    block = '<div class="language-text highlight"><pre><span></span><code>{}</code></pre></div>'
    assert shown(block.format("δ ≤ x,  for each x\n")) == (
        '<div class="formula"><i>δ</i> ≤ <i>x</i>,  for each <i>x</i></div>'
    )
    for text in ("statpriv delta", "δ(.1) = 0.2\n&gt;&gt;&gt; curve.delta(0.1)"):
        assert shown(block.format(text)) == block.format(text)
    inline = "<p><code>x_1</code> and <code>f(&quot;x&quot;)</code></p>"
    assert shown(inline) == ('<p><span class="formula"><i>x</i><sub>1</sub></span> and <code>f("x")</code></p>')
    assert shown(inline, "how-to/sample.md") == inline
    assert shown("<pre><code>x_1</code></pre>") == "<pre><code>x_1</code></pre>"


@pytest.mark.parametrize("page", sorted(DOCS.glob("explanation/*.md")), ids=lambda page: page.stem)
def test_no_formula_without_words_is_missed(page):
    """Whatever has a sign of mathematics is typeset, unless words stand in it."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    signed = [code.replace(r"\|", "|") for code in re.findall(r"`([^`\n]+)`", text) if re.search("[Σ≤≥∈−]", code)]
    assert [code for code in signed if not is_formula(code) and not re.search("[A-Za-z]{3,}", code)] == []


def test_what_a_fence_says_to_the_tests_is_not_shown():
    fence = "```sh after=release\nstatpriv compose report.json\n```\n\n  ```python\n  x = 1\n  ```\n"
    assert on_page_markdown(fence) == fence.replace(" after=release", "")
