"""A first plan for a table, from the names of its columns alone.

What a plan states must be known without the table: the codes of columns, the ranges of probability. So nothing here is
taken from a value, and all of it stays a comment until somebody states it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from statpriv.releasing.predicate_grammar import WORD
from statpriv.releasing.sql_text import identifier

__all__ = ["first_plan", "toml_string"]


def first_plan(data: Mapping[str, str], columns: Sequence[str]) -> str:
    """The text of a plan that is complete but for what is commented out.

    Parameters
    ----------
    data : dict of str to str
        What `[data]` states, by key: the source of the table, its name in a database, the column that identifies rows.
    columns : sequence of str
        The names of its columns, in order.

    >>> print(first_plan({"source": "people.csv"}, ["id", "smoker"]).splitlines()[7])
    source = "people.csv"
    """
    stated = [f"{key} = {toml_string(value)}" for key, value in data.items()]
    if "row_id" not in data:
        comment = "a column with unique values; without it, a sorted copy is another table"
        stated.append(f"# row_id = {toml_string(columns[0])}                     # {comment}")
    return _PLAN.format(
        data="\n".join(stated),
        dimension=toml_string(
            next((column for column in columns if column != data.get("row_id", columns[0])), columns[0])
        ),
        codes="\n".join(f'# {toml_string(column)} = ["…", "…"]' for column in columns),
        where=toml_string(f"{_named(columns[-1])} = '…'"),
    )


def _named(column: str) -> str:
    """A column as a condition names it."""
    return column if WORD.fullmatch(column) else identifier(column)


def toml_string(text: str) -> str:
    """A text as TOML writes it, which escapes as JSON does, and one character more."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_PLAN = """\
# A plan for `statpriv release`, from the names of the columns alone: no value of the table was read.
# State below what is known without the table. Then look at the guarantee, which reads no answer and spends nothing:
#   statpriv release THIS_FILE --dry-run --out guarantee.html

prior = "none"                        # or one [[prior]] for each publication about the same rows elsewhere

[data]
{data}

# The public codes of columns, from the codebook and never from this table. A condition with a constant that no row can
# have is then refused before rows are spent on it.
[data.columns]
{codes}
# or, for numbers: {{ range = [0, 120], codes = [999], source = "codebook of 2021" }}

[guarantee]
epsilon = 0.1
delta = 0.01                          # the release is refused if the certified delta is above it
known_rows = 0                        # rows whose values a reader may know
# written_before_access = true        # whether you had seen no value when you wrote this

# One count. Each row answers one query, in a secret part drawn at random.
# [[query]]
# name = "…"
# where = {where}
# probability = ["0.2", "0.4"]        # what the public knows of it, never estimated from this table
# each = true                         # each row has a probability of its own in that range
# source = "…"                        # where that is known from; it is printed
# share = "1/2"                       # the part of the rows that answers, or rows = 500

# Or an exact table, published only if every cell holds a minimum number of rows.
# [[table]]
# name = "…"
# minimum = 30
# [table.dimensions]
# {dimension} = ["…", "*"]                   # "*" is everything else
"""
