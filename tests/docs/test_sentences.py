"""The pages are easy to read: no sentence is longer than thirty-five words."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NO_PROSE = re.compile(r"^ *```.*?^ *```|^    .*?$|^\|.*?$|^#.*?$", re.DOTALL | re.MULTILINE)
CODE, LINK = re.compile(r"`[^`]*`"), re.compile(r"\[([^\]]*)\]\([^)]*\)")
PARAGRAPH = re.compile(r"\n\s*\n|^\s*(?:\*|\d+\.) ", re.MULTILINE)
END = re.compile(r"(?<=[.!?])[*_)\"]*\s+")
MOST = 35


def sentences(text):
    """The sentences of the paragraphs and lists of a page; a formula or a piece of code counts as one word."""
    prose = LINK.sub(r"\1", CODE.sub("x", NO_PROSE.sub("\n\n", text)))
    for paragraph in PARAGRAPH.split(prose):
        yield from END.split(" ".join(paragraph.split()))


def words(sentence):
    return [word for word in sentence.split() if re.search("[A-Za-z]", word)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_sentence_of_a_page_is_longer_than_thirty_five_words(page):
    assert [each for each in sentences(page.read_text(encoding="utf-8")) if len(words(each)) > MOST] == []


def test_sentences_end_where_they_do_and_code_is_one_word():
    text = "# A title\n\nOne two `three four`. **Five** [six](seven.md)\neight; nine.\n\n* Ten.\n  Eleven\n\n| no |\n"
    assert [words(each) for each in sentences(text) if words(each)] == [
        ["One", "two", "x."],
        ["**Five**", "six", "eight;", "nine."],
        ["Ten."],
        ["Eleven"],
    ]
