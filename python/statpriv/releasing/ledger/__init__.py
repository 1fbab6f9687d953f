"""The ledger: which tables were released, what was asked of them, and which of their rows are spent.

A ledger lives in a registry, a folder of one user or one organisation, and not beside the data: a renamed
or copied table meets the same ledger. What identifies a row is a keyed token of its id, so a leak of the
ledger without its key names nobody; a table without ids is identified by the keyed fingerprint of its
content. The rows that all releases of a table spent are one bitmap, which tells who was used but neither in
which release nor in which part.

The registry holds three files, all readable by their owner alone:

``ledger.sqlite3``
    The data sets: tables that were released, with all their releases (``books.py``).
``secret.json``
    The key, and the number of releases that were made under it. A ledger with fewer releases was rolled
    back; a ledger without its key, or a key without its ledger, was damaged. All three are refused.
``lock``
    Held from the first look at the ledger to the end of a release.
"""

from statpriv.releasing.ledger.books import DataSet, PastRelease
from statpriv.releasing.ledger.registry import Registry
from statpriv.releasing.ledger.session import Growth, Ledger, Position, ReleaseRecord
from statpriv.releasing.ledger.tokens import Rows

__all__ = ["DataSet", "Growth", "Ledger", "PastRelease", "Position", "Registry", "ReleaseRecord", "Rows"]
