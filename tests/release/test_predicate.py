"""What a `where` may say, what it is refused for, and that its rendering means what was written."""

from __future__ import annotations

import datetime
import itertools
import re
import subprocess
import sys
import time

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statpriv.errors import PlanError
from statpriv.releasing.predicate import Predicate

from ..cases import cases

FUNCTION = "functions, casts and subqueries are not allowed"
KEYWORD = "is a word of SQL that this language does not have"
SHAPE = "only comparisons of a column with constants"
DECIMAL = "is not a plain decimal such as 1000 or 0.25"
QUOTES = "text is written in single quotes, with no prefix: 'it''s'"
UNREADABLE = "write comparisons such as age >= 18, joined by AND, OR and NOT"

REFUSED = {
    "vote=0; DROP TABLE t": """";": only one condition is allowed, without ';'""",
    "vote=0;": "only one condition is allowed, without ';'",
    "vote=0) OR (1=1": "a ')' closes a parenthesis that was never opened",
    "(vote=0": "a parenthesis is opened and not closed",
    "1=1": "a comparison takes one column and one constant",
    "TRUE": "a constant alone is not a condition: compare a column with it",
    "NULL": "a constant alone is not a condition",
    "vote": "the column vote alone is not a condition: write vote = TRUE, vote <> 0 or vote IS NOT NULL",
    "vote=0 AND (age)": "the column age alone is not a condition",
    "vote=0 UNION SELECT 1": f'"UNION" {KEYWORD}; a column of that name needs double quotes around it',
    "EXISTS(SELECT 1 FROM read_text('x'))": f'"read_text(…)": {FUNCTION}',
    "EXISTS(SELECT 1)": f'"EXISTS" {KEYWORD}',
    "age>(SELECT avg(age) FROM t)": f'"avg(…)": {FUNCTION}',
    "age>(SELECT age FROM t)": f'"SELECT" {KEYWORD}',
    "sum(vote)>3": f'"sum(…)": {FUNCTION}; compare columns with constants',
    "row_number() OVER ()<=5": f'"row_number(…)": {FUNCTION}',
    "random()<0.5": f'"random(…)": {FUNCTION}',
    "id=17": '"id" identifies rows (row_id), and no predicate may single out rows',
    'age>5 AND "Id" IS NULL': '"Id" identifies rows (row_id)',
    "rowid=17": '"rowid" is the position of a row, and no predicate may single out rows',
    "1/(vote-3)>0": '"/": arithmetic is not allowed: compare the column itself with a constant',
    "CAST(name AS INT)>0": f'"CAST(…)": {FUNCTION}',
    "TRY_CAST(name AS INT)>0": f'"TRY_CAST(…)": {FUNCTION}',
    "name::INT>0": '"::": casts are not allowed',
    "age*age>5": '"*": arithmetic is not allowed',
    "age-1=2": "arithmetic is not allowed",
    "-age=2": "a comparison takes one column and one constant",
    "CASE WHEN vote=1 THEN error('x') ELSE 1 END = 1": f"\"error(…)\": {FUNCTION}",
    "CASE WHEN vote=1 THEN TRUE END": f'"CASE" {KEYWORD}',
    "regexp_matches(name,'(a+)+b')": f'"regexp_matches(…)": {FUNCTION}',
    "name COLLATE NOCASE='x'": f'"COLLATE" {KEYWORD}',
    "current_date>d": f'"current_date" {KEYWORD}',
    "getenv('HOME')=name": f'"getenv(…)": {FUNCTION}',
    "mymacro(vote)": f'"mymacro(…)": {FUNCTION}',
    '"mymacro"(vote)': FUNCTION,
    "t.vote=0": "the name of a column takes no prefix: write vote, not t.vote",
    "vote=NULL": "NULL is not a value to compare with: write vote IS NULL or vote IS NOT NULL",
    '"my vote"<>NULL': 'write "my vote" IS NULL or "my vote" IS NOT NULL',
    "vote IS DISTINCT FROM NULL": "write vote IS NULL or vote IS NOT NULL",
    "vote NOT IN (1,NULL)": "NULL is not a value to compare with: write vote IS NULL or vote IS NOT NULL",
    "vote=0x10": f'the number "0x10" {DECIMAL}',
    "vote=1e400": f'the number "1e400" {DECIMAL}',
    "vote=1_000": f'the number "1_000" {DECIMAL}',
    "vote=1.5f": f'the number "1.5f" {DECIMAL}',
    "d>DATE '2020-13-01'": '"2020-13-01" is not a day of the calendar, written as 2020-12-31',
    "d>DATE '20200101'": '"20200101" is not a day of the calendar',
    "d>DATE 'today'": '"today" is not a day of the calendar',
    "d>DATE('2020-01-01')": f'"DATE(…)": {FUNCTION}',
    "d>TIMESTAMP '2020-01-01'": f'"TIMESTAMP" {KEYWORD}',
    "@vote=1": '"@": parameters are not allowed: write the constant itself',
    "vote=$1": '"$": parameters are not allowed',
    "vote=?": '"?": parameters are not allowed',
    "vote=:x": '":": parameters are not allowed',
    "COLUMNS('a')>1": f'"COLUMNS(…)": {FUNCTION}',
    "*=1": "arithmetic is not allowed",
    "vote=0 LIMIT 1": f'"LIMIT" {KEYWORD}',
    "vote=0 ORDER BY vote": '"ORDER BY" is not allowed',
    "vote=0 AS x": f'"AS" {KEYWORD}',
    "vote=0 x": f'it cannot be read near "x"; {UNREADABLE}',
    "vote=0 AND": UNREADABLE,
    "vote=0, age=1": f'it cannot be read near ","; {UNREADABLE}',
    "name LIKE '%a%a%a%a%b'": "the pattern of LIKE may hold at most 3 '%'",
    "name LIKE name": "the pattern of LIKE must be a constant text in quotes, such as name LIKE 'A%'",
    "name LIKE 5": "the pattern of LIKE must be a constant text in quotes",
    "'a' LIKE name": "LIKE takes a column and a pattern in quotes",
    "name LIKE 'a\\%'": "the pattern of LIKE may not hold a backslash",
    "name LIKE 'a' ESCAPE '!'": "LIKE takes no ESCAPE",
    "name LIKE ANY ('x')": f'"ANY" {KEYWORD}',
    "name ILIKE 'x'": "ILIKE is not allowed: write LIKE, or IN with every spelling",
    "name SIMILAR TO 'x'": '"SIMILAR TO" is not allowed',
    "name ~ 'x'": '"~" is not allowed',
    "": "it is empty; write a condition such as age >= 18",
    "  -- nothing": "it is empty",
    "vote=age": "two columns cannot be compared, only a column with a constant; text needs single quotes",
    'name="x"': "text needs single quotes",
    "1<age<3": "join several with AND",
    "(age>5)=TRUE": "a comparison takes one column and one constant",
    "(vote,age)=(1,2)": SHAPE,
    "vote IN age": SHAPE,
    "vote IN (SELECT 1)": f'"SELECT" {KEYWORD}',
    "vote IN ()": "IN takes a column and a list of constants, such as vote IN (1, 2)",
    "1 IN (vote)": "IN takes a column and a list of constants",
    "vote BETWEEN SYMMETRIC 2 AND 1": SHAPE,
    "1 BETWEEN vote AND 3": "BETWEEN takes a column and two constants",
    "vote IS 1": "IS takes NULL, TRUE, FALSE or DISTINCT FROM a constant",
    "vote IS UNKNOWN": '"UNKNOWN": write IS NULL',
    "vote ISNULL": '"ISNULL": write IS NULL',
    "b > TRUE": "TRUE and FALSE have no order here: use =, <>, IN or IS",
    "b BETWEEN FALSE AND TRUE": "TRUE and FALSE have no order here",
    "((vote=1) IS NULL AND age=1) IS NULL": "IS NULL of a condition cannot be nested in another",
    "vote IN (1,'x')": '"vote" is compared with a number and with a text: a column has one type',
    "vote=1 OR VOTE='x'": '"VOTE" is compared with a number and with a text',
    "age='x": "a quote or a comment is opened and not closed",
    "age=1 /* c": "a quote or a comment is opened and not closed",
    "name='x' 'y'": SHAPE,
    "name=E'x'": f"\"E'x'\" is not allowed: {QUOTES}",
    "name=N'x'": f"\"N'x'\" is not allowed: {QUOTES}",
    "name=$$x$$": f'"$$x$$" is not allowed: {QUOTES}',
    "name=x'01'": UNREADABLE,
    "name={{ x }}": '"{": templates and braces are not allowed',
    "vote=1 {# AND age=2 #}": '"{# AND age=2 #}" is not allowed',
    "`vote`=1": '"`" is not allowed',
    "vote[1]=1": '"[" is not allowed',
    "vote->'$.a'=1": '"->" is not allowed',
    '""=1': "the name of a column is empty",
    "vote=+1": '"+": arithmetic is not allowed',
    "vote=- -1": "a comparison takes one column and one constant",
    f"vote={'1' * 19}": "has more than 18 digits before or after the point",
    f"vote=0.{'1' * 19}": "has more than 18 digits before or after the point",
    "name='a\u202eb'": "it holds the character U+202E; control characters",
    "name='a\u2066b'": "it holds the character U+2066",
    "name='a\x00b'": "it holds the character U+0000",
    "vote=1\nAND age=2": "U+000A; control characters, line breaks and characters that change the direction "
    "of writing are not allowed: write the condition on one line",
    f"vote IN ({','.join('1' * 500)})": "502 columns, constants and operators; at most 500 are allowed",
    f"vote=1{' ' * 4096}": "it has 4102 characters; at most 4096 are allowed",
}  # fmt: skip


@pytest.mark.parametrize(("where", "reason"), REFUSED.items())
def test_what_is_outside_the_language_is_refused_with_a_sentence(where, reason):
    with pytest.raises(PlanError) as refusal:
        Predicate.parse(where, row_id="id")
    message = str(refusal.value)
    assert reason in message
    assert message.startswith('where = "')
    assert message.isprintable()
    assert len(message) < 400


@pytest.mark.parametrize(
    "where",
    [
        "(" * 5000 + "vote=1" + ")" * 5000,
        "(" * 2000 + "vote=1" + ")" * 2000,
        "NOT " * 1000 + "vote=1",
        "NOT (" * 600 + "vote=1" + ")" * 600,
        "vote=" + "- " * 2000 + "1",
        "CASE WHEN " * 400,
        "[" * 2000,
        "vote=1 " + "/**/" * 900 + "{# #}",
    ],
    ids=lambda where: where[:12],
)
def test_deep_nesting_is_refused_quickly_and_without_exhausting_the_stack(where):
    begin = time.process_time()
    with pytest.raises(PlanError, match=r"nested more than 20 deep|at most 4096|word of SQL|is not allowed"):
        Predicate.parse(where)
    assert time.process_time() - begin < 2  # of the processor: milliseconds, unless something is exponential


ACCEPTED = [
    ("""\"we""ird; col"='it''s'""", """\"we""ird; col" = 'it''s'""", {'we"ird; col': "text"}),
    ("name='; DROP TABLE t'", """\"name" = '; DROP TABLE t'""", {"name": "text"}),
    ("vote=0 -- c", '"vote" = 0', {"vote": "number"}),
    ("vote/*+ a */=0 /* b */", '"vote" = 0', {"vote": "number"}),
    ("(age>5) IS TRUE", '"age" > 5', {"age": "number"}),
    ('"select"=1', '"select" = 1', {"select": "number"}),
    ("age='18'", """\"age" = '18'""", {"age": "text"}),
    ("date >= DATE '2020-02-29'", """\"date" >= DATE '2020-02-29'""", {"date": "date"}),
    ("smoker IS NOT TRUE", '("smoker" = TRUE) IS NOT TRUE', {"smoker": "boolean"}),
    ("smoker <> TRUE", '"smoker" = FALSE', {"smoker": "boolean"}),
    ("vote IS NULL", '"vote" IS NULL', {"vote": "any"}),
    ("Vote IS NULL OR vote=1", '"Vote" IS NULL OR "vote" = 1', {"Vote": "number", "vote": "number"}),
    ("a=.50 or a= -007.10", '"a" IN (-7.1, 0.5)', {"a": "number"}),
    ("名前 = 'é'", """\"名前" = 'é'""", {"名前": "text"}),
    ("name = 'a\\'", """\"name" = 'a\\'""", {"name": "text"}),
    ("name LIKE '%a%b%'", """\"name" LIKE '%a%b%'""", {"name": "text"}),
    ("row_id_of_another=1", '"row_id_of_another" = 1', {"row_id_of_another": "number"}),
    (
        "a=123456789012345678.123456789012345678",
        '"a" = 123456789012345678.123456789012345678',
        {"a": "number"},
    ),
    (" OR ".join(f"a={k}" for k in range(125)), None, {"a": "number"}),
    (f"a IN ({','.join('1' * 498)})", '"a" = 1', {"a": "number"}),
    ("(" * 20 + "a=1" + ")" * 20, '"a" = 1', {"a": "number"}),
    ("NOT " * 20 + "a=1", '"a" = 1', {"a": "number"}),
]


@pytest.mark.parametrize(("where", "canonical", "types"), ACCEPTED)
def test_what_is_in_the_language_is_read(where, canonical, types):
    predicate = Predicate.parse(where, row_id="row_id")
    assert canonical in {None, predicate.canonical}
    assert predicate.column_types == types
    assert predicate.columns == tuple(types)
    assert predicate.text == where
    assert predicate.sql() == f"COALESCE(({predicate.canonical}), FALSE)"


SAME = [
    ["a=0", " a = 0", "((a)=(0))", "a==0.0", "a = 00", "0=a", "a IN (0)", "a=-0", "NOT a<>0",
     "not (a!=0)", "NOT NOT a=0", "a IS NOT DISTINCT FROM 0", "(a=0) IS TRUE", "(a<>0) IS FALSE"],
    ["age > 5", "5 < age", "NOT age <= 5", "NOT (5 >= age)"],
    ["a=1 AND b=2", "b=2 and a=1", "(b=2) AND (a=1) AND b=2", "NOT (a<>1 OR b<>2)"],
    ["a=1 OR a=2 OR b=3", "b=3 OR a IN (2,1)", "a=2 OR (b=3 OR a=1)", "NOT (a NOT IN (1,2) AND NOT b=3)"],
    ["a BETWEEN 1 AND 2", "a>=1 AND a<=2", "1<=a AND NOT a>2", "NOT a NOT BETWEEN 1.0 AND 2.0"],
    ["a<>1 AND a<>2", "a NOT IN (2,1)", "NOT (a=1 OR a=2)"],
    ["a IS NOT NULL", "NOT a IS NULL"],
    ["a IS DISTINCT FROM 1", "(a=1) IS NOT TRUE", "NOT a IS NOT DISTINCT FROM 1"],
    ["b IS TRUE", "b=TRUE", "b<>FALSE", "NOT b=FALSE", "b IN (TRUE)", "NOT (b IS NOT TRUE)"],
]  # fmt: skip


@pytest.mark.parametrize("spellings", SAME, ids=lambda spellings: spellings[0])
def test_spellings_of_one_predicate_have_one_canonical_text(spellings):
    assert len({Predicate.parse(where).canonical for where in spellings}) == 1
    assert len({Predicate.parse(where) for where in spellings}) == 1


DIFFERENT = [
    "a=1", "a='1'", "a=TRUE", "A=1", "a=10", "a=0.1", "a=-1", "a>1", "a>=1", "a<1", "a<=1", "a<>1",
    "a IS NULL", "a IS NOT NULL", "a IS DISTINCT FROM 1", "(a<>1) IS NOT TRUE",
    "(a=1) IS NULL", "(a=1) IS NOT NULL", "a LIKE '1'", "a NOT LIKE '1'", "a='1 '", "a='DATE'",
    "a=DATE '2020-01-01'", "a='2020-01-01'", "a IN (1,2)", "a NOT IN (1,2)", "a IN ('1, 2')",
    "a IN ('1','2')", "a=1 AND b=2", "a=1 OR b=2", "a=1 AND (b=2 OR c=3)", "(a=1 AND b=2) OR c=3",
    "a=2 AND b=1", '"a = 1 OR b"=2', "a='x'' OR ''1''=''1'", "a='x' OR a='1'",
]  # fmt: skip


def test_predicates_that_differ_have_different_canonical_texts():
    texts = [Predicate.parse(where).canonical for where in DIFFERENT]
    assert len(set(texts)) == len(DIFFERENT)


def test_a_missing_extra_says_which():
    code = "import sys; sys.modules['sqlglot'] = None; import statpriv.releasing.predicate"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError: a plan needs SQLGlot: pip install 'statpriv[release]'" in run.stderr


# --- random predicates against DuckDB and against three-valued logic in Python ---------------------

NUMBERS = {"-1": ["-1", "-01.0"], "0": ["0", "-0", "0.00"], "1.5": ["1.5", "01.50"], "2": ["2", "2.", "002"]}
TEXTS = {"": ["''"], "a": ["'a'"], "it's": ["'it''s'"], "ab": ["'ab'"]}
DAYS = {"2020-01-31": ["DATE '2020-01-31'", "date '2020-01-31'"], "1999-12-31": ["DATE '1999-12-31'"]}
TRUTHS = {"TRUE": ["TRUE", "true"], "FALSE": ["FALSE", "False"]}
LEXICONS = {"n": NUMBERS, 'm"; x': NUMBERS, "s": TEXTS, "d": DAYS, "b": TRUTHS}
SPELLED = {"n": ["n", '"n"'], 'm"; x': ['"m""; x"'], "s": ["s", '"s"'], "d": ["d"], "b": ["b", '"b"']}
PATTERNS = ["a%", "%", "_", "%'%", "a_%", "A", "[a]%"]
VALUES = {
    "n": [None, 0, 2, -1],
    'm"; x': [None, 1.5],
    "s": [None, "", "a", "it's", "ab"],
    "d": [None, datetime.date(2020, 1, 31)],
    "b": [None, True, False],
}
ROWS = [dict(zip(VALUES, row, strict=True)) for row in itertools.product(*VALUES.values())]
OPERATORS = {
    "=": lambda x, y: x == y,
    "<>": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}
FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@pytest.fixture(scope="module")
def table():
    connection = duckdb.connect()
    connection.execute('CREATE TABLE t (n INTEGER, "m""; x" DECIMAL(6, 2), s VARCHAR, d DATE, b BOOLEAN)')
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [list(row.values()) for row in ROWS])
    yield connection
    connection.close()


def selected(connection, condition):
    query = f"SELECT rowid FROM t WHERE {condition} ORDER BY rowid"  # noqa: S608  (it is the subject)
    return [position for (position,) in connection.execute(query).fetchall()]


def value_of(column, key):
    return {"d": datetime.date.fromisoformat, "b": "TRUE".__eq__, "s": str}.get(column, float)(key)


def comparisons(column):
    constant = st.sampled_from(sorted(LEXICONS[column]))
    operators = ["=", "<>"] if column == "b" else sorted(OPERATORS)
    kinds = [
        st.tuples(st.just("compare"), st.just(column), st.sampled_from(operators), constant),
        st.tuples(st.just("in"), st.just(column), st.booleans(), st.lists(constant, min_size=1, max_size=3)),
        st.tuples(st.just("distinct"), st.just(column), st.booleans(), constant),
    ]
    if column == "s":
        kinds.append(st.tuples(st.just("like"), st.just(column), st.booleans(), st.sampled_from(PATTERNS)))
    if column != "b":
        kinds.append(st.tuples(st.just("between"), st.just(column), st.booleans(), constant, constant))
    return st.one_of(kinds)


LEAVES = st.one_of(
    st.sampled_from(sorted(LEXICONS)).flatmap(comparisons),
    st.tuples(st.just("null"), st.sampled_from(sorted(LEXICONS)), st.booleans()),
    st.tuples(st.just("truth"), st.just(("column", "b")), st.booleans(), st.booleans()),
    st.tuples(st.just("truth"), st.sampled_from(["n", "s"]).flatmap(comparisons), st.booleans(), st.just(None)),
)
TREES = st.recursive(
    LEAVES,
    lambda trees: st.one_of(
        st.tuples(st.just("not"), trees),
        st.tuples(st.sampled_from(["and", "or"]), st.lists(trees, min_size=2, max_size=3)),
        st.tuples(st.just("truth"), trees, st.booleans(), st.booleans()),
    ),
    max_leaves=6,
)


def evaluate(tree, row):
    """SQL's three-valued logic, with None for NULL: the reference."""
    return MEANINGS[tree[0]](row, *tree[1:])


def junction(decisive, row, operands):
    values = [evaluate(operand, row) for operand in operands]
    return decisive if decisive in values else None if None in values else not decisive


def unless_null(meaning):
    return lambda row, column, *rest: None if row[column] is None else meaning(row[column], column, *rest)


def like(cell, negated, pattern):
    expression = re.escape(pattern).replace("%", ".*").replace("_", ".")
    return bool(re.fullmatch(expression, cell, re.DOTALL)) != negated


MEANINGS = {
    "column": lambda row, column: row[column],
    "not": lambda row, tree: None if (inner := evaluate(tree, row)) is None else not inner,
    "and": lambda row, operands: junction(False, row, operands),
    "or": lambda row, operands: junction(True, row, operands),
    "truth": lambda row, tree, negated, state: (evaluate(tree, row) is state) != negated,
    "null": lambda row, column, negated: (row[column] is None) != negated,
    "distinct": lambda row, column, equal, key: (
        (row[column] is not None and row[column] == value_of(column, key)) == equal
    ),
    "compare": unless_null(lambda cell, column, op, key: OPERATORS[op](cell, value_of(column, key))),
    "in": unless_null(lambda cell, column, negated, keys: (cell in [value_of(column, key) for key in keys]) != negated),
    "between": unless_null(
        lambda cell, column, negated, low, high: (value_of(column, low) <= cell <= value_of(column, high)) != negated
    ),
    "like": unless_null(lambda cell, _, negated, pattern: like(cell, negated, pattern)),
}


class Speller:
    """Writes a tree as SQL, choosing at random among spellings of the same meaning."""

    def __init__(self, random, parenthesise=lambda: True):
        self.random = random
        self.parenthesise = parenthesise

    def write(self, tree):
        return getattr(self, f"write_{tree[0]}")(*tree[1:])

    def word(self, text):
        return self.random.choice([text, text.lower(), text.title()])

    def inner(self, tree):
        return f"({self.write(tree)})" if self.parenthesise() else self.write(tree)

    def name(self, column):
        return self.random.choice(SPELLED[column])

    def constant(self, column, key):
        return self.random.choice(LEXICONS[column][key])

    def shuffled(self, items):
        return self.random.sample(items, len(items))

    def write_column(self, column):
        return self.name(column)

    def write_not(self, tree):
        return f"{self.word('NOT')} {self.inner(tree)}"

    def write_and(self, operands):
        return f" {self.word('AND')} ".join(map(self.inner, self.shuffled(operands)))

    def write_or(self, operands):
        return f" {self.word('OR')} ".join(map(self.inner, self.shuffled(operands)))

    def write_truth(self, tree, negated, state):
        name = {True: "TRUE", False: "FALSE", None: "NULL"}[state]
        return f"({self.write(tree)}) IS {'NOT ' * negated}{self.word(name)}"

    def write_null(self, column, negated):
        return f"{self.name(column)} {self.word('IS')} {'NOT ' * negated}NULL"

    def write_distinct(self, column, equal, key):
        return f"{self.name(column)} IS {'NOT ' * equal}DISTINCT FROM {self.constant(column, key)}"

    def write_compare(self, column, operator, key):
        left, right = self.name(column), self.constant(column, key)
        shown = self.random.choice(["<>", "!="]) if operator == "<>" else operator
        return self.random.choice([f"{left} {shown} {right}", f"{right} {FLIPPED[operator]}{left}"])

    def write_in(self, column, negated, keys):
        constants = " ,".join(self.constant(column, key) for key in self.shuffled(keys))
        return f"{self.name(column)} {'NOT ' * negated}IN ({constants})"

    def write_between(self, column, negated, low, high):
        bounds = f"{self.constant(column, low)} AND {self.constant(column, high)}"
        return f"{self.name(column)} {'NOT ' * negated}BETWEEN {bounds}"

    def write_like(self, column, negated, pattern):
        escaped = pattern.replace("'", "''")
        return f"{self.name(column)} {'NOT ' * negated}LIKE '{escaped}'"


RANDOM = settings(
    max_examples=cases(66, campaign=2000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@RANDOM
@given(tree=TREES, random=st.randoms(use_true_random=False))
def test_a_predicate_selects_the_rows_on_which_it_is_true(table, tree, random):
    predicate = Predicate.parse(Speller(random).write(tree))
    expected = [position for position, row in enumerate(ROWS) if evaluate(tree, row) is True]
    assert selected(table, predicate.sql()) == expected
    assert selected(table, f"NOT {predicate.sql()}") == sorted(set(range(len(ROWS))) - set(expected))


@RANDOM
@given(tree=TREES, random=st.randoms(use_true_random=False))
def test_operators_bind_as_in_the_engine(table, tree, random):
    # Parentheses are left out at random, so this is another tree, but for both the same one.
    where = Speller(random, lambda: random.random() < 0.4).write(tree)
    assert selected(table, Predicate.parse(where).sql()) == selected(table, where)


@RANDOM
@given(tree=TREES, random=st.randoms(use_true_random=False))
def test_random_spellings_of_one_predicate_have_one_canonical_text(tree, random):
    first, second = (Predicate.parse(Speller(random).write(tree)) for _ in range(2))
    assert first.canonical == second.canonical
    assert Predicate.parse(f"NOT (NOT ({second.text}))").canonical == first.canonical
    assert Predicate.parse(first.canonical).canonical == first.canonical


@settings(max_examples=cases(166, campaign=5000), deadline=None)
@given(st.text(st.sampled_from("ab1='\"()<>-/*;.,{#$@%\\ \t ANDORTISULLEK_"), max_size=40) | st.text(max_size=20))
def test_any_text_is_read_or_refused_and_nothing_else_happens(where):
    try:
        predicate = Predicate.parse(where)
    except PlanError:
        return
    assert Predicate.parse(predicate.canonical).canonical == predicate.canonical
