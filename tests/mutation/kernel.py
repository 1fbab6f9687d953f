"""A random sample of the mutants listed by cargo-mutants, compiled into one program and tried one by one.

    cargo mutants --list --json -p statpriv-core > LIST
    python tests/mutation/kernel.py LIST --count 400 --seed 1 --work FOLDER --report REPORT.json

Needs tree-sitter and tree-sitter-rust. A build takes minutes, but most tests take milliseconds. So every mutant of the
sample becomes a branch, ``if on(7) { a - b } else { a + b }``, and one build serves all of them. A run without mutants
records which tests reach which mutant. Only these tests run for it: no other test can notice it, because random tests
always draw the same inputs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import tree_sitter_rust
from reports import Report, arguments
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).parents[2]
SOURCES = "rust/core/src/"
SWITCH = """
/// Which mutant is on, and which were reached.
pub mod mutant {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static STATE: OnceLock<(u32, Option<String>)> = OnceLock::new();
    static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
    /// Whether this mutant is on.
    pub fn on(mutant: u32) -> bool {
        let (active, reached) = STATE.get_or_init(|| {
            let active = std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(u32::MAX);
            (active, std::env::var("REACHED").ok())
        });
        if let Some(path) = reached {
            if !REACHED[mutant as usize].swap(true, Ordering::Relaxed) {
                let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
                writeln!(file, "{mutant}").unwrap();
            }
        }
        *active == mutant
    }
}
"""
CONSTANT = (
    "const_item",
    "static_item",
    "array_type",
    "macro_invocation",
    "enum_variant",
    "const_block",
    "match_pattern",
)
CHAIN = "binary_expression"
# A line of a test program about one of its tests. The result is empty for the test that is still running.
TEST_RESULT = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. ?(\w*)", re.MULTILINE)
# Exit codes for the end of the processor time limit.
OUT_OF_TIME = (-signal.SIGXCPU, -signal.SIGKILL)
# Memory limit in bytes, since a mutant may ask for any amount. No test needs as much.
MEMORY = 4 << 30

# A test program and the name of a test in it.
Test: TypeAlias = tuple[Path, str]


@dataclass(frozen=True)
class Mutant:
    """One change listed by cargo-mutants."""

    number: int
    name: str
    file: str
    kind: str
    replacement: str
    start: int
    end: int


def directory(file: str) -> str:
    """The folder or the file directly below ``src``, such as `laws` or `ball`."""
    return file.removeprefix(SOURCES).split("/")[0].removesuffix(".rs")


def draw(listed: list[dict[str, Any]], count: int, seed: int) -> list[dict[str, Any]]:
    """A sample without replacement from every directory, in proportion to its number of mutants."""
    strata = defaultdict(list)
    for mutant in listed:
        strata[directory(mutant["file"])].append(mutant)
    generator = random.Random(seed)  # noqa: S311  # reproducible, not secret
    drawn = []
    for name in sorted(strata):
        share = min(len(strata[name]), max(3, round(count * len(strata[name]) / len(listed))))
        drawn += generator.sample(sorted(strata[name], key=lambda mutant: str(mutant["name"])), share)
    return drawn


class Source:
    """A source file whose mutants become branches."""

    def __init__(self, text: bytes) -> None:
        self.bytes = text
        self.lines = [0]
        for line in self.bytes.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.root = Parser(Language(tree_sitter_rust.language())).parse(self.bytes).root_node
        self.edits: dict[int, tuple[Node, list[Mutant]]] = {}

    def offset(self, position: dict[str, int]) -> int:
        """The byte offset of a line and column. Both count from one, and columns count characters."""
        start = self.lines[position["line"] - 1]
        text = self.bytes[start : self.lines[position["line"]]].decode()
        return start + len(text[: position["column"] - 1].encode())

    def place(self, mutant: Mutant) -> bool:
        """Records the node that becomes a branch. Returns whether there is one."""
        node = self.root.descendant_for_byte_range(mutant.start, mutant.end)
        node = self._node(node, mutant)
        if node is None or _is_constant(node) or "-> impl" in mutant.name:
            return False
        self.edits.setdefault(node.start_byte if node.type != "block" else -node.start_byte, (node, []))[1].append(
            mutant
        )
        return True

    @staticmethod
    def _node(node: Node | None, mutant: Mutant) -> Node | None:
        wanted = {
            "BinaryOperator": (CHAIN, "compound_assignment_expr"),
            "UnaryOperator": ("unary_expression",),
            "MatchArm": ("match_arm",),
            "MatchArmGuard": ("match_pattern",),
            "StructField": ("field_initializer",),
            "FnValue": ("block",),
        }[mutant.kind]
        while node is not None and node.type not in wanted:
            if mutant.kind == "BinaryOperator" and node.type in {"let_chain", "block"}:
                return None
            node = node.parent
        while node is not None and node.type == CHAIN and node.parent is not None and node.parent.type == CHAIN:
            node = node.parent
        return node

    def rendered(self, live: set[int]) -> bytes:
        """The text of the file with the mutants in `live` as branches."""
        at = defaultdict(list)
        for node, mutants in self.edits.values():
            kept = [mutant for mutant in mutants if mutant.number in live]
            if kept:
                at[node.id].extend(kept)
        return self._render(self.root, at)

    def _render(self, node: Node, at: dict[int, list[Mutant]], changes: tuple[Mutant, ...] = ()) -> bytes:
        mutants = at.get(node.id, [])
        plain = self._joined(node, at, changes)
        if not mutants:
            return plain
        if node.type == "block":
            returns = b"".join(
                b"if crate::mutant::on(%d) { return %s; }" % (m.number, _marked(m, m.replacement.encode()))
                for m in mutants
            )
            return b"{ " + returns + plain[1:]
        if node.type in {"match_arm", "match_pattern"}:
            return self._guarded(node, plain, mutants)
        if node.type == "field_initializer":
            base = next(child for child in node.parent.named_children if child.type == "base_field_initializer")
            name = node.child_by_field_name("field")
            value = self.bytes[base.start_byte + 2 : base.end_byte]
            field = self.bytes[name.start_byte : name.end_byte]
            inner = plain.split(b":", 1)[1] if b":" in plain else field
            taken = _marked(mutants[0], b"(%s).%s" % (value, field))
            return b"%s: if crate::mutant::on(%d) { %s } else { %s }" % (field, mutants[0].number, taken, inner)
        branches = b"".join(
            b"if crate::mutant::on(%d) { %s } else " % (m.number, _marked(m, self._joined(node, at, (m,))))
            for m in mutants
        )
        return b"(" + branches + b"{ " + plain + b" })"

    @staticmethod
    def _guarded(node: Node, plain: bytes, mutants: list[Mutant]) -> bytes:
        if node.type == "match_arm":
            pattern, rest = plain.split(b"=>", 1)
            off = b"!crate::mutant::on(%d)" % mutants[0].number
            if re.search(rb"\bif\b", pattern):
                head, guard = re.split(rb"\bif\b", pattern, maxsplit=1)
                return head + b"if " + off + b" && (" + guard + b") =>" + rest
            return pattern + b" if " + _marked(mutants[0], off) + b" =>" + rest
        head, guard = re.split(rb"\bif\b", plain, maxsplit=1)
        for mutant in mutants:
            on = b"crate::mutant::on(%d)" % mutant.number
            joined = b"%s || (%s)" if mutant.replacement == "true" else b"!%s && (%s)"
            guard = joined % (on, guard)
        return head + b"if " + guard

    def _joined(self, node: Node, at: dict[int, list[Mutant]], changes: tuple[Mutant, ...]) -> bytes:
        """The text of a node with its children rendered. The operators of the mutants in `changes` are replaced."""
        parts, position = [], node.start_byte
        for child in node.children:
            parts.append(self.bytes[position : child.start_byte])
            change = next((m for m in changes if (m.start, m.end) == (child.start_byte, child.end_byte)), None)
            if change is None:
                inside = tuple(m for m in changes if child.start_byte <= m.start < child.end_byte)
                parts.append(self._render(child, at, inside))
            else:
                parts.append(change.replacement.encode())
            position = child.end_byte
        return b"".join([*parts, self.bytes[position : node.end_byte]])


def _marked(mutant: Mutant, text: bytes) -> bytes:
    """The text between marks, by which a compiler error is traced to its mutant."""
    return b"/*@%d*/%s/*@*/" % (mutant.number, text)


def _is_constant(node: Node) -> bool:
    """Whether the compiler evaluates the node. In that case, it cannot be switched at run time."""
    at: Node | None = node
    while at is not None:
        if at.type in CONSTANT and at is not node:
            return True
        if at.type == "function_item":
            modifiers = [child for child in at.children if child.type == "function_modifiers"]
            return any(b"const" in (child.text or b"") for child in modifiers)
        at = at.parent
    return False


def _write(path: Path, text: bytes) -> None:
    """Writes a file only if its text is new, so that unchanged files are not built again."""
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


class Build:
    """A copy of the tree with the mutants as branches."""

    def __init__(self, work: Path, sample: list[dict[str, Any]]) -> None:
        self.tree = work / "tree"
        mutated = {SOURCES + "lib.rs", *(listed["file"] for listed in sample)}
        for path in (ROOT / "Cargo.toml", ROOT / "Cargo.lock", *(ROOT / "rust").rglob("*")):
            if path.is_file() and str(path.relative_to(ROOT)) not in mutated:
                _write(self.tree / path.relative_to(ROOT), path.read_bytes())
        self.environment = os.environ | {"CARGO_TARGET_DIR": str(work / "target"), "CARGO_PROFILE_DEV_DEBUG": "0"}
        self.sources: dict[str, Source] = {}
        self.mutants: dict[int, Mutant] = {}
        self.elsewhere: list[str] = []
        for number, listed in enumerate(sample):
            file = listed["file"]
            source = self.sources.setdefault(file, Source((ROOT / file).read_bytes()))
            mutant = Mutant(
                number, listed["name"], file, listed["genre"], listed["replacement"],
                source.offset(listed["span"]["start"]), source.offset(listed["span"]["end"]),
            )  # fmt: skip
            if source.place(mutant):
                self.mutants[number] = mutant
            else:
                self.elsewhere.append(mutant.name)
        library = (ROOT / SOURCES / "lib.rs").read_text(encoding="utf-8")
        _write(self.tree / SOURCES / "lib.rs", (library + SWITCH.replace("COUNT", str(len(sample)))).encode())

    def viable(self) -> set[int]:
        """The mutants that compile. Those that failed in an earlier run in this folder are not tried again."""
        broken = self.tree / "unviable.json"
        known = set(json.loads(broken.read_text(encoding="utf-8"))) if broken.exists() else set()
        live = {number for number, mutant in self.mutants.items() if mutant.name not in known}
        while True:
            for file, source in self.sources.items():
                _write(self.tree / file, source.rendered(live))
            done = self._cargo("check", "-q", "--message-format=json", "-p", "statpriv-core")
            if done.returncode == 0:
                names = {mutant.name for number, mutant in self.mutants.items() if number not in live}
                broken.write_text(json.dumps(sorted(known | names)), encoding="utf-8")
                return live
            wrong = self._culprits(done.stdout)
            if not wrong & live:
                sys.exit(done.stdout[-3000:] + done.stderr)
            live -= wrong

    def _culprits(self, messages: str) -> set[int]:
        found = set()
        for line in messages.splitlines():
            message = json.loads(line).get("message") or {}
            if message.get("level") != "error":
                continue
            for span in message["spans"]:
                text = (self.tree / span["file_name"]).read_bytes()
                opened = list(re.finditer(rb"/\*@(\d*)\*/", text[: span["byte_end"]]))
                inside = [int(mark[1]) for mark in opened if mark[1] and mark.end() <= span["byte_start"]]
                closed = sum(1 for mark in opened if not mark[1] and mark.end() <= span["byte_start"])
                if len(inside) > closed:
                    found.add(inside[-1])
        return found

    def binaries(self) -> list[Path]:
        """The test programs of the kernel."""
        done = self._cargo("test", "-q", "--no-run", "--message-format=json", "-p", "statpriv-core", "--lib", "--tests")
        if done.returncode:
            sys.exit(done.stderr)
        built = [json.loads(line) for line in done.stdout.splitlines()]
        return [Path(one["executable"]) for one in built if one.get("executable")]

    def _cargo(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["cargo", *words],
            cwd=self.tree, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip


class Suite:
    """The tests, and which of them reach which mutant."""

    def __init__(self, binaries: list[Path], work: Path, folder: Path, given: argparse.Namespace) -> None:
        self.folder, self.work, self.slow, self.bits_first = folder, work, given.slow, given.bits_first
        tests = ((binary, name) for binary in binaries for name in self._names(binary))
        self.tests = [test for test in tests if re.search(given.tests, f"{test[0].name}::{test[1]}")]
        self.seconds: dict[Test, float] = {}
        self.reach: dict[int, list[Test]] = defaultdict(list)
        self.failing: list[str] = []
        self.slow_ones: list[str] = []

    def _names(self, binary: Path) -> list[str]:
        done = subprocess.run([binary, "--list"], cwd=self.folder, capture_output=True, text=True, check=True)
        return [line.removesuffix(": test") for line in done.stdout.splitlines() if line.endswith(": test")]

    def survey(self, pool: ThreadPoolExecutor) -> None:
        """Runs every test alone, without a mutant. Tests that fail or take too long are left out.

        Tests of stored bits that take too long are still used for the mutants that they reach within the limit.
        """
        for test, (status, seconds, reached) in zip(self.tests, pool.map(self._alone, self.tests), strict=True):
            self.seconds[test] = seconds
            if status in OUT_OF_TIME:
                self.slow_ones.append(test[1])
                # They must run to the end once, to show that they pass without a mutant.
                if _is_bits(test) and self._run(test[0], [test[1]], {}, 60 * self.slow)[0]:
                    self.failing.append(test[1])
                    continue
            elif status:
                self.failing.append(test[1])
            if status and not (status in OUT_OF_TIME and _is_bits(test)):
                continue
            for mutant in reached:
                self.reach[mutant].append(test)

    def _alone(self, test: Test) -> tuple[int, float, list[int]]:
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            log = Path(folder) / "reached"
            status, seconds, _ = self._run(test[0], [test[1]], {"REACHED": str(log)}, self.slow)
            return status, seconds, [int(line) for line in log.read_text().split()] if log.exists() else []

    def outcome(self, mutant: int) -> tuple[str, str]:
        """The outcome of a mutant, and the test that noticed it.

        Tests of the mathematics run before those of stored bits, unless `bits_first` is set.
        """
        tests = sorted(self.reach[mutant], key=lambda test: (_is_bits(test) != self.bits_first, self.seconds[test]))
        while tests:
            alike = (tests[0][0], _is_bits(tests[0]))
            quick = [test for test in tests if (test[0], _is_bits(test)) == alike and self.seconds[test] < 0.1]
            batch = quick[:12] or tests[:1]
            if batch[0] != tests[0]:
                batch = tests[:1]
            tests = [test for test in tests if test not in batch]
            names = [name for _, name in batch]
            status, _, noticed_by = self._run(
                batch[0][0], names, {"MUTANT": str(mutant)}, 4 + 10 * sum(map(self.seconds.get, batch))
            )
            # A timeout of a test that was too slow without a mutant is no evidence.
            if status and not (status in OUT_OF_TIME and batch[0][1] in self.slow_ones):
                how = "timeout" if status in OUT_OF_TIME else "caught"
                return ("bits" if _is_bits(batch[0]) else how), noticed_by
        return "missed", ""

    def _run(self, binary: Path, names: list[str], variables: dict[str, str], limit: float) -> tuple[int, float, str]:
        """The exit status, the processor time, and the first test that failed. A signal gives a negative status.

        If a signal ended the program, the test is the one that was running: each test is named before it runs.
        """
        words = [binary, "--exact", "--test-threads=1", *names]
        steady = {"PROPTEST_RNG_SEED": "1", "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1", "RUST_BACKTRACE": "0"}
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                words,
                cwd=self.folder,
                env=os.environ | steady | variables,
                stdout=output,
                stderr=subprocess.DEVNULL,
                preexec_fn=lambda: _limit(math.ceil(limit)),
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            results = TEST_RESULT.findall(output.read().decode(errors="replace"))
        noticed_by = next((name for name, result in results if result != "ok"), "")
        return process.returncode, used.ru_utime + used.ru_stime, noticed_by


def _is_bits(test: Test) -> bool:
    """Whether the test compares with stored earlier results bit by bit. Such a test notices a change, not an error."""
    return test[0].name.startswith("same_bits-")


def _limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> None:
    """Draws the mutants, builds the program and tries them. The report is written after each mutant."""
    words = arguments()
    words.add_argument("listed", type=Path)
    words.add_argument("--names", type=Path, help="a list of mutants to be tried in place of a sample")
    words.add_argument("--slow", type=float, default=3, help="tests that take more seconds are left out")
    words.add_argument("--only", nargs="+", help="the directories and files right below src that are drawn from")
    words.add_argument(
        "--bits-first", action="store_true", help="ask stored bits first: sooner to what nothing notices"
    )
    words.add_argument("--tests", default="", help="ask only tests whose program::name holds this regular expression")
    given = words.parse_args()
    report = Report(given.report, given.seed)
    listed = [one for one in json.loads(given.listed.read_text()) if one["file"].startswith(SOURCES)]
    if given.only:
        listed = [one for one in listed if directory(one["file"]) in given.only]
    if given.names:
        names = set(given.names.read_text(encoding="utf-8").splitlines())
        sample = [one for one in listed if one["name"] in names]
    else:
        sample = draw(listed, given.count, given.seed)
    given.work.mkdir(parents=True, exist_ok=True)
    build = Build(given.work, sample)
    live = build.viable()
    print(len(sample), "drawn,", len(build.elsewhere), "constant,", len(live), "viable", flush=True)
    suite = Suite(build.binaries(), given.work, build.tree / "rust/core", given)
    print(f"built after {report.seconds()} s", flush=True)
    pool = ThreadPoolExecutor(given.jobs)
    suite.survey(pool)
    print(f"surveyed after {report.seconds()} s; fail without a mutant and are left out: {suite.failing}", flush=True)
    for mutant in build.mutants.values():
        if mutant.number not in live:
            report.outcomes[mutant.name] = ("unviable", "")
    order = sorted(live)
    random.Random(given.seed).shuffle(order)  # noqa: S311
    left = [build.mutants[number].name for number in order]
    for number, outcome in zip(order, pool.map(suite.outcome, order), strict=True):
        left.remove(build.mutants[number].name)
        about = {
            "mutants": Counter(one["file"] for one in listed),
            "not switched": build.elsewhere,
            "not tried": left,
            "not reached": [build.mutants[other].name for other in order if not suite.reach[other]],
            "failing": suite.failing,
            "slow": suite.slow_ones,
        }
        report.note(build.mutants[number].name, outcome, about)


if __name__ == "__main__":
    main()
