"""How a cell of a CSV file is read: one grammar, as SQL of DuckDB and of Spark.

It depends on the constants of the predicates, never on the cells:

=========  ===========================================================================================
text       every cell as it is; an empty cell is the empty text
number     decimal digits with an optional sign, point and exponent of at most three digits, blanks around
           them ignored; its exact value, rounded to 18 decimal places (halves away from zero), if that is
           below 10^20 in size
date       ``YYYY-MM-DD`` of the years 1 to 9999, blanks around it ignored
boolean    ``true``, ``t`` or ``1``, ``false``, ``f`` or ``0``, in any case, blanks around it ignored
=========  ===========================================================================================

A cell of any other form is unknown (NULL). In each value of the two tables, ``{text}`` stands for the SQL of the text
of a cell.
"""

from __future__ import annotations

from statpriv.releasing.predicate import ColumnType

__all__ = ["DUCKDB", "DUCKDB_MACROS", "SPARK"]

_PLAIN = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)"
_EXPONENT = "[eE][+-]?[0-9]{{1,3}}"
_DATE = "([0-9]{{3}}[1-9]|[0-9]{{2}}[1-9]0|[0-9][1-9]00|[1-9]000)-[0-9]{{2}}-[0-9]{{2}}"  # engines differ in year 0
_BOOLEAN = (
    "CASE WHEN lower(trim({text})) IN ('true', 't', '1') THEN TRUE "
    "WHEN lower(trim({text})) IN ('false', 'f', '0') THEN FALSE END"
)

DUCKDB: dict[ColumnType, str] = {
    "any": "{text}",
    "text": "{text}",
    # Most numbers are integers in the engine's own spelling; this test is faster than the general pattern.
    "number": (
        "CASE WHEN CAST(TRY_CAST({text} AS BIGINT) AS VARCHAR) = {text} "
        "THEN CAST(TRY_CAST({text} AS BIGINT) AS DECIMAL(38, 18)) "
        f"WHEN regexp_full_match({{text}}, ' *{_PLAIN} *') THEN TRY_CAST({{text}} AS DECIMAL(38, 18)) "
        f"WHEN regexp_full_match({{text}}, ' *{_PLAIN}{_EXPONENT} *') "
        "THEN TRY_CAST(without_exponent(lower(trim({text}))) AS DECIMAL(38, 18)) END"
    ),
    "date": f"CASE WHEN regexp_full_match({{text}}, ' *{_DATE} *') THEN TRY_CAST({{text}} AS DATE) END",
    "boolean": _BOOLEAN,
}

# DuckDB's own cast loses digits of a number with an exponent e. Here |e| zeros are put on both sides of the digits, and
# the point where the exponent moves it. The cast of a number without exponent is exact.
DUCKDB_MACROS = (
    "CREATE MACRO exponent(t) AS TRY_CAST(split_part(t, 'e', 2) AS INTEGER)",
    "CREATE MACRO mantissa(t) AS ltrim(split_part(t, 'e', 1), '+-')",
    "CREATE MACRO point(t) AS abs(exponent(t)) + length(split_part(mantissa(t), '.', 1)) + exponent(t)",
    "CREATE MACRO padded(t) AS "
    "repeat('0', abs(exponent(t))) || replace(mantissa(t), '.', '') || repeat('0', abs(exponent(t)))",
    "CREATE MACRO without_exponent(t) AS CASE WHEN starts_with(t, '-') THEN '-' ELSE '' END || "
    "left(padded(t), point(t)) || '.' || substr(padded(t), point(t) + 1)",
)


def _whole(expression: str) -> str:
    return rf"'^ *{expression} *\\z'"  # of Java; Spark reads two backslashes of a literal as one


# Spark casts by Java's BigDecimal, exactly; only a zero with a large exponent is too large for it.
SPARK: dict[ColumnType, str] = {
    "any": "{text}",
    "text": "{text}",
    "number": (
        f"CASE WHEN {{text}} RLIKE {_whole(f'[+-]?(0+([.]0*)?|[.]0+)({_EXPONENT})?')} THEN CAST(0 AS DECIMAL(38, 18)) "
        f"WHEN {{text}} RLIKE {_whole(f'{_PLAIN}({_EXPONENT})?')} THEN try_cast(trim({{text}}) AS DECIMAL(38, 18)) END"
    ),
    "date": f"CASE WHEN {{text}} RLIKE {_whole(_DATE)} THEN try_cast(trim({{text}}) AS DATE) END",
    "boolean": _BOOLEAN,
}
