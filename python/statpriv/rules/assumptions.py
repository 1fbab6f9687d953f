"""The assumptions of theorems about the data and the release, in the words that `explain()` prints."""

from __future__ import annotations

INDEPENDENT = "the entries are independent of each other"
ALIKE = "every entry has the property with the same probability, whatever that is"
COMMON_LAW = "all entries have one law, whatever that is; with a public classification, all entries of a class"
IDENTICAL = "every entry has the property with the same probability, the one stated (or any in the stated range)"
EACH = "every entry has the property with a probability of its own, anywhere in the stated range"
BY_CLUSTER = (
    "entries of different clusters are independent of each other; those of one may depend on each other in any way"
)
EACH_IN_CLUSTER = (
    "given the other members of its cluster, every entry has the property with a probability of its own, anywhere in "
    "the stated range"
)
RECORDS = "the rows are independent of each other; the attributes of one row may depend on each other in any way"
EACH_GIVEN_THE_REST = (
    "given all other attributes of its row, every entry has each attribute with a probability of its own, anywhere in "
    "the stated range"
)
EACH_GIVEN_THE_REST_OF_CLUSTER = (
    "given all other attributes of its row and the whole rows of the other members of its cluster, every entry has "
    "each attribute with a probability of its own, anywhere in the stated range"
)
ATTRIBUTES = (
    "given all other attributes of its row, every entry has each attribute with the same probability, the one stated "
    "(or any in the stated range)"
)
INDEPENDENT_ATTRIBUTES = "the attributes of one row are independent of each other"
STATED = "every entry has the law that is stated for it, or for its group"
OF_FEATURES = {"each": {IDENTICAL: EACH, ALIKE: EACH, STATED: EACH, ATTRIBUTES: EACH_GIVEN_THE_REST}}
"""For each feature of a situation, what a theorem that covers it assumes instead."""
DRAWN = "which entries answer which query, if there is a choice, is drawn uniformly and independently of the data"
DRAWN_AS_STATED = "which entries answer which query is drawn as stated, independently of the data"
SECRET = "who answers which query is kept secret, and the partition is not used again"  # noqa: S105  (a sentence)
SAMPLED = "the sample is drawn as stated, independently of the data, and kept secret"
NOISE = (
    "the noise has exactly the stated law, is independent of the data but for what the law says of the answer, and is "
    "not published"
)
KEYS = (
    "what is drawn for a count is drawn uniformly, independently of the data and in secret; counts of the same rows "
    "get the same draw and count once, all other counts get draws that are independent of each other"
)
KNOWN_LAW = "the laws that the query states are those of its answer"
PAPER = "Breutigam and Reischuk, Parallel Composition for Statistical Privacy"
