"""The studio in a real browser: every page is accessible and as wide as the screen, and works by keyboard and mouse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import statpriv as sp
from statpriv.numeric.literals import at_most

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")

pytestmark = pytest.mark.xdist_group("browser")

PAGES = ["/", "/explore", "/explore?what=table", "/plan", "/plan?file=plan.toml", "/release?file=plan.toml"]
PAGES += ["/ledger", "/assess", "/check", "/explore?n=x"]


@pytest.fixture
def page(browser, studio) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(studio.url)
    yield opened
    context.close()
    assert problems == []
    assert [url for url in asked if not url.startswith(studio.home)] == []


# The dark scheme differs in its colors: a contrast that is too low there is noticed by nothing else.
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.campaign)])
def test_every_page_is_accessible_and_no_wider_than_a_phone(page, studio, scheme):
    page.emulate_media(color_scheme=scheme)
    for place in PAGES:
        page.goto(studio.home + place)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), place
        found = axe.Axe().run(page).response["violations"]
        assert [(each["id"], [node["html"][:80] for node in each["nodes"]]) for each in found] == [], place


def test_the_result_follows_the_form_and_has_an_address(page, studio):
    page.goto(f"{studio.home}/explore")
    page.get_by_label("Rows", exact=True).fill("300")
    page.get_by_label("ε", exact=True).fill("0.3")
    expected = at_most(
        sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(300)).delta("0.3").upper
    )
    page.locator(".answer", has_text=expected).wait_for()
    assert "n=300" in page.url
    page.reload()
    page.locator(".answer", has_text=expected).wait_for()
    page.get_by_label("one exact table with a minimum in every cell").check()
    page.locator(".answer", has_text=at_most(sp.minimum_count_curve(10).delta("0.3").upper)).wait_for()


def test_a_plan_is_opened_released_and_its_report_read_by_the_keyboard(page, studio):
    page.goto(f"{studio.home}/plan?file=plan.toml")
    page.get_by_role("link", name="Go on to the release").press("Enter")
    page.get_by_role("checkbox").press("Space")
    page.get_by_role("button", name="Release").press("Enter")
    report = page.frame_locator("iframe.report")
    report.get_by_role("heading", name="Exact counts of people.csv").wait_for(timeout=60_000)
    page.goto(f"{studio.home}/check")
    page.get_by_label("The JSON of a report").set_input_files(studio.folder / "plan-report.json")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("The report agrees with itself").wait_for()


def test_a_table_is_pasted_and_assessed(page, studio):
    page.goto(f"{studio.home}/assess")
    page.get_by_label("Paste the table, as CSV").fill("region,age,count\nn,a,12\nn,b,40\ns,a,9\ns,b,31\n")
    page.get_by_role("button", name="Assess").click()
    page.get_by_text("This table is not what such a rule publishes").wait_for()
