"""The ledger records which tables were released, the queries of each release, and which rows are spent.

A ledger lives in a registry, which is a folder of one user or one organisation and not a file beside the
data. A renamed or copied table therefore meets the same ledger. A row is identified by a keyed token of its
id, so a leak of the ledger without its key identifies nobody. A table without ids is identified by the keyed
fingerprint of its content. One bitmap marks the rows spent by all releases of a table. The bitmap shows which
rows were used, but neither the release nor the part that used them.

The registry holds three files, all readable only by their owner:

``ledger.sqlite3``
    The data sets, that is, the tables that were released, with all their releases (``books.py``). Every value
    is authenticated with the key (``chain.py``), and checked before anything is read (``audit.py``).
``secret.json``
    The key, and the newest entry of the history that was written under it. A ledger without this entry was
    rolled back, or is another copy. A ledger without its key, or a key without its ledger, is damaged. All are
    refused.
``lock``
    Held from the first read of the ledger to the end of a release.
"""

from statpriv.releasing.ledger.authentication import Anchor
from statpriv.releasing.ledger.books import DataSet, PastRelease
from statpriv.releasing.ledger.registry import Registry
from statpriv.releasing.ledger.session import Growth, Ledger, Position, ReleaseRecord
from statpriv.releasing.ledger.tokens import Rows

__all__ = ["Anchor", "DataSet", "Growth", "Ledger", "PastRelease", "Position", "Registry", "ReleaseRecord", "Rows"]
