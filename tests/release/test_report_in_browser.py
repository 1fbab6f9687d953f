"""The page in a real browser: accessible in every medium, never wider than the screen, and inert.

`make test` opens one page with everything in it; a campaign every kind of report in every medium, and every hostile
text in it.
"""

from __future__ import annotations

import re

import pytest
from tests.release.report_samples import HOSTILE, filled, only_tables, sample, smallest, variants, with_everything
from tests.release.table_samples import SAMPLES, table

from statpriv.releasing.report import render

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")

# One worker starts the browser, once.
pytestmark = pytest.mark.xdist_group("browser")

WIDE = table(
    {"place": [f"place {k}" for k in range(100)], "work": [f"work {k}" for k in range(100)]},
    counts=lambda k: 10_000 + k,
)
VARIANTS = {
    **variants(),
    "everything": with_everything(sample()),
    "exact table": only_tables(sample(), SAMPLES["two dimensions"]),
    "table by class": only_tables(sample(), SAMPLES["three dimensions"]),
    "withheld table": only_tables(sample(), SAMPLES["withheld"]),
    "large table": only_tables(sample(), WIDE),
}
EVERYTHING = with_everything(smallest(sample()))
MEDIA = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "paper": {"media": "print"},
    "paper of a dark screen": {"media": "print", "color_scheme": "dark"},
}


def matrix(quick, *names):
    """Those names, of which all but one are for a campaign."""
    return [pytest.param(name, marks=[] if name == quick else [pytest.mark.campaign]) for name in names]


A4_INSIDE_MARGINS = {"width": 688, "height": 1032}  # 182 mm by 273 mm, in CSS pixels

# What the browser shows that reaches over the right edge of the window, outside what scrolls by itself.
TOO_WIDE = """() => [...document.querySelectorAll('body *')]
    .filter(e => !e.closest('.scroll') && !e.closest('.skip') && e.getClientRects().length
        && e.getBoundingClientRect().right > window.innerWidth + 0.5 && getComputedStyle(e).clipPath === 'none'
        && !e.closest('thead'))
    .map(e => e.tagName + '.' + (e.getAttribute('class') || '') + ': ' + e.textContent.trim().slice(0, 40))"""
NODES = """() => [...document.querySelectorAll('*')]
    .map(e => e.namespaceURI + ' ' + e.localName + ' ' + e.getAttributeNames())"""


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report's page, and note every request, dialog, message and window besides it."""
    contexts = []

    def open_page(report, **settings):
        file = tmp_path / f"report-{len(contexts)}.html"
        file.write_text(render(report), encoding="utf-8")
        context = browser.new_context(**settings)
        contexts.append(context)
        page, events = context.new_page(), []
        page.on("request", lambda request: events.append(f"request {request.url}"))
        page.on("dialog", lambda dialog: (events.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("console", lambda message: events.append(f"message {message.text}"))
        page.on("pageerror", lambda error: events.append(f"error {error}"))
        page.on("popup", lambda _window: events.append("window"))
        page.goto(file.as_uri())
        assert events == [f"request {file.as_uri()}"]
        events.clear()
        return page, events

    yield open_page
    for context in contexts:
        context.close()


def unfold(page) -> None:
    page.evaluate("() => document.querySelectorAll('details').forEach(part => { part.open = true })")


@pytest.mark.parametrize("name", matrix("everything", *VARIANTS))
def test_axe_finds_no_fault_in_any_kind_of_report(opened, name):
    page, _ = opened(VARIANTS[name])
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.campaign  # alone it notices contrast in one medium of several
@pytest.mark.parametrize("width", matrix(320, 320, 1280))
@pytest.mark.parametrize("medium", matrix("dark", *MEDIA))
def test_axe_finds_no_fault_in_any_medium(opened, medium, width):
    page, _ = opened(EVERYTHING, viewport={"width": width, "height": 640})
    page.emulate_media(**MEDIA[medium])
    unfold(page)
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.campaign  # it shows that the tests beside it would notice a fault
def test_axe_would_find_a_fault(opened):
    page, _ = opened(VARIANTS["first release"])
    page.evaluate("() => { document.querySelector('.note').style.color = '#ddd' }")
    assert "color-contrast" in axe.Axe().run(page).generate_snapshot()


@pytest.mark.parametrize("name", matrix("everything", *VARIANTS))
def test_nothing_is_wider_than_the_window(opened, name):
    page, _ = opened(VARIANTS[name])
    unfold(page)
    for width in (320, 360, 768, 1280, 2560):
        page.set_viewport_size({"width": width, "height": 640})
        assert page.evaluate(TOO_WIDE) == []
        assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width


@pytest.mark.parametrize("width", matrix(320, 320, 1280))
def test_long_words_are_broken(opened, width):
    page, _ = opened(filled(smallest(sample()), lambda k: f"{k}" + "W" * 200), viewport={"width": width, "height": 640})
    unfold(page)
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width


@pytest.mark.parametrize(
    "name",
    matrix(
        "first release",
        *("first release", "dry run", "refused", "later release", "processed answers", "histogram"),
        *("exact table", "table by class", "large table"),
    ),
)
def test_what_a_reviewer_needs_fits_on_the_first_sheet_of_paper(opened, name):
    page, _ = opened(VARIANTS[name], viewport=A4_INSIDE_MARGINS)
    page.emulate_media(media="print")
    assert page.evaluate("() => document.querySelector('.review').getBoundingClientRect().bottom") <= 1032


@pytest.mark.campaign  # alone it notices a sheet too many
@pytest.mark.parametrize("name", matrix("first release", "first release", "dry run", "later release", "exact table"))
def test_a_report_is_one_sheet_for_the_decision_and_at_most_four_more(opened, name):
    page, _ = opened(VARIANTS[name])
    sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
    assert 2 <= len(sheets) <= 5


@pytest.mark.campaign  # alone it notices a table too wide for paper
@pytest.mark.parametrize("name", matrix("large table", "large table", "table by class"))
def test_grids_of_tables_fit_on_paper(opened, name):
    page, _ = opened(VARIANTS[name], viewport=A4_INSIDE_MARGINS)
    page.emulate_media(media="print")
    rights = page.evaluate(
        "() => [...document.querySelectorAll('.grid-table')].map(t => t.getBoundingClientRect().right)"
    )
    assert rights
    assert max(rights) <= A4_INSIDE_MARGINS["width"]


@pytest.mark.campaign  # alone it notices what the keyboard does not reach
def test_the_keyboard_reaches_everything_that_scrolls_or_opens_and_shows_where_it_is(opened):
    page, _ = opened(EVERYTHING, viewport={"width": 320, "height": 640})
    unfold(page)
    reachable = page.evaluate("() => document.querySelectorAll('a, summary, [tabindex=\"0\"]').length")
    seen = []
    for _ in range(reachable):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "() => [document.activeElement.localName, getComputedStyle(document.activeElement).outlineStyle]"
            )
        )
    assert seen[0][0] == "a"
    assert {name for name, _ in seen} == {"a", "summary", "div"}
    assert {outline for _, outline in seen} == {"solid"}
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.localName") in {"body", "html", "a"}


@pytest.mark.campaign  # alone it notices what moves
def test_nothing_moves_for_readers_who_want_it_still(opened):
    page, _ = opened(VARIANTS["first release"], reduced_motion="reduce")
    moving = """() => [...document.querySelectorAll('*')].map(e => getComputedStyle(e)).filter(
        s => s.scrollBehavior !== 'auto' || s.animationName !== 'none' || s.transitionDuration !== '0s').length"""
    assert page.evaluate(moving) == 0


@pytest.fixture(scope="module")
def nodes_of_quiet_texts(browser) -> list[str]:
    page = browser.new_page()
    page.set_content(render(filled(smallest(sample()), lambda k: f"quiet {k};")))
    found = page.evaluate(NODES)
    page.close()
    return found


@pytest.mark.parametrize("payload", matrix(HOSTILE[1], *HOSTILE))
def test_a_browser_makes_nothing_but_text_of_a_hostile_text(opened, nodes_of_quiet_texts, payload):
    page, events = opened(filled(smallest(sample()), lambda k: f"{payload} {k};"))
    assert page.evaluate(NODES) == nodes_of_quiet_texts
    unfold(page)
    page.mouse.move(200, 200)
    page.wait_for_timeout(50)
    assert events == []


def test_a_script_that_got_in_would_not_run(opened):
    page, events = opened(VARIANTS["first release"])
    page.evaluate(
        "() => { document.body.append(Object.assign(document.createElement('script'), {textContent: 'alert(1)'})); "
        "document.body.append(Object.assign(document.createElement('img'), {src: 'https://a.example/x.png'})) }"
    )
    page.wait_for_timeout(100)
    blocked = [event for event in events if event.startswith("message")]
    assert len(blocked) == 2
    assert all("Content Security Policy" in event for event in blocked)
    assert not [event for event in events if event.startswith("dialog")]
