"""Files about several answers of the same rows, and about rows in clusters."""

import pytest

import statpriv as sp
from statpriv.files.composition import composition_of, read_composition
from statpriv.model.codec import POPULATION, SAME_ROWS

SAME = """
epsilon = 0.1
population = 30
same_rows = "row"
[[part]]
probability = ["0.1", "0.9"]
each = true
attribute = "smoker"
[[part]]
query = { kind = "property", probability = "each 0.2..0.7", attribute = "voter" }
"""
SAMPLED = SAME.replace('"row"', '{ protects = "row", samples = [20, "all"] }')
HOUSEHOLDS = """
epsilon = 0.5
population = { size = 60, clusters = 20, largest_cluster = 4 }
[[part]]
probability = ["0.1", "0.9"]
each = true
size = 40
"""


def read(tmp_path, text):
    file = tmp_path / "composition.toml"
    file.write_text(text, encoding="utf-8")
    return read_composition(file)


@pytest.mark.parametrize("text", [SAME, SAMPLED, HOUSEHOLDS])
def test_a_file_is_written_as_it_is_read(tmp_path, text):
    found, faults = read(tmp_path, text), []
    assert composition_of(found.document(), "", faults) == found
    assert not faults


def test_a_file_says_what_python_says(tmp_path):
    asked = [
        sp.PropertyQuery(sp.EachBetween("0.1", "0.9"), attribute="smoker"),
        sp.PropertyQuery(sp.EachBetween("0.2", "0.7"), attribute="voter"),
    ]
    together = sp.compose(asked, sp.Population(30), sp.SameRows(protects="row"))
    assert read(tmp_path, SAME).curve().delta("0.1") == together.delta("0.1")
    sampled = sp.compose(asked, sp.Population(30), sp.SameRows(protects="row", samples=[20, None]))
    assert read(tmp_path, SAMPLED).curve().delta("0.1") == sampled.delta("0.1")
    assert sampled.delta("0.1").upper < together.delta("0.1").lower
    one = sp.privacy_curve(asked[0], sp.Population(60, clusters=20, largest_cluster=4))
    assert read(tmp_path, HOUSEHOLDS).curve().delta("0.5") == one.delta("0.5")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SAME.replace('same_rows = "row"', ""), r"part\[1\].size is missing"),
        (SAME + "size = 9\n", "size or count"),
        (SAME + "count = 2\n", "size or count"),
        (SAME.replace('"row"', '"both"'), "attribute or row"),
        (HOUSEHOLDS.replace("= 20,", "= 12,"), "population"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, text, reason):
    with pytest.raises(sp.ArgumentError, match=reason):
        read(tmp_path, text)


def test_values_are_written_and_read_back():
    for population in (sp.Population(9, clusters=4, largest_cluster=3), sp.Population(groups={"size": 3, "b": 2})):
        assert POPULATION.read(POPULATION.write(population)) == population
    for same in (sp.SameRows(protects="attribute"), sp.SameRows(protects="row", independent=True)):
        assert SAME_ROWS.read(SAME_ROWS.write(same)) == same
