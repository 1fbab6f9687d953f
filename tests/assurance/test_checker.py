"""The checker of certificates: it stands alone, agrees with the kernel, and finds every alteration."""

import ast
import copy
import json
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from importlib import resources
from itertools import combinations, product
from math import ceil, comb, floor, prod
from pathlib import Path

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.assurance import checker
from statpriv.assurance.checker import (
    CertificateError,
    TooLargeError,
    check,
    composition,
    counts,
    releases,
)
from statpriv.assurance.checker import (
    certificate as claims,
)
from statpriv.composition.cohorts import Cohort
from statpriv.composition.repeated_releases import RepeatedReleases

from ..cases import cases

EXACT_1024 = Fraction("0.02257377618990693694135285815974")  # δ of 1024 fair coins at ε = 1/200
ALLOWED = {
    "__future__",
    "collections",
    "dataclasses",
    "fractions",
    "functools",
    "hashlib",
    "importlib",
    "itertools",
    "json",
    "math",
    "os",
    "pathlib",
    "re",
    "sys",
    "types",
    "typing",
}


def certificate(population=1024, p="1/2", known=0, epsilon="0.005", delta="0.0226"):
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(population), adversary=sp.Adversary(known=known))
    return curve.certify(epsilon=epsilon, delta=delta).document


def of_situation(parts, population, known=0, pair=None):
    """The situation as the checker reads it; each part is (p or range, size, count, attribute) and maybe a gate."""
    read = []
    for p, size, count, attribute, *gate in parts:
        low, high = p if isinstance(p, tuple) else (p, p)
        probability = {"lower": str(low), "upper": str(high)}
        part = {"probability": probability, "size": size, "count": count, "attribute": attribute}
        read.append({**part, "gate": gate[0] if gate else None})
    table = {"population": population, "known_rows": known, "parts": read, "pair": pair}
    return claims.situation_of(table)


def restated(document, delta):
    """The same certificate of another δ, with a witness that fits."""
    changed = copy.deepcopy(document)
    changed["claim"]["delta"] = str(delta)
    stated = changed["witness"]["delta"]
    changed["witness"]["margin"] = {
        "lower": str(delta - Fraction(stated["upper"])),
        "upper": str(delta - Fraction(stated["lower"])),
    }
    return changed


# --- it stands alone -----------------------------------------------------------------------------

FOLDER = Path(checker.__file__).parent
TREES = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.py"))}


def is_for_types(node):
    """Whether this is run by programs that check types alone."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imported_from(tree):
    """What a file imports when it runs: modules of the standard library, and with a dot files beside it."""
    nodes = [node for top in getattr(tree, "body", []) if not is_for_types(top) for node in ast.walk(top)]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        if isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "").split(".")[0]


def test_it_imports_nothing_but_the_standard_library():
    assert set(TREES) == {
        "__init__",
        "__main__",
        "certificate",
        "composition",
        "counts",
        "groups",
        "histograms",
        "releases",
        "stages",
        "tables",
    }
    assert {name for tree in TREES.values() for name in imported_from(tree) if name[0] != "."} == ALLOWED


def test_what_decides_counts_is_two_files_that_load_the_others_only_for_claims_that_need_them():
    own = {name: {used for used in imported_from(tree) if used[0] == "."} for name, tree in TREES.items()}
    assert own["counts"] == set()
    assert own["certificate"] == {".counts", ".composition", ".groups", ".histograms", ".releases", ".tables"}
    first = {
        name
        for node in TREES["certificate"].body
        for name in imported_from(ast.Module([node], []))
        if isinstance(node, ast.ImportFrom)
    }
    assert {name for name in first if name[0] == "."} == {".counts"}


def test_it_calls_no_function_of_floating_point():
    nodes = [node for tree in TREES.values() for node in ast.walk(tree)]
    from_math = {
        name.name for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "math" for name in node.names
    }
    assert from_math == {"ceil", "comb", "floor", "isqrt"}  # of integers and fractions
    assert not [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, float)]
    assert not [node for node in nodes if isinstance(node, ast.Name) and node.id == "float"]
    divisions = [node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)]
    assert len(divisions) == 26  # of fractions: none of these names an integer that an integer divides


WAYS = {"module": ["-m", "statpriv.checker"], "folder": [str(FOLDER)], "alone": ["-I", str(FOLDER)]}


def run(how, path, **options):
    return subprocess.run(
        [sys.executable, *how, str(path)], capture_output=True, encoding="utf-8", timeout=60, check=False, **options
    )


@pytest.mark.parametrize("way", [*WAYS, "copy", "beside modules of the same names"])
def test_it_runs_as_a_module_as_a_folder_and_far_from_the_package(tmp_path, way):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(unrelated()), encoding="utf-8")
    how = WAYS.get(way)
    if how is None:
        copied = shutil.copytree(FOLDER, tmp_path / "copied", ignore=shutil.ignore_patterns("__pycache__"))
        how = ["-I", str(copied)]
    if way.startswith("beside"):
        for name in ("json", "fractions", "counts", "certificate", "checker"):
            (tmp_path / f"{name}.py").write_text("raise SystemExit(77)", encoding="utf-8")
            (copied / "json.py").write_text("raise SystemExit(77)", encoding="utf-8")
    done = run(how, path, cwd=tmp_path if way.startswith("beside") else None)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("proved: (epsilon, delta) = (0.1, 0.31058) for ")
    assert done.stdout.isascii()  # whatever the encoding of the terminal: a traceback would end like a refutation


def test_a_run_finds_neither_its_own_files_nor_those_beside_it_as_modules(tmp_path):
    """`types.py` of a folder around it would stand in for that of the standard library."""
    around = tmp_path / "around"
    copied = shutil.copytree(FOLDER, around / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    (copied / "releases.py").write_text("import sys\nraise SystemExit(repr(sys.path))", encoding="utf-8")
    path = tmp_path / "certificate.json"
    path.write_text('{"releases": []}', encoding="utf-8")
    found = ast.literal_eval(run(["-I", str(copied)], path).stderr)
    assert str(copied) not in found
    assert str(around) not in found


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        (lambda d: d, 0, "proved"),
        (lambda d: restated(d, Fraction("0.02257")), 1, "refuted"),
        (lambda d: {**d, "format": "statpriv certificate 2"}, 2, "'statpriv certificate 1' is required"),
    ],
)
def test_exit_codes(tmp_path, capsys, change, code, told):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(change(certificate())), encoding="utf-8")
    assert checker.main([str(path)]) == code
    assert told in "".join(capsys.readouterr())


def test_a_bound_that_misses_is_undecided(tmp_path, capsys):
    parts = [sp.PropertyQuery("1/2")] * 4
    curve = sp.compose(parts, sp.Population(400), sp.RandomPartition([100] * 4))
    document = restated(curve.certify(epsilon="0.005", delta="0.5").document, Fraction("0.001"))
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert checker.main([str(path)]) == 4
    assert capsys.readouterr().out.startswith("undecided: ")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1, "format": 1}', "[" * 100_000, "null", "NaN", "é"])
def test_what_is_no_certificate_is_refused_without_a_traceback(tmp_path, capsys, text):
    path = tmp_path / "certificate.json"
    path.write_bytes(text.encode("latin-1"))
    assert checker.main([str(path)]) == 2
    assert capsys.readouterr().err.startswith("Error: ")


def test_a_key_that_stands_there_twice_is_refused():
    """Readers differ in which of the two they take."""
    text = json.dumps(certificate()).replace('"delta": "0.0226"', '"delta": "0.0001", "delta": "0.0226"')
    with pytest.raises(CertificateError, match="a key stands there twice"):
        checker.read(text)


def test_a_missing_file_and_no_file_are_told():
    assert checker.main(["/nowhere/certificate.json"]) == 2
    assert checker.main([]) == 2


# --- its arithmetic ------------------------------------------------------------------------------


@pytest.mark.parametrize("x", ["0", "1/200", "1", "7/3", "30", "1000", "1e-300"])
def test_the_exponential_is_enclosed_tightly(x):
    import mpmath

    low, high = counts.exponential(Fraction(x), 256)
    context = mpmath.mp.clone()
    context.prec = 4000
    exact = context.exp(context.mpf(Fraction(x).numerator) / Fraction(x).denominator)
    assert context.mpf(low.numerator) / low.denominator <= exact <= context.mpf(high.numerator) / high.denominator
    assert high - low <= low / 2**220


@given(st.fractions(0, 60, max_denominator=50), st.integers(4, 24))
def test_the_exponential_is_enclosed_at_any_precision(x, bits):
    rough, fine = counts.exponential(x, bits), counts.exponential(x, 300)
    assert rough[0] <= fine[0]
    assert fine[1] <= rough[1]


def enumerated(size, p, w, r):
    """Δ_{1,0} of a count of `size` entries, present with probability w, from all answers."""

    def binomial(n, k):
        return comb(n, k) * p**k * (1 - p) ** (n - k) if 0 <= k <= n else Fraction(0)

    one = [(1 - w) * binomial(size, a) + w * binomial(size - 1, a - 1) for a in range(size + 1)]
    zero = [(1 - w) * binomial(size, a) + w * binomial(size - 1, a) for a in range(size + 1)]
    return sum(max(Fraction(0), first - r * second) for first, second in zip(one, zero, strict=True))


probabilities = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=60)
ratios = st.fractions(min_value=1, max_value=20, max_denominator=40)
EPSILONS = st.fractions(0, 3, max_denominator=1000)


@settings(deadline=None)
@given(st.integers(1, 14), probabilities, st.fractions(Fraction(1, 30), 1, max_denominator=30), ratios)
def test_one_count_is_what_enumeration_gives(size, p, w, r):
    exact = enumerated(size, p, w, r)
    assert counts.one_direction(size, p, w, r, None) == (exact, exact)
    low, high = counts.one_direction(size, p, w, r, 128)
    assert low <= exact <= high
    assert high - low < Fraction(1, 2**100)


@settings(deadline=None)
@given(st.integers(2, 12), st.tuples(probabilities, probabilities), ratios)
def test_a_range_is_the_supremum_over_it(size, ends, r):
    low, high = sorted(ends)
    found = counts.Part(low, high, size, 1, None, None).published(0, r, None)
    assert found[0] == found[1]
    grid = [low + (high - low) * Fraction(k, 40) for k in range(41)]
    others = size - 1
    peaks = [Fraction(j) / (j + (others - j) * r) for j in range(1, others)]
    attained = [enumerated(size, p, Fraction(1), r) for p in [*grid, *(peak for peak in peaks if low <= peak <= high)]]
    assert found[0] == max(attained)


@settings(deadline=None)
@given(st.integers(2, 7), st.data())
def test_known_entries_in_a_part_are_averaged_over_all_places_they_can_have(size, data):
    population = data.draw(st.integers(size, 10))
    known = data.draw(st.integers(0, population - 1))
    r = data.draw(ratios)
    situation = of_situation([("1/3", size, 1, None)], population, known)
    mean = Fraction(0)
    for z in range(min(known, size - 1) + 1):
        ways = comb(known, z) * comb(population - 1 - known, size - 1 - z)
        worst = max(enumerated(size - z, p, Fraction(1), r) for p in (Fraction(1, 3), Fraction(2, 3)))
        mean += Fraction(ways, comb(population - 1, size - 1)) * worst
    assert situation.partition_sum(r, None) == (mean * size / population,) * 2
    low, high = situation.partition_sum(r, 128)
    assert low <= mean * size / population <= high
    assert high - low < Fraction(1, 2**90)


# --- gates ---------------------------------------------------------------------------------------

ANY = ("0", "1")


def gated_delta(known_ones, unknown, p, r, *, gate, pair):
    """δ of a count within its gate by enumeration; the critical entry is one of the unknown ones."""

    def law(value):
        published = {None: Fraction(0)}
        for ones in range(unknown):
            mass = comb(unknown - 1, ones) * p**ones * (1 - p) ** (unknown - 1 - ones)
            count = known_ones + ones + value
            told = count if gate[0] <= count <= gate[1] else None
            published[told] = published.get(told, Fraction(0)) + mass
        return published

    one, other = law(pair[0]), law(pair[1])
    return sum(max(Fraction(0), mass - r * other.get(told, Fraction(0))) for told, mass in one.items())


@settings(deadline=None)
@given(st.integers(1, 9), ratios, st.data())
def test_no_probability_exceeds_the_bound_of_a_gated_count(size, r, data):
    gate = sorted((data.draw(st.integers(0, size)), data.draw(st.integers(0, size))))
    known = data.draw(st.integers(0, min(2, size - 1)))
    pair = data.draw(st.sampled_from([(1, 0), (0, 1)]))
    (part,) = (situation := of_situation([(ANY, size, 1, None, gate)], size, pair=list(pair))).parts
    low, bound = part.worst(situation.pair, known, r, None)
    assert low == bound
    grid = {Fraction(k, 24) for k in range(25)} | {
        Fraction(j) / (j + (size - known - 1 - j) * r) for j in range(size - known) if size - known > 1
    }
    worst = max(
        gated_delta(ones, size - known, q, r, gate=gate, pair=pair)
        for ones in range(known + 1)
        for p in grid
        for q in (p, 1 - p)
    )
    assert worst <= bound


def test_the_bound_of_a_gated_count_is_nearly_attained_and_below_one():
    """As by the kernel's theorem: n = 472, ε = 0.1, the gate of a range from 0.4 to 0.6."""
    situation = of_situation([(ANY, 472, 1, None, [157, 315])], 472)
    low, high = claims.delta_of(situation, "partition-sum", Fraction(1, 10), 192)
    assert Fraction("0.0083606655") < low < high < Fraction("0.0083606665")
    attained = sp.privacy_curve(sp.PropertyQuery("0.35").gated(157, 315), sp.Population(472)).delta("0.1")
    assert attained.upper < low


@settings(max_examples=cases(10, campaign=250), deadline=None)
@given(st.lists(st.integers(4, 200), min_size=1, max_size=4), EPSILONS, st.data())
def test_a_sum_over_gated_parts_agrees(sizes, epsilon, data):
    n = sum(sizes) + data.draw(st.integers(0, 50))
    known = data.draw(st.integers(0, min(5, n - 1)))
    queries = []
    for size in sizes:
        least, most = sorted((data.draw(st.integers(0, size)), data.draw(st.integers(0, size))))
        queries.append(sp.PropertyQuery(sp.Between("0.3", "0.6"), attribute="a").gated(least, most))
    adversary = sp.Adversary(known=known)
    partition = sp.RandomPartition(sizes)
    curve = sp.compose(queries, sp.Population(n), partition, adversary=adversary, bound="partition-sum")
    agrees(curve, "partition-sum", epsilon, digits=None)


def gated(**kwargs):
    count = sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="a")
    queries = [count.gated(80, 160), count.gated(60, 140)]
    partition, adversary = sp.RandomPartition([240, 200]), sp.Adversary(**kwargs)
    curve = sp.compose(queries, sp.Population(500), partition, adversary=adversary)
    return curve.certify(epsilon="0.1", delta="0.5").document


def test_a_gated_certificate_is_for_every_probability_and_needs_no_attribute():
    for known in (0, 4):
        parts = gated(known=known)["situation"]["parts"]
        assert [(part["gate"], part["attribute"]) for part in parts] == [([80, 160], None), ([60, 140], None)]
        assert all(part["probability"] == {"lower": "0", "upper": "1"} for part in parts)
        assert check(gated(known=known)).verdict == "proved"


def test_a_gated_count_of_all_entries_is_one_part():
    curve = sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")).gated(80, 160), sp.Population(240))
    document = curve.certify(epsilon="0.1", delta="0.1").document
    assert document["witness"]["theorem"] == "partition-sum"
    assert document["situation"]["parts"][0]["gate"] == [80, 160]


def test_a_gate_is_not_a_statement_about_a_range():
    document = gated()
    part = document["situation"]["parts"][0]
    wrong = {
        "parts[0].probability: from 0 to 1 is required behind a gate": {"probability": {"lower": "0.4", "upper": "1"}},
        "parts[0].gate: null or two counts are required": {"gate": [80]},
        "parts[0].gate: a whole number from 80 to 240": {"gate": [80, 241]},
        "parts[0].gate: a whole number from 90 to 240": {"gate": [90, 80]},
        "parts[0].probability: a range strictly between 0 and 1": {"gate": None},
    }
    for message, change in wrong.items():
        with pytest.raises(CertificateError, match=re.escape(message)):
            check(altered(document, ("situation", "parts"), [{**part, **change}]))
    one = altered(document, ("situation", "parts"), [part])
    for theorem in ("total-count", "hidden-sample", "composition"):
        with pytest.raises(CertificateError, match="does not apply"):
            check(altered(one, ("witness", "theorem"), theorem))


def test_a_gate_that_lets_nothing_through_has_nothing_to_certify():
    query = sp.PropertyQuery(sp.Between("0.4", "0.6")).gated("5/2", "11/4")
    with pytest.raises(sp.NotAvailableError, match="the gate withholds every count; there is nothing to certify"):
        sp.privacy_curve(query, sp.Population(240)).certify(epsilon="0.1", delta=1)


# --- compositions --------------------------------------------------------------------------------


def truth_of(parts, n, r):
    """δ by the definitions: every database, every partition, every pair of values of one entry."""
    attributes = list(dict.fromkeys(attribute for _, _, attribute in parts))
    chances = {attribute: p for p, _, attribute in parts}
    entry = {
        values: prod(
            (chances[name] if value else 1 - chances[name] for name, value in zip(attributes, values, strict=True)),
            start=Fraction(1),
        )
        for values in product((0, 1), repeat=len(attributes))
    }

    def counting(place):
        return lambda rows: sum(row[place] for row in rows)

    counts = [counting(attributes.index(attribute)) for _, _, attribute in parts]
    families = sp.reference.partitions(n, [size for _, size, _ in parts], ordered=False)
    database = sp.reference.iid(entry, n)
    return sp.reference.privacy_curve(database, counts, families, critical=0, known=())(r)


def composition_at(parts, n, r, effort, claimed=Fraction(0)):
    situation = of_situation([(str(p), size, 1, attribute) for p, size, attribute in parts], n)
    return claims.theorem("composition", situation, claimed)[0](r, effort)


@settings(max_examples=cases(5, campaign=300), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["1/2", "1/5", "3/5", "9/10"]), st.integers(1, 2)).map(
            lambda part: (Fraction(part[0]), part[1])
        ),
        min_size=2,
        max_size=3,
    ),
    st.integers(0, 1),
    st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(2)]),
    st.booleans(),
)
def test_a_composition_is_enclosed_against_the_definitions(parts, unused, r, shared):
    """`shared`: the first part and the last one ask the same property."""
    names = ["a", "b", "c"][: len(parts)]
    if shared:
        names[-1], parts = "a", [*parts[:-1], (parts[0][0], parts[-1][1])]
    n = sum(size for _, size in parts) + unused
    named = [(p, size, name) for (p, size), name in zip(parts, names, strict=True)]
    assume(n <= 5)
    truth = truth_of(named, n, r)
    for effort, widest in ((192, Fraction(1, 2)), (768, Fraction(1, 50))):
        low, high = composition_at(named, n, r, effort, claimed=truth)
        assert low <= truth <= high
        assert high - low <= widest


def eight_parts():
    return [(Fraction(1, 10) + Fraction(6, 70) * k, 50, None) for k in range(8)]


R = counts.exponential(Fraction(1, 20), 300)[0]
WORST = Fraction("0.0269888691363")  # of the 256 patterns of eight parts, by three independent computations


@pytest.mark.parametrize(
    ("claimed", "verdict"),
    [
        pytest.param("0.03", "proved", marks=pytest.mark.campaign),
        ("0.0271", "proved"),
        ("0.0265", "refuted"),
        pytest.param("0.025", "refuted", marks=pytest.mark.campaign),
    ],
)
def test_eight_parts_of_different_properties_are_told_from_their_worst_pattern(claimed, verdict):
    curve = sp.compose(
        [sp.PropertyQuery(p) for p, _, _ in eight_parts()], sp.Population(400), sp.RandomPartition([50] * 8)
    )
    document = curve.certify(epsilon="0.05", delta="0.03").document
    assert document["witness"]["theorem"] == "composition"
    found = check(restated(document, Fraction(claimed)))
    assert (found.verdict, found.exact) == (verdict, True)
    assert found.delta[0] <= WORST <= found.delta[1]
    assert found.delta[1] - found.delta[0] < WORST / 10


@pytest.mark.campaign  # alone it notices a width
def test_a_finer_grid_is_narrower():
    parts = eight_parts()[2:5]
    curve = sp.compose([sp.PropertyQuery(p) for p, _, _ in parts], sp.Population(150), sp.RandomPartition([50] * 3))
    truth, widths = curve.delta("0.05"), []
    for effort in (96, 192, 384):
        low, high = composition_at(parts, 150, R, effort, claimed=Fraction(truth.upper))
        assert low <= Fraction(truth.upper)
        assert Fraction(truth.lower) <= high
        widths.append(high - low)
    assert widths[2] < widths[1] / 4 < widths[0] / 16


def test_like_properties_of_one_half_are_one_count_of_all():
    """With p = 1/2 and every entry used all patterns are alike, and δ is that of the total."""
    curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(4096))
    low, high = composition_at([(Fraction(1, 2), 128, None)] * 32, 4096, R, 192)
    assert low <= Fraction(curve.delta("0.05").upper)
    assert Fraction(curve.delta("0.05").lower) <= high
    assert high - low < high / 500


@pytest.mark.campaign  # alone it notices that many parts are not proved
def test_many_parts_are_proved_by_the_bound_of_all_patterns():
    parts = cases(20, campaign=64)
    queries = [sp.PropertyQuery(Fraction(1, 10) + Fraction(8, 10 * (parts - 1)) * k) for k in range(parts)]
    curve = sp.compose(queries, sp.Population(64 * parts), sp.RandomPartition([64] * parts))
    assert curve.kind == "enclosed"
    most = Fraction(curve.delta("0.05").upper)
    certificate = curve.certify(epsilon="0.05", delta=most * Fraction(102, 100))
    assert certificate.document["witness"]["theorem"] == "composition"
    assert certificate.check().verdict == "proved"
    with pytest.raises(sp.ArgumentError, match="the claim is false"):
        sp.compose(queries[:4], sp.Population(256), sp.RandomPartition([64] * 4)).certify(epsilon="0.05", delta="0.01")


def test_the_law_of_all_patterns_dominates_each_of_them():
    made = composition.Composition(400, {(Fraction(1, 5), 20): 3}, R, Fraction(1, 2), 128)
    choices = made.choices(Fraction(1, 5), 20, 3)
    assert len(choices) == 4
    bound = composition.dominating(choices)
    assert sum(bound.masses) <= 2**128
    low, high = bound.first - 1, bound.first + len(bound.masses)
    for choice in choices:
        pairs = zip(bound.stop_loss(low, high), choice.stop_loss(low, high), strict=True)
        assert all(most >= value - 2**100 for most, value in pairs)  # what is left out counts apart


def test_a_sum_on_the_grid_is_a_convolution():
    left, right = composition.Grid(-3, [1 << 62, 0, 1 << 63], 1), composition.Grid(5, [1 << 63, 1 << 62], 2)
    found = composition.added(left, right, 64)
    assert found == composition.Grid(2, [1 << 61, 1 << 60, 1 << 62, 1 << 61], 3)


def test_values_far_apart_on_the_grid_are_refused():
    with pytest.raises(TooLargeError, match="more than 1048576 points of the grid"):
        composition_at([(Fraction(1, 10**30), 9, None), (Fraction(1, 2), 9, None)], 18, R, 192)


def test_a_sum_over_parts_that_would_be_computed_for_hours_is_refused_at_once():
    different = [(f"0.{k}", 2**32, 1, None) for k in range(1000, 1100)]
    situation = of_situation(different, 2**39)
    with pytest.raises(TooLargeError, match="too many large parts differ"):
        claims.delta_of(situation, "partition-sum", Fraction(1, 10), 192)


@pytest.mark.campaign  # alone it notices a refusal that comes too late
@pytest.mark.parametrize(
    ("parts", "claimed", "message"),
    [
        ([(Fraction(3, 10), 1, None)] * 10_000, Fraction(1, 100), "more than 1048576 terms that matter"),
        ([(Fraction(k, 50_000), 10, None) for k in range(1, 20_000)], Fraction(1, 100), "more than 1048576 terms"),
        ([(Fraction(3, 10), 50, None), (Fraction(2, 5), 50, None)], Fraction(1, 10**999), "more than 1024 bits"),
    ],
    ids=["many like properties", "many different ones", "a tiny claim"],
)
def test_a_composition_that_would_be_computed_for_hours_is_refused_at_once(parts, claimed, message):
    with pytest.raises(TooLargeError, match=message):
        composition_at(parts, 200_000, R, 192, claimed)


# --- it agrees with the kernel -------------------------------------------------------------------


def described(curve, theorem, epsilon, bits=192):
    from statpriv.assurance.certificate import _described

    return claims.delta_of(claims.situation_of(_described(curve.situation)), theorem, Fraction(epsilon), bits)


def agrees(curve, theorem, epsilon, digits=25):
    from statpriv.numeric.digits import exact_ends

    low, high = described(curve, theorem, epsilon)
    kernel = exact_ends(curve.delta(epsilon, digits=digits))
    assert low <= kernel[1]
    assert kernel[0] <= high
    assert high - low <= Fraction(1, 2**150)


@settings(max_examples=cases(13, campaign=400), deadline=None)
@given(
    st.integers(1, 3000),
    st.tuples(probabilities, probabilities),
    EPSILONS,
    st.sampled_from([None, (1, 0), (0, 1)]),
    st.data(),
)
def test_one_count_agrees(n, ends, epsilon, pair, data):
    known = data.draw(st.integers(0, n - 1))
    query = sp.PropertyQuery(sp.Between(*sorted(ends)))
    curve = sp.privacy_curve(query, sp.Population(n), adversary=sp.Adversary(known=known), pair=pair)
    agrees(curve, "total-count", epsilon)


@settings(max_examples=cases(13, campaign=400), deadline=None)
@given(st.integers(2, 3000), probabilities, EPSILONS, st.sampled_from([None, (1, 0), (0, 1)]), st.data())
def test_a_hidden_sample_agrees(n, p, epsilon, pair, data):
    sample = sp.WithoutReplacement(data.draw(st.integers(1, n - 1)))
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), sampling=sample, pair=pair, bound="exact")
    agrees(curve, "hidden-sample", epsilon)


@settings(max_examples=cases(10, campaign=250), deadline=None)
@given(st.lists(st.tuples(probabilities, st.integers(1, 200)), min_size=1, max_size=5), EPSILONS, st.data())
def test_a_partition_sum_agrees(parts, epsilon, data):
    n = sum(size for _, size in parts) + data.draw(st.integers(0, 50))
    queries, sizes = [sp.PropertyQuery(p) for p, _ in parts], [size for _, size in parts]
    known = data.draw(st.integers(0, n - 1))
    population, partition = sp.Population(n), sp.RandomPartition(sizes)
    curve = sp.compose(queries, population, partition, adversary=sp.Adversary(known=known), bound="partition-sum")
    agrees(curve, "partition-sum", epsilon)


@settings(max_examples=cases(13, campaign=400), deadline=None)
@given(st.integers(2, 2000), probabilities, EPSILONS)
def test_claims_next_to_the_truth_are_told_apart(n, p, epsilon):
    """A relative 10^-12 above δ they are proved, as much below it refuted."""
    from statpriv.numeric.digits import exact_ends

    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n))
    low, high = exact_ends(curve.delta(epsilon, digits=40))
    document = curve.certify(epsilon=epsilon, delta=min(Fraction(1), 2 * high)).document
    above, below = min(Fraction(1), high * (1 + Fraction(1, 10**12))), low * (1 - Fraction(1, 10**12))
    assert check(restated(document, above)).verdict == "proved"
    assert check(restated(document, below)).verdict == "refuted"


def test_the_published_value():
    verdict = check(certificate())
    assert verdict.delta[0] <= EXACT_1024 + Fraction(1, 10**31)
    assert verdict.delta[1] >= EXACT_1024
    assert verdict.delta[1] - verdict.delta[0] < Fraction(1, 10**50)
    assert verdict.exact
    assert verdict.margin == (Fraction("0.0226") - verdict.delta[1], Fraction("0.0226") - verdict.delta[0])


@pytest.mark.parametrize(("n", "epsilon", "delta"), [(3, 0, "1/2"), (1024, 800, Fraction(1, 2**1023)), (5, 40, "1/16")])
def test_a_claim_of_exactly_the_truth_is_proved(n, epsilon, delta):
    document = certificate(population=n, epsilon=epsilon, delta=delta)
    assert check(document).verdict == "proved"
    assert check(restated(document, Fraction(delta) * (1 - Fraction(1, 10**30)))).verdict == "refuted"


def test_a_million_entries_and_a_deep_tail_are_checked():
    document = certificate(population=10**6, p="0.3", epsilon="0.04", delta="1e-60")
    assert check(document).verdict == "proved"
    assert check(restated(document, Fraction(document["witness"]["delta"]["lower"]))).verdict in (
        "refuted",
        "undecided",
    )


def test_a_part_of_the_claimed_delta_is_refuted():
    document = certificate(delta=EXACT_1024 + Fraction(1, 10**28))
    assert check(document).verdict == "proved"
    assert check(restated(document, EXACT_1024 * Fraction(999, 1000))).verdict == "refuted"


# --- alterations ---------------------------------------------------------------------------------


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from leaves(inner, (*path, k))
    else:
        yield path, value


def altered(document, path, value):
    changed = copy.deepcopy(document)
    at = changed
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return changed


def composed():
    queries = [sp.PropertyQuery(sp.Between("0.3", "0.6")), sp.PropertyQuery("0.7", attribute="a")]
    partition = sp.RandomPartition([300, 200])
    curve = sp.compose(queries, sp.Population(600), partition, adversary=sp.Adversary(known=5))
    return curve.certify(epsilon="0.1", delta="0.5").document


def unrelated():
    queries, partition = [sp.PropertyQuery("0.3"), sp.PropertyQuery("0.3")], sp.RandomPartition([6, 1])
    return sp.compose(queries, sp.Population(7), partition).certify(epsilon="0.1", delta="0.31058").document


def released():
    """300 rows of which 90 answered, then 100 more: 80 and 50 of those that were left answered."""
    curves = tuple(
        sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(rows)) for rows in (90, 80, 50)
    )
    cohorts = (Cohort(300), Cohort(100, joined_after=1))
    return RepeatedReleases(cohorts, curves).certify(epsilon="0.1", delta="0.05").document


def is_true(document):
    """Whether the kernel says so too, of the situation as the document has it."""
    if "groups" in document:
        return all(is_true({**group, "claim": document["claim"]}) for group in document["groups"].values())
    if "releases" in document:
        cohorts = tuple(Cohort(**cohort) for cohort in document["cohorts"])
        curves = tuple(curve_of(release["situation"]) for release in document["releases"])
        claim = document["claim"]
        whole = RepeatedReleases(cohorts, curves).delta(claim["epsilon"])
        return Fraction(whole.upper) <= Fraction(claim["delta"])
    return curve_of(document["situation"]).satisfies(**document["claim"])


def curve_of(situation):
    """The curve of the situation as a certificate has it."""
    parts = [part for part in situation["parts"] for _ in range(part["count"])]
    counts = [query_of(part) for part in parts]
    gates = [part.get("gate") for part in parts]
    queries = [count if gate is None else count.gated(*gate) for count, gate in zip(counts, gates, strict=True)]
    adversary = sp.Adversary(known=situation["known_rows"])
    partition = sp.RandomPartition([part["size"] for part in parts])
    return sp.compose(queries, sp.Population(situation["population"]), partition, adversary=adversary)


def query_of(part):
    if "cells" in part:
        return sp.HistogramQuery([sp.Between(*cell.values()) for cell in part["cells"]], attribute=part["attribute"])
    return sp.PropertyQuery(sp.Between(*part["probability"].values()), attribute=part["attribute"])


def other_values(path, value):
    if isinstance(value, int):
        return [value + 1, value - 1, value * 2 + 3, -value - 1, str(value), float(value), True]
    if path[-1] in ("lower", "upper", "epsilon", "delta"):
        scaled = [str(Fraction(value) * Fraction(k, 1000)) for k in (500, 999, 1001, 2000)]
        unreadable = ["", "x", "١", "1/0", "1e99999", "inf", "nan", f" {value}", f"{value}\n", f"+{value}"]
        return [*scaled, *unreadable, float(Fraction(value)), None]
    return [3, [], {}] if path[-1] == "attribute" else ["other", 3, [], {}]


def unnoticed_alterations(document):
    """Where an alteration leaves a proof, and a true one; and how many do not."""
    found, passed = 0, []
    for path, value in leaves(document):
        for other in other_values(path, value):
            if other == value and type(other) is type(value):
                continue
            changed = altered(document, path, other)
            try:
                verdict = check(changed).verdict
            except CertificateError:
                verdict = "refused"
            if verdict != "proved":
                found += 1
            else:
                assert is_true(changed)
                passed.append(path)
    return found, passed


@pytest.mark.parametrize(
    "document",
    [certificate(known=5, delta="0.023"), composed(), unrelated(), gated(known=1)],
    ids=["count", "partition sum", "composition", "gates"],
)
def test_every_alteration_is_found_unless_what_it_says_is_true_as_well(document):
    """A smaller part, or a range whose other end is the worst: then the altered certificate proves another claim."""
    found, passed = unnoticed_alterations(document)
    assert found > 80
    assert len(passed) <= 6
    assert all(path[:2] == ("situation", "parts") for path in passed)


def test_every_alteration_of_several_releases_is_found_unless_what_it_says_is_true_as_well():
    """Another claim, more rows, a later cohort: the sum has no witness beside its terms, and is printed."""
    found, passed = unnoticed_alterations(released())
    assert found > 200
    assert len(passed) <= 22


def test_keys_are_exactly_those_of_the_format():
    document = certificate()
    for path in [(), ("claim",), ("situation",), ("situation", "parts", 0), ("witness",), ("witness", "delta")]:
        more = altered(document, (*path, "statement"), "anything")
        with pytest.raises(CertificateError, match="exactly the keys"):
            check(more)
        less = copy.deepcopy(document)
        at = less
        for part in path:
            at = at[part]
        del at[next(iter(at))]
        with pytest.raises(CertificateError, match="exactly the keys"):
            check(less)


def test_a_theorem_whose_hypotheses_fail_is_refused():
    document = composed()
    for theorem in ("total-count", "hidden-sample", "exact"):
        with pytest.raises(CertificateError, match=re.escape(f"witness.theorem = {theorem!r} does not apply")):
            check(altered(document, ("witness", "theorem"), theorem))


@pytest.mark.parametrize(
    ("parts", "known", "theorem", "applies"),
    [
        ([("1/2", 5, 1, None)], 0, "hidden-sample", True),
        ([("1/2", 5, 1, None)], 3, "hidden-sample", False),
        ([(("1/3", "1/2"), 5, 1, None)], 0, "hidden-sample", False),
        ([("1/2", 5, 2, None)], 0, "hidden-sample", False),
        ([("1/2", 5, 2, "a")], 0, "hidden-sample", True),
        ([("1/2", 5, 1, None)], 3, "total-count", True),
        ([(("1/3", "1/2"), 5, 2, "a")], 3, "total-count", True),
        ([("1/2", 5, 2, None)], 0, "total-count", False),
        ([("1/2", 5, 1, "a"), ("1/2", 5, 1, "b")], 0, "total-count", False),
        ([("1/2", 5, 1, "a"), ("1/2", 5, 1, None)], 0, "total-count", False),
        ([("1/2", 5, 1, "a"), ("1/3", 5, 1, None)], 3, "partition-sum", True),
        ([("1/2", 5, 1, "a"), ("1/3", 5, 1, None)], 0, "composition", True),
        ([("1/2", 5, 1, "a"), ("1/3", 5, 1, None)], 3, "composition", False),
        ([("1/2", 5, 1, "a"), (("1/3", "1/2"), 5, 1, None)], 0, "composition", False),
    ],
)
def test_each_theorem_has_its_hypotheses(parts, known, theorem, applies):
    situation = of_situation(parts, 20, known)
    if applies:
        assert claims.theorem(theorem, situation)[1] == (theorem in ("hidden-sample", "composition"))
    else:
        with pytest.raises(CertificateError, match="does not apply to the situation"):
            claims.theorem(theorem, situation)


def test_a_claim_too_close_to_the_truth_is_undecided():
    """At 10^5 entries the last run, with exact integers, is too long."""
    document = certificate(population=10**5, delta="0.01")
    low, high = claims.delta_of(claims.situation_of(document["situation"]), "total-count", Fraction("0.005"), 1600)
    assert high - low < Fraction(1, 2**1500)
    assert check(restated(document, Fraction(floor(low * 2**1490), 2**1490))).verdict == "undecided"
    assert check(restated(document, Fraction(ceil(high * 2**600), 2**600))).verdict == "proved"
    assert check(restated(document, Fraction(floor(low * 2**600) - 1, 2**600))).verdict == "refuted"


def test_a_witness_that_says_nothing_is_refused():
    document = certificate()
    wide = altered(document, ("witness", "delta"), {"lower": "0", "upper": "1"})
    with pytest.raises(CertificateError, match=r"witness\.delta is too wide"):
        check(restated(wide, Fraction("0.0226")))


def test_impossible_situations_are_refused():
    document = certificate()
    part = document["situation"]["parts"][0]
    wrong = {
        "parts[0].size: a whole number from 1 to 1024": ("parts", [{**part, "size": 1025}]),
        "1026 entries together": ("parts", [{**part, "size": 513, "count": 2}]),
        "a list of parts": ("parts", []),
        "two different probabilities": (
            "parts",
            [{**part, "size": 2, "attribute": "a", "probability": {"lower": p, "upper": p}} for p in ("0.2", "0.3")],
        ),
        "strictly between 0 and 1": ("parts", [{**part, "probability": {"lower": "0", "upper": "1/2"}}]),
        "lower is above upper": ("parts", [{**part, "probability": {"lower": "1/2", "upper": "1/3"}}]),
        "a whole number from 0 to 1023": ("known_rows", 1024),
        "null, [1, 0] or [0, 1]": ("pair", [1, 1]),
    }
    for message, (key, value) in wrong.items():
        with pytest.raises(CertificateError, match=re.escape(message)):
            check(altered(document, ("situation", key), value))


def test_a_pair_of_values_is_one_of_one_property():
    with pytest.raises(
        CertificateError, match=r"situation\.pair: null is required where parts ask different properties"
    ):
        check(altered(composed(), ("situation", "pair"), [1, 0]))


def test_what_would_take_too_long_is_said():
    document = altered(certificate(), ("situation", "population"), 2**53)
    document["situation"]["parts"][0]["size"] = 2**53
    with pytest.raises(TooLargeError, match="more than 1048576 terms"):
        check(document)


# --- making them ---------------------------------------------------------------------------------


def schema():
    text = resources.files("statpriv.releasing").joinpath("certificate.schema.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def test_certificates_are_as_the_schema_says():
    for document in (certificate(), composed(), certificate(p=0.1, known=3, delta="0.9")):
        schema().validate(document)
        for path, _ in leaves(document):
            assert not schema().is_valid(altered(document, path, 1.5)), path


def test_the_theorems_are_tried_from_the_exact_one_on():
    smoker = sp.PropertyQuery("1/2", attribute="smoker")
    for parts, known, theorem in [
        (4, 0, "total-count"),
        (4, 9, "total-count"),
        (3, 0, "hidden-sample"),
        (3, 9, "total-count"),
    ]:
        partition = sp.RandomPartition([100] * parts)
        curve = sp.compose([smoker] * parts, sp.Population(400), partition, adversary=sp.Adversary(known=known))
        document = curve.certify(epsilon="0.1", delta="0.5").document
        assert document["witness"]["theorem"] == theorem
        assert check(document).exact == (theorem == "hidden-sample" or parts == 4)
    other = sp.compose([sp.PropertyQuery("1/2")] * 4, sp.Population(400), sp.RandomPartition([100] * 4))
    assert other.certify(epsilon="0.1", delta="0.5").document["witness"]["theorem"] == "partition-sum"


def test_a_later_theorem_is_used_where_the_first_misses():
    """Few entries are used, so the sum is below the total count; entries are known, so neither is exact."""
    sample = sp.privacy_curve(
        sp.PropertyQuery("1/2"),
        sp.Population(400),
        sampling=sp.WithoutReplacement(4),
        adversary=sp.Adversary(known=395),
    )
    document = sample.certify(epsilon="0.1", delta="0.2").document
    assert document["witness"]["theorem"] == "partition-sum"


def test_what_is_made_of_a_count_is_as_private_as_the_count():
    """The certificate is one of the count; that the count itself is less private refutes nothing of what is made."""
    coins, people = sp.PropertyQuery("1/2"), sp.Population(1024)
    certificate = sp.privacy_curve(coins, people).certify(epsilon="0.005", delta="0.0226")
    for made in (coins.rounded(5), coins.thresholded(400).rounded(5), coins.noisy(sp.noise.DiscreteLaplace(alpha=0.5))):
        curve = sp.privacy_curve(made, people)
        assert curve.certify(epsilon="0.005", delta="0.0226") == certificate
        with pytest.raises(sp.NotAvailableError, match="cannot be certified, which does not refute it"):
            curve.certify(epsilon="0.005", delta="0.022")
    gated = sp.PropertyQuery(sp.Between("0.4", "0.6")).gated(80, 160)
    exact, rounded = (sp.privacy_curve(query, sp.Population(240)) for query in (gated, gated.rounded(5)))
    assert rounded.certify(epsilon="0.1", delta="0.1") == exact.certify(epsilon="0.1", delta="0.1")


# --- several releases ----------------------------------------------------------------------------


def test_the_sum_over_releases_is_that_of_the_worst_cohort_by_hand():
    document, verdict = released(), check(released())
    one, two, three = (check(release).delta[1] for release in document["releases"])
    drawn = Fraction(90, 300), Fraction(80, 310), Fraction(50, 230)
    new = drawn[1] * two + (1 - drawn[1]) * drawn[2] * three
    old = drawn[0] * one + (1 - drawn[0]) * new
    assert new < old == verdict.delta[1] <= verdict.claimed
    assert verdict.delta[1] - verdict.delta[0] < Fraction(1, 10**40)
    assert (verdict.verdict, verdict.exact) == ("proved", False)
    assert '"joined_after": 1' in str(verdict)
    assert check(altered(document, ("claim", "delta"), "0.03")).verdict == "undecided"


@pytest.mark.parametrize(
    ("joined", "used"),
    [([(4, 0)], [1, 2]), ([(3, 0), (2, 1)], [2, 2, 1]), ([(2, 0), (1, 1), (2, 2)], [1, 2, 1])],
)
def test_weights_are_the_chances_of_all_draws(joined, used):
    after = [releases for rows, releases in joined for _ in range(rows)]
    chances = [[Fraction(0)] * len(used) for _ in after]

    def draw(r, unspent, chance):
        if r == len(used):
            return
        choices = list(combinations([row for row in unspent if after[row] <= r], used[r]))
        for chosen in choices:
            for row in chosen:
                chances[row][r] += chance / len(choices)
            draw(r + 1, unspent - set(chosen), chance / len(choices))

    draw(0, set(range(len(after))), Fraction(1))
    weights = releases.weights_of([{"rows": rows, "joined_after": releases} for rows, releases in joined], used)
    cohorts = [c for c, (rows, _) in enumerate(joined) for _ in range(rows)]
    assert [weights[c] for c in cohorts] == chances


def test_releases_that_do_not_fit_together_are_refused():
    document = released()
    changes = {
        "releases[1] does not prove a claim of the same epsilon": (("releases", 1, "claim", "delta"), "0.001"),
        "releases[0] uses 90 rows, of which 89 are left": (("cohorts", 0, "rows"), 89),
        "cohorts[1].joined_after: a whole number from 0 to 2": (("cohorts", 1, "joined_after"), 3),
        "cohorts and releases: a list of at least one each": (("cohorts",), []),
        "the certificate: a table with exactly the keys claim, format, situation": (("releases", 0), document),
    }
    for message, (path, value) in changes.items():
        changed = altered(document, path, value)
        if path[-1] == "delta":
            changed["releases"][1] = restated(document["releases"][1], Fraction(value))
        with pytest.raises(CertificateError, match=re.escape(message)):
            check(changed)
    other = altered(document, ("releases", 2), released_at("0.2"))
    with pytest.raises(CertificateError, match=re.escape("releases[2] does not prove a claim of the same epsilon")):
        check(other)
    with pytest.raises(CertificateError, match="a list of at least one each"):
        check({**document, "releases": []})


def released_at(epsilon):
    curve = sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(50))
    return curve.certify(epsilon=epsilon, delta="0.05").document


def test_it_is_a_value():
    curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
    made = curve.certify(epsilon="0.005", delta="0.0226")
    assert made == curve.certify(epsilon=Fraction(1, 200), delta=Fraction(226, 10_000))
    assert hash(made) == hash(curve.certify(epsilon="0.005", delta="0.0226"))
    assert str(made) == made.text
    assert json.loads(made.text) == made.document
    assert repr(made) == "<Certificate: epsilon = 0.005, delta = 0.0226>"
    assert len(made.text) < 1000


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"epsilon": -1, "delta": "0.1"}, sp.ArgumentError, "epsilon = -1; a number from 0 to 1000 can be certified"),
        ({"epsilon": 1, "delta": 2}, sp.ArgumentError, "delta = 2; a number from 0 to 1 is required"),
        ({"epsilon": "0.005", "delta": "0.02257"}, sp.ArgumentError, "delta(0.005) is at least 0.0225737761899"),
    ],
)
def test_false_and_impossible_claims_are_refused(arguments, error, message):
    curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
    with pytest.raises(error, match=re.escape(message)):
        curve.certify(**arguments)


def test_what_cannot_be_certified_is_said():
    people = sp.Population(20)
    curves = [
        (sp.privacy_curve(sp.SumQuery({0: "1/2", 1: "1/4", 5: "1/4"}), people), "only counts with one p"),
        (sp.privacy_curve(sp.HistogramQuery(["1/2", "1/2", 0]), people), "only cells of p strictly between 0 and 1"),
        (sp.privacy_curve(sp.PropertyQuery(["1/2"] * 19 + ["1/3"]), people), "only counts with one p"),
        (sp.privacy_curve(sp.PropertyQuery(sp.Between(0, "1/2")), people), "only p strictly between 0 and 1"),
        (sp.privacy_curve(sp.PropertyQuery("1/2"), people, sampling=sp.WithReplacement(5)), "cannot be certified; all"),
    ]
    for curve, message in curves:
        with pytest.raises(sp.NotAvailableError, match=message):
            curve.certify(epsilon="0.1", delta=1)
    rare = sp.privacy_curve(sp.PropertyQuery("1e-4000"), people)
    with pytest.raises(sp.NotAvailableError, match="cannot be certified; fractions of up to 8192 bits can"):
        rare.certify(epsilon="0.1", delta=1)
    unrelated = sp.compose([sp.PropertyQuery("1/2")] * 2, people, sp.RandomPartition([10, 10]))
    with pytest.raises(sp.ArgumentError, match=r"the claim is false, delta\(0\.005\) is at least 0\.17"):
        unrelated.certify(epsilon="0.005", delta="0.001")
    known = sp.compose(
        [sp.PropertyQuery("1/2")] * 2, people, sp.RandomPartition([10, 10]), adversary=sp.Adversary(known=1)
    )
    with pytest.raises(sp.NotAvailableError, match=r"partition-sum gives 0\.2"):
        known.certify(epsilon="0.005", delta="0.001")


def test_a_kernel_that_is_wrong_is_noticed(monkeypatch):
    from statpriv.assurance import certificate as certificates

    monkeypatch.setattr(certificates, "_computed", lambda *_: {"lower": "0.0225", "upper": "0.0225"})
    curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
    with pytest.raises(
        sp.DisagreementError, match=r"the checker contradicts the kernel, please report it: witness\.delta"
    ):
        curve.certify(epsilon="0.005", delta="0.0226")


def test_every_product_of_small_situations_is_proved_or_refuted_rightly():
    """Both verdicts, against enumeration, for all small counts."""
    for n, p, r_epsilon in product(range(1, 7), ("1/2", "1/5"), ("0", "0.5", "2")):
        situation = of_situation([(p, n, 1, None)], n)
        found = claims.delta_of(situation, "total-count", Fraction(r_epsilon), 200)
        low, high = (
            max(enumerated(n, chance, Fraction(1), r) for chance in (Fraction(p), 1 - Fraction(p)))
            for r in reversed(counts.exponential(Fraction(r_epsilon), 300))
        )
        assert found[0] <= high
        assert low <= found[1]
        assert found[1] - found[0] < Fraction(1, 2**150)
