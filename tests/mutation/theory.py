"""A random sample of the mutants of the Python theory, each tried with the tests that run its line.

    python tests/mutation/theory.py --count 200 --seed 1 --work FOLDER --coverage FILE --durations FILE --report FILE

Needs cosmic-ray, which makes the mutants, and coverage data, which tell the tests of each line. The commands are in
docs/explanation/mutation-testing.md. For each file, places are drawn, and then one mutant of each place. Replacements
of arithmetic by bit operations and shifts are left out, because every test notices them. Annotations are left out,
because nothing evaluates them.

The tests of a mutant run in order of their duration, as far as they take forty seconds together. A mutant also
counts as noticed if they take three times as long plus half a minute, or more than six GiB of memory.
"""

from __future__ import annotations

import ast
import compileall
import json
import math
import multiprocessing
import os
import py_compile
import random
import re
import resource
import shutil
import signal
import sys
from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NoReturn

import cosmic_ray.plugins
import coverage
import hypothesis.strategies  # noqa: F401
import mpmath  # noqa: F401
import numpy as np  # noqa: F401  # imported here once for the tests of all mutants
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from reports import Report, arguments

ROOT = Path(__file__).parents[2]
PACKAGE = Path("python/statpriv")
THEORY = (
    "model/queries",
    "model/samplings.py",
    "lowering",
    "rules",
    "curves/curve.py",
)
LONGEST = 40
"""Maximum total duration of the tests of a mutant, in seconds."""
MEMORY = 6 * 2**30
"""Address space of the process of a mutant, in bytes."""
DECLARATIONS = ("tests/unit/test_declarations.py", "tests/docs/test_limitations.py")
"""Tests that read the declarations of modules without running their lines."""
ARITHMETIC = {"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"}


@dataclass(frozen=True)
class Mutant:
    """One operator of cosmic-ray at one place."""

    file: Path
    operator: str
    occurrence: int
    line: int
    column: int
    last: int

    @property
    def name(self) -> str:
        """The name of the mutant in the report."""
        return f"{self.file}:{self.line}:{self.column + 1}: {self.operator.removeprefix('core/')} {self.occurrence}"

    def code(self) -> str:
        """The text of the whole mutated file."""
        source = (ROOT / self.file).read_text(encoding="utf-8")
        changed = mutate_code(source, cosmic_ray.plugins.get_operator(self.operator)(), self.occurrence)
        return str(changed)


def operators() -> list[str]:
    """The operators of cosmic-ray that need no arguments and keep arithmetic within arithmetic."""
    found = []
    for name in cosmic_ray.plugins.operator_names():
        binary = re.fullmatch(r"core/ReplaceBinaryOperator_(\w+)_(\w+)", name)
        if cosmic_ray.plugins.get_operator(name).arguments() or name.endswith("NoOp"):
            continue
        if not binary or {binary[1], binary[2]} <= ARITHMETIC:
            found.append(name)
    return sorted(found)


def annotated(source: str) -> set[tuple[int, int]]:
    """The places (line, column) inside annotations."""
    inside = set()
    for node in ast.walk(ast.parse(source)):
        written = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        for part in (inner for one in written if isinstance(one, ast.AST) for inner in ast.walk(one)):
            if isinstance(part, ast.expr):
                inside.update(
                    (part.lineno, column) for column in range(part.col_offset, (part.end_col_offset or 0) + 1)
                )
    return inside


def mutants(file: Path) -> list[Mutant]:
    """All mutants of a file, except those inside annotations."""
    source = (ROOT / file).read_text(encoding="utf-8")
    tree, unread = get_ast(source), annotated(source)
    found = []
    for name in operators():
        operator = cosmic_ray.plugins.get_operator(name)()
        places = (place for node in ast_nodes(tree) for place in operator.mutation_positions(node))
        for occurrence, (start, end) in enumerate(places):
            if tuple(start) not in unread:
                found.append(Mutant(file, name, occurrence, start[0], start[1], end[0]))
    return found


def draw(count: int, seed: int) -> tuple[list[Mutant], dict[str, int]]:
    """A sample of mutants, in proportion to the number of places in each file, and this number for each file."""
    generator = random.Random(seed)  # noqa: S311  # reproducible, not secret
    files = sorted(
        file.relative_to(ROOT)
        for name in THEORY
        for file in ([ROOT / PACKAGE / name] if name.endswith(".py") else (ROOT / PACKAGE / name).glob("*.py"))
    )
    places: dict[Path, dict[tuple[int, int], list[Mutant]]] = {file: defaultdict(list) for file in files}
    for file in files:
        for mutant in mutants(file):
            places[file][mutant.line, mutant.column].append(mutant)
    total = sum(len(found) for found in places.values())
    sample = []
    for found in places.values():
        share = min(len(found), max(1, round(count * len(found) / total))) if found else 0
        sample += [generator.choice(found[place]) for place in generator.sample(sorted(found), share)]
    return sample, {str(file): len(found) for file, found in places.items()}


def tests_of(data: coverage.CoverageData, seconds: dict[str, float], mutant: Mutant) -> list[str]:
    """The tests that ran the lines of a mutant, quick ones first.

    For a mutant that runs on import, these are the tests that read declarations or ran lines that use it. After them
    come all other tests that ran a line of its file.
    """
    contexts = data.contexts_by_lineno(str(ROOT / mutant.file))
    near = {context for line in range(mutant.line, mutant.last + 1) for context in contexts.get(line, [])}
    far: set[str] = set()
    if "" in near or not near:
        near = {name for name in seconds if name.startswith(DECLARATIONS)}
        for file, lines in where_used(mutant).items():
            ran = data.contexts_by_lineno(str(ROOT / file))
            near |= {context for line in lines for context in ran.get(line, [])}
        far = {context for known in contexts.values() for context in known} - {""} or data.measured_contexts()
    tests, others = ({context.rpartition("|")[0] or context for context in found if context} for found in (near, far))
    names = sorted(tests, key=seconds.__getitem__) + sorted(others - tests, key=seconds.__getitem__)
    together = accumulate(seconds[name] for name in names)
    return [name for name, so_far in zip(names, together, strict=True) if so_far <= LONGEST]


def where_used(mutant: Mutant) -> dict[Path, set[int]]:
    """The lines that depend on a declaration: the body of what it decorates or signs, or lines that read its name."""
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    used: dict[Path, set[int]] = defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first <= mutant.line < node.body[0].lineno:
                used[mutant.file] |= set(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.lineno <= mutant.line <= (node.end_lineno or 0):
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            for file in (ROOT / PACKAGE).rglob("*.py"):
                inner = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                read = (found for found in inner if isinstance(found, ast.Name) and found.id in names)
                used[file.relative_to(ROOT)] |= {found.lineno for found in read if found is not node.targets[0]}
    return used


class Chosen:
    """A pytest plugin that runs only these tests, in this order."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {name: place for place, name in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid]
        )


def outcome(mutant: Mutant, tests: list[str], tree: Path, limit: float) -> tuple[str, str]:
    """The outcome of a mutant, and the test that noticed it.

    The tests run in a forked process, which has everything but the library loaded already.
    """
    if not tests:
        return "missed", "no test runs it"
    changed = tree / mutant.file
    changed.write_text(mutant.code(), encoding="utf-8")
    log = tree / "log"
    child = os.fork()
    if child == 0:
        _test(tree, tests, log, limit)
    _, status = os.waitpid(child, 0)
    shutil.copy(ROOT / mutant.file, changed)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return "missed", ""
    said = log.read_text(encoding="utf-8")
    if code == -signal.SIGABRT or "MemoryError" in said:
        return "timeout", "memory"
    noticed = re.search(r"^(?:FAILED|ERROR|ImportError while loading conftest) (\S+)", said, re.MULTILINE)
    if noticed:
        return "caught", noticed[1]
    if code == -signal.SIGXCPU:
        return "timeout", ""
    raise RuntimeError(f"{mutant.name}: {code}, {said[-500:]}")


def tried(task: tuple[Mutant, list[str], float, Path]) -> tuple[str, tuple[str, str]]:
    """The name of a mutant and its outcome. It is tried in this process's own copy of the tree."""
    mutant, tests, limit, work = task
    tree = work / f"tree{os.getpid()}"
    if not tree.exists():
        for name in ("python", "tests", "docs"):
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tree)
        # Compiled files are checked by the hash of the text: a time stamp could miss a change that comes
        # quickly.
        compileall.compile_dir(tree, quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    return mutant.name, outcome(mutant, tests, tree, limit)


def _test(tree: Path, tests: list[str], log: Path, limit: float) -> NoReturn:
    """Runs the tests until one fails, and exits this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(tree)
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(tree / "python"), str(tree / "tests/mutation")]
    files = sorted({name.split("::")[0] for name in tests})
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "steady", "--assert=plain", "--tb=no"]
    code = pytest.main([*options, *files], plugins=[Chosen(tests)])
    sys.stdout.flush()
    os._exit(code)


def main() -> None:
    """Draws the mutants and tries them. The report is written after each mutant."""
    words = arguments()
    words.add_argument("--coverage", type=Path, required=True)
    words.add_argument("--durations", type=Path, required=True)
    given = words.parse_args()
    report = Report(given.report, given.seed)
    data = coverage.CoverageData(str(given.coverage))
    data.read()
    sample, places = draw(given.count, given.seed)
    random.Random(given.seed).shuffle(sample)  # noqa: S311
    seconds = json.loads(given.durations.read_text(encoding="utf-8"))
    tasks = []
    for mutant in sample:
        tests = tests_of(data, seconds, mutant)
        tasks.append((mutant, tests, 30 + 3 * sum(seconds[name] for name in tests), given.work))
    pool = multiprocessing.get_context("fork").Pool(given.jobs)
    for tried_so_far, (name, found) in enumerate(pool.imap_unordered(tried, tasks), start=1):
        report.note(name, found, {"mutants": places, "untried": len(sample) - tried_so_far})


if __name__ == "__main__":
    main()
