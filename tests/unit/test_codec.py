"""Values are written in one way, read back as equal values, and refused with the path of the fault."""

import json
from fractions import Fraction
from importlib import resources

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp
from statpriv.model import codec
from statpriv.model.fields import RANGE, Field, RefusedError, schema_of, written_number
from statpriv.model.step_fields import publication_steps, written_publication
from statpriv.releasing.schemas import generated

from .test_kept_formats import QUERIES

NOISES = [step for query in QUERIES for step in getattr(query, "steps", ())]
SAMPLINGS = [
    sp.WithoutReplacement(5),
    sp.ClusterSample(5),
    sp.WithReplacement(7),
    sp.PoissonSampling("1/4"),
    sp.PoissonSampling(1, size_published=True),
    sp.Stratified({"f": 3, "m": 0}),
    sp.OverlappingSamples([3, 3, 4]),
    sp.TemplateLaw({(0, 1): "1/3", (1, 2, 2): "2/3"}),
]
PARTITIONS = [
    sp.RandomPartition([3, 3, 4]),
    sp.RandomPartition([{"f": 3, "m": 0}, {"f": 1, "m": 1}]),
    sp.MultinomialPartition(["1/4", "1/3"]),
    sp.ClusterPartition([2, 3]),
    sp.MultinomialPartition(["1/4"], sizes_published=True),
    sp.PartitionLaw({((0, 1), (2, 3)): "1/3", ((2, 3), (0, 1)): "2/3"}),
]
POPULATIONS = [sp.Population(12), sp.Population(groups={"f": 3, "m": 4})]
ADVERSARIES = [sp.Adversary(), sp.Adversary(known={"f": 3}, values="expected")]
TABLES = [
    sp.ContingencyTable(12, minimum=10),
    sp.ContingencyTable(3, minimum={0: 4, 2: 5, "default": 3}, impossible=[1], attribute="a"),
    sp.ContingencyTable(
        {'a, "b"': ["n", "<b>s</b>"], "line\nbreak": ["default", "'"]},
        minimum={("n", "'"): 7, "default": 9},
        impossible=[("n", "default")],
        by='a, "b"',
        name="t",
    ),
    sp.ContingencyTable({"one": ["x", "y"]}, minimum=2).rounded(5),
    sp.ContingencyTable({"r": ["n", "s"], "a": ["x", "y", "z"]}, minimum=5, nested=True),
    sp.ContingencyTable({"r": ["n", "s"], "a": ["x", "y"]}, minimum=5, by="r", p=sp.EachBetween("0.2", "0.9")),
    sp.ContingencyTable(3, minimum=5, p=["1/3", sp.Between("0.2", "0.5"), sp.Between("0.2", "0.5")]),
    sp.ContingencyTable(
        {"r": ["n", "s"], "a": ["x", "y", "z"]}, minimum=5, recode={"a": [{"x or y": ["x", "y"], "z": ["z"]}]}, by="r"
    ),
]
EVERY = [
    *((codec.QUERY, query) for query in [*QUERIES, *TABLES]),
    *((codec.STEP, step) for step in NOISES),
    *((codec.SAMPLING, sampling) for sampling in SAMPLINGS),
    *((codec.PARTITION, partition) for partition in PARTITIONS),
    *((codec.POPULATION, population) for population in POPULATIONS),
    *((codec.ADVERSARY, adversary) for adversary in ADVERSARIES),
]


@pytest.mark.parametrize(
    ("field", "value"), EVERY, ids=lambda given: "field" if isinstance(given, Field) else repr(given)[:60]
)
def test_what_is_written_reads_back_and_is_as_the_schema_says(field, value):
    document = json.loads(json.dumps(field.write(value)))
    assert field.read(document) == value
    jsonschema.Draft202012Validator(schema_of(field.schema)).validate(document)


def test_nothing_but_plain_data_is_written():
    def plain(document):
        inner = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
        return type(document) in (dict, list, str, int, bool) and all(map(plain, inner))

    # TOML has no null.
    assert all(plain(field.write(value)) for field, value in EVERY)


@pytest.mark.parametrize("text", ["0.4..0.6", " .4 .. 6e-1 ", ["2/5", 0.6], ["0.4", "3/5"]])
def test_a_range_is_a_list_or_a_text(text):
    read = RANGE.read(text)
    assert read[0] == Fraction(2, 5)
    assert read[1] in (Fraction(3, 5), Fraction(0.6))


@given(st.fractions(), st.integers(0, 10**60))
def test_numbers_are_exact(number, large):
    for value in (number, number * large, number / (large + 1)):
        assert Fraction(written_number(value)) == value


def test_numbers_without_end_are_refused():
    for value in (Fraction(1, 3**10_400), Fraction(10**5000), Fraction(1, 10**5000)):
        with pytest.raises(sp.ArgumentError, match="more digits than a JSON document can hold"):
            written_number(value)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (
            {},
            "kind = None; one of property, histogram, sum, mean, order-statistic, contingency-table, linear is",
        ),
        ({"kind": []}, "kind = []; one of property"),
        ({"kind": "property"}, "exactly one of probability, probabilities is required"),
        ({"kind": "property", "probability": 2}, "probability = 2; a number from 0 to 1, or a range"),
        ({"kind": "property", "probability": "0.6..0.4"}, 'probability = "0.6..0.4"; a number from 0 to 1, or a'),
        ({"kind": "property", "probability": {"f": 2}}, 'probability = {"f": 2}; a number from 0 to 1, or a'),
        ({"kind": "property", "probabilty": 1}, "probabilty: no such key; did you mean probability?"),
        ({"kind": "property", "probability": 1, "attribute": 3}, "attribute = 3; a text is required"),
        ({"kind": "histogram", "cells": ["0.5"]}, 'cells = ["0.5"]; a list of probabilities'),
        ({"kind": "histogram", "cells": ["0.5", "0.4"]}, "p sums to 9/10; exact probabilities must sum"),
        ({"kind": "sum", "pmf": {"0": 1, "x": 0}}, 'pmf = {"0": 1, "x": 0}; a table from each value to its'),
        ({"kind": "linear", "matrix": [[1, 2]]}, "matrix[0][1] = 2; 0 or 1 is required"),
        (
            {"kind": "property", "probability": 1, "steps": [{"kind": "rounding", "base": "5"}, {"kind": "gate"}]},
            "steps[2].lower is missing; a number such as",
        ),
        (
            {"kind": "property", "probability": 1, "steps": [{"kind": "rounding", "base": -5}]},
            "steps[1]: base = -5; a number above 0 is required",
        ),
        ({"kind": "property", "probability": 1, "steps": []}, "steps = []; a list of steps is required"),
        ({"type": "ModeQuery"}, "type = 'ModeQuery'; one of PropertyQuery"),
        (3, "not a table"),
    ],
    ids=range(17),
)
def test_what_is_wrong_is_named_with_its_path_its_value_and_what_is_allowed(document, told):
    with pytest.raises(sp.ArgumentError) as refused:
        codec.query_from(document)
    assert told in str(refused.value)


def test_all_faults_are_told_at_once():
    document = {"kind": "order-statistic", "pmf": 3, "rank": 0, "label": "x"}
    with pytest.raises(RefusedError) as refused:
        codec.query_from(document)
    assert [fault.split()[0] for fault in refused.value.faults] == ["label:", "pmf", "rank"]


def test_a_type_without_an_entry_cannot_be_written():
    class Loudness(sp.SumQuery):
        pass

    with pytest.raises(sp.ArgumentError, match="queries of your own cannot be written as JSON, those of statpriv"):
        codec.written_query(Loudness({0: "1/2", 1: "1/2"}).rounded(5))


def test_steps_have_a_word_each_in_plans_and_compositions():
    steps = publication_steps((10, 40), 12, 5)
    assert steps == (sp.RangeGate(10, 40), sp.Threshold(11), sp.Rounding(5))
    assert written_publication(steps) == {"gate": [10, 40], "suppressed_below": 12, "rounded_to": 5}


# --- the published schemas -----------------------------------------------------------------------


@pytest.mark.parametrize("name", generated())
def test_the_published_schemas_are_those_of_the_code(name):
    """After a deliberate change, `python -m statpriv.releasing.schemas` rewrites them."""
    schema = generated()[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(resources.files("statpriv").joinpath(name).read_text("utf-8")) == schema
