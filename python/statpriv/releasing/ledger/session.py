"""A ledger held by one process: it recognises tables, spends rows and lets rows join."""

from __future__ import annotations

import hmac
import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from statpriv.composition.cohorts import Cohort
from statpriv.errors import LedgerError, RowsSpentError
from statpriv.releasing.ledger.audit import check_facts
from statpriv.releasing.ledger.books import Books, DataSet, PastRelease, today
from statpriv.releasing.ledger.chain import EDITS_ACCEPTED, EXTENDED, PUBLISHED, RELEASED, Chain
from statpriv.releasing.ledger.commitment import DurabilityUnknownError, commit
from statpriv.releasing.ledger.files import checked, writing
from statpriv.releasing.ledger.secret import Secret
from statpriv.releasing.ledger.tokens import Rows, number_shared, places_of
from statpriv.releasing.publication import sync_folder

if TYPE_CHECKING:
    from statpriv.model.situation import Query
    from statpriv.releasing.steps import StatedQuery
    from statpriv.releasing.tables import ContentFingerprint

__all__ = ["Growth", "Ledger", "Position", "ReleaseRecord"]

_OTHER_PEOPLE = "if these are other people with equal ids, keep them in a registry of their own: --registry"


@dataclass(frozen=True)
class ReleaseRecord:
    """The ledger data that a report prints.

    Attributes
    ----------
    release_id
        128 random bits, hexadecimal.
    ledger_id
        The identifier of the ledger, equal on all its reports. Two reports with the same ledger and the same number
        prove a fork of the ledger.
    number
        Number of the release in the ledger, from 1.
    rows_spent
        Number of rows spent by this release.
    rows_left
        Number of rows of the table that no release has spent.
    """

    release_id: str
    ledger_id: str
    number: int
    rows_spent: int
    rows_left: int


@dataclass(frozen=True)
class Position:
    """The state of a table in the ledger.

    Attributes
    ----------
    rows
        The rows of the table.
    data_set
        The registered data set that the table continues; None for a table that was never released.
    spent
        Which rows earlier releases have used: in the order of the tokens if the rows have ids, else of the table.
    content_edited
        Whether the content differs from that of the last release. This is known only after the content was read.
    namesake
        For a table that was never released: the number of the last release of a table with the same column names.
    """

    rows: Rows = field(repr=False)
    data_set: DataSet | None
    spent: NDArray[np.bool_] = field(repr=False)
    content_edited: bool = False
    namesake: int | None = None

    @classmethod
    def of_new(cls, rows: Rows, namesake: int | None = None) -> Position:
        """The position of a table that was never released."""
        return cls(rows, None, np.zeros(rows.n, np.bool_), namesake=namesake)

    @property
    def number(self) -> int | None:
        """Number of its data set; None for a table that was never released."""
        return None if self.data_set is None else self.data_set.number

    @property
    def cohorts(self) -> tuple[Cohort, ...]:
        """The cohorts of its rows, in order of joining."""
        return (Cohort(self.rows.n),) if self.data_set is None else self.data_set.cohorts

    @property
    def releases(self) -> tuple[PastRelease, ...]:
        """Its earlier releases."""
        return () if self.data_set is None else self.data_set.releases

    @property
    def rows_spent(self) -> int:
        """Number of rows used by earlier releases."""
        return 0 if self.data_set is None else self.data_set.rows_spent

    @property
    def rows_left(self) -> int:
        """Number of rows that no release has used."""
        return self.rows.n - self.rows_spent

    def is_refused(self, *, once: bool) -> bool:
        """Whether a release that must be alone would be the second one, or would follow one that must be alone."""
        return self.data_set is not None and (once or self.data_set.once)


@dataclass(frozen=True)
class Growth:
    """A table that holds all rows of a data set and possibly new rows.

    Attributes
    ----------
    rows
        All rows of the table.
    data_set
        The data set that the table contains.
    old
        Which rows, in the order of the tokens, already belong to the data set.
    """

    rows: Rows = field(repr=False)
    data_set: DataSet
    old: NDArray[np.bool_] = field(repr=False)

    @property
    def new_rows(self) -> int:
        """Number of rows that would join."""
        return self.rows.n - self.data_set.rows


@dataclass(frozen=True)
class Ledger:
    """A ledger that this process holds alone.

    Attributes
    ----------
    ledger_id
        128 random bits, hexadecimal.
    """

    ledger_id: str
    _folder: Path = field(repr=False)
    _secret_path: Path = field(repr=False)
    _words: Callable[[int], bytes] = field(repr=False)
    _connection: sqlite3.Connection = field(repr=False)
    _secret: Secret = field(repr=False)

    @property
    def content_key(self) -> bytes:
        """The key for fingerprints of content; it does not reveal the key of the tokens."""
        return hmac.digest(self._secret.key, b"content", "sha256")

    @property
    def row_key(self) -> bytes:
        """The key for tokens of rows; it does not reveal the key of the fingerprints."""
        return hmac.digest(self._secret.key, b"row", "sha256")

    @property
    def _books(self) -> Books:
        return Books(self._connection)

    @property
    def _chain(self) -> Chain:
        return Chain(self._connection, self._secret.codes, self._words)

    # --- recognising a table ---

    def recognise(self, rows: Rows, *, once: bool = False) -> tuple[Position, ...]:
        """List the positions that a table may have, before its content is read.

        A table with ids has one position. Without ids, only the content distinguishes a released table from a new
        one. The candidates are then a new table and every data set without ids that has the same number of rows.

        Raises
        ------
        LedgerError
            If its rows overlap a registered table in a way that no release may follow. The message names no row.
        """
        with writing(self._folder):
            data_sets = {data_set.number: data_set for data_set in self._books.data_sets()}
            new = Position.of_new(rows, self._books.last_release_with(self._names(rows)))
            if rows.tokens is None:
                alike = [d for d in data_sets.values() if not d.has_ids and d.rows == rows.n]
                return (new, *(self._position(rows, data_set) for data_set in alike))
            continued = self._same_rows(rows, rows.tokens, data_sets.values())
            if continued is None:
                return (new,)
            position = self._position(rows, data_sets[continued])
        self._refuse_second_of_once(position, once=once)
        return (position,)

    def identify(
        self,
        positions: Sequence[Position],
        fingerprint: ContentFingerprint,
        *,
        accept_edits: bool = False,
        once: bool = False,
    ) -> Position:
        """Choose among these positions, after the content of the table was read.

        Raises
        ------
        LedgerError
            If the table has the content of a registered table whose rows were identified differently, or if its
            content was edited since its last release and `accept_edits` is false.
        """
        with writing(self._folder):
            alike = self._books.data_sets_with_content(fingerprint.ordered, fingerprint.unordered)
        if positions[0].rows.tokens is None:
            return self._identify_by_content(positions, alike, once=once)
        (position,) = positions
        own = None if position.data_set is None else position.data_set.number
        for number in alike.keys() - {own}:
            raise self._refusal("this table has the content of one that was", number, "name the row_id of then")
        if own is None or not self._edited(own, fingerprint):
            return position
        if not accept_edits:
            raise self._refusal(
                "the content of this table was edited since it was",
                own,
                "answers of then and now belong to different contents; if that is as it should be, say "
                "--accept-edits (rows that were used stay used, and the report says that content was edited)",
            )
        return replace(position, content_edited=True)

    def grown(self, rows: Rows) -> Growth:
        """Find the data set whose rows a larger table contains.

        Raises
        ------
        LedgerError
            If it contains no registered table completely, adds no row to it, or shares rows with another.
        """
        if rows.tokens is None:
            raise LedgerError(
                "rows that are known by their position cannot be told apart from new ones: name a row_id to extend"
            )
        found = None
        with writing(self._folder):
            data_sets = {data_set.number: data_set for data_set in self._books.data_sets()}
            for number, data_set in data_sets.items():
                if not data_set.has_ids:
                    continue
                shared = np.zeros(rows.n, np.bool_)
                for _, piece in self._books.tokens(number):
                    shared[places_of(piece, rows.tokens)] = True
                count = int(np.count_nonzero(shared))
                if count and count < data_set.rows:
                    raise self._lying("overlap" if count < rows.n else "subset", number)
                if count:
                    if found is not None:
                        raise self._refusal(
                            "this table holds more than one that was", number, f"they stay apart ({_OTHER_PEOPLE})"
                        )
                    found = Growth(rows, data_set, shared)
        if found is None:
            raise LedgerError(
                f"no row of this table is in ledger {self.ledger_id}: there is nothing to extend; release it"
            )
        if found.new_rows == 0:
            raise self._refusal("this table has exactly the rows of one that was", found.data_set.number, "release it")
        if found.data_set.once:
            raise self._refusal(_ONCE[0], found.data_set.number, _ONCE[1])
        return found

    def _same_rows(self, rows: Rows, tokens: NDArray[np.bytes_], data_sets: Iterable[DataSet]) -> int | None:
        """The data set with exactly these rows; None if no row belongs to any data set."""
        for data_set in data_sets:
            if not data_set.has_ids:
                continue
            shared = sum(number_shared(piece, tokens) for _, piece in self._books.tokens(data_set.number))
            if shared == data_set.rows == rows.n:
                return data_set.number
            if shared:
                relation = "superset" if shared == data_set.rows else "subset" if shared == rows.n else "overlap"
                raise self._lying(relation, data_set.number)
        return None

    def _identify_by_content(self, positions: Sequence[Position], alike: dict[int, bool], *, once: bool) -> Position:
        candidates = {position.data_set.number: position for position in positions if position.data_set is not None}
        if not alike:
            return next(position for position in positions if position.data_set is None)
        for number, same_order in alike.items():
            if not same_order:
                raise self._refusal(
                    "this table has the same rows in another order as one that was",
                    number,
                    "restore the order, which is all that identifies them",
                )
            if number not in candidates:
                raise self._refusal("this table has the content of one that was", number, "name its row_id")
        number = min(alike)
        self._refuse_second_of_once(candidates[number], once=once)
        return candidates[number]

    def _refuse_second_of_once(self, position: Position, *, once: bool) -> None:
        if position.data_set is not None and position.is_refused(once=once):
            raise self._refusal(_ONCE[0], position.data_set.number, _ONCE[1])

    def _position(self, rows: Rows, data_set: DataSet) -> Position:
        return Position(rows, data_set, self._books.spent(data_set))

    def _edited(self, data_set: int, fingerprint: ContentFingerprint) -> bool:
        with writing(self._folder):
            return self._books.latest_content(data_set)[1] != fingerprint.unordered

    # --- recording ---

    def spend(
        self,
        position: Position,
        fingerprint: ContentFingerprint,
        drawn: NDArray[np.bool_],
        *,
        queries: Sequence[Query],
        sizes: Sequence[int],
        stated: Sequence[StatedQuery],
        plan_sha256: str,
        once: bool = False,
    ) -> ReleaseRecord:
        """Durably spend the rows that were drawn, and record the queries of the release.

        Call this after the last check and before the first predicate is evaluated.

        Parameters
        ----------
        drawn
            Which rows were drawn, in the order of the tokens if the rows have ids, else of the table.

        Raises
        ------
        LedgerError
            If other rows were drawn than unspent ones, or the ledger cannot be written; nothing was spent then.
        RowsSpentError
            If it is unknown whether the spend is durable.
        """
        if len(drawn) != position.rows.n:
            raise LedgerError(f"{len(drawn)} marks for {position.rows.n} rows; nothing was spent")
        if np.any(drawn & position.spent) or np.count_nonzero(drawn) != sum(sizes):
            raise LedgerError("the drawn rows are not unspent ones, as many as the parts have; nothing was spent")
        with writing(self._folder), checked(self._folder):
            self._begin()
            number = self._books.number_of_releases() + 1
            record = ReleaseRecord(
                self._words(16).hex(), self.ledger_id, number, sum(sizes), position.rows_left - sum(sizes)
            )
            is_new = position.data_set is None
            data_set = self._entered(position, fingerprint, once=once)
            self._books.set_spent(data_set, position.spent | drawn)
            entry = PastRelease(
                number, record.release_id, tuple(queries), tuple(sizes), tuple(stated), plan_sha256, today()
            )
            self._books.add_release(data_set, entry)
            self._chain.append(
                RELEASED, data_set=data_set, release=number, release_id=record.release_id, rows_spent=entry.rows
            )
            self._seal(new_tokens_of=data_set if is_new else None)
        try:
            self._commit("nothing was spent")
        except DurabilityUnknownError as error:
            raise RowsSpentError(
                f"registry {self._folder}: rows were spent, or may have been, and whether that lasts is "
                f"unknown ({error}): take them as spent; nothing was answered"
            ) from error
        return record

    def note_published(self, release: ReleaseRecord) -> None:
        """Note that the report of a release was written, so that it is not taken for one that was killed.

        Raises
        ------
        LedgerError
            If the ledger cannot be written, or nobody can tell.
        """
        unknown = f"release {release.number} is listed without a report"
        with writing(self._folder, unknown), checked(self._folder):
            self._begin()
            self._chain.append(PUBLISHED, release=release.number)
            self._seal(new_tokens_of=None)
        try:
            self._commit(unknown)
        except DurabilityUnknownError as error:
            raise LedgerError(
                f"registry {self._folder}: {unknown}, or will be after a loss of power ({error})"
            ) from error

    def extend(self, growth: Growth, fingerprint: ContentFingerprint, *, content_edited: bool = False) -> None:
        """Durably let the new rows of a grown table join its data set.

        Raises
        ------
        LedgerError
            If the ledger cannot be written; the message says whether the rows joined.
        """
        data_set, tokens = growth.data_set, growth.rows.tokens
        if tokens is None:  # grown() refuses a table without ids
            raise LedgerError("rows without ids cannot join a data set")
        with writing(self._folder, "no row joined"), checked(self._folder):
            self._begin()
            spent = np.zeros(growth.rows.n, np.bool_)
            spent[growth.old] = self._books.spent(data_set)
            self._books.set_rows(data_set.number, tokens, spent)
            self._books.add_cohort(data_set.number, growth.new_rows)
            names = self._names(growth.rows)
            self._books.add_content(data_set.number, fingerprint.ordered, fingerprint.unordered, names)
            if content_edited:
                self._chain.append(EDITS_ACCEPTED, data_set=data_set.number)
            self._chain.append(EXTENDED, data_set=data_set.number, rows_joined=growth.new_rows)
            self._seal(new_tokens_of=data_set.number)
        try:
            self._commit("no row joined")
        except DurabilityUnknownError as error:
            raise LedgerError(
                f"registry {self._folder}: the rows joined data set {data_set.number}, or may have, and whether that "
                f"lasts is unknown ({error}): `statpriv ledger show` says how many rows it has"
            ) from error

    def check_growth(
        self, growth: Growth, *, old: ContentFingerprint, whole: ContentFingerprint, accept_edits: bool = False
    ) -> bool:
        """Check whether the old rows of a grown table were edited.

        Raises
        ------
        LedgerError
            If they were edited and `accept_edits` is false, or the content is that of another registered table.
        """
        own = growth.data_set.number
        with writing(self._folder):
            alike = self._books.data_sets_with_content(whole.ordered, whole.unordered)
        for number in alike.keys() - {own}:
            raise self._refusal("this table has the content of one that was", number, "name the row_id of then")
        edited = self._edited(own, old)
        if edited and not accept_edits:
            raise self._refusal(
                "rows of this table were edited since it was", own, "if that is as it should be, say --accept-edits"
            )
        return edited

    def _entered(self, position: Position, fingerprint: ContentFingerprint, *, once: bool) -> int:
        """Number of the data set, after registering it if it is new and recording its content if that changed."""
        if position.data_set is None:
            number = self._books.add_data_set(position.rows.tokens, position.rows.n, once=once)
        elif position.content_edited:
            number = position.data_set.number
            self._chain.append(EDITS_ACCEPTED, data_set=number)
        else:
            return position.data_set.number
        self._books.add_content(number, fingerprint.ordered, fingerprint.unordered, self._names(position.rows))
        return number

    def _names(self, rows: Rows) -> bytes:
        """A digest of the column names, under a key of its own."""
        key = hmac.digest(self._secret.key, b"columns", "sha256")
        return hmac.digest(key, json.dumps(sorted(rows.columns)).encode(), "sha256")

    def _begin(self) -> None:
        if not self._connection.in_transaction:  # a second change under one lock
            self._connection.execute("BEGIN IMMEDIATE")

    def _seal(self, *, new_tokens_of: int | None) -> None:
        """Seal the new state, unless two of its facts contradict each other."""
        check_facts(self._books)
        self._chain.seal(new_tokens_of=new_tokens_of)

    def _commit(self, otherwise: str) -> None:
        """Make the change durable and advance what the key has seen.

        Raises
        ------
        LedgerError
            If nothing changed; the message ends with `otherwise`.
        DurabilityUnknownError
            If the change may last or not; nothing may be answered then.
        """
        secret = replace(self._secret, releases=self._books.number_of_releases(), anchor=self._chain.newest())
        commit(self._connection, self._folder, secret.anchor, otherwise)
        try:
            sync_folder(self._folder)
        except OSError as error:
            raise DurabilityUnknownError(str(error)) from error
        # A key that lags is only a weaker guard, and the next change advances it. A failure here must not look as if
        # nothing was spent.
        with suppress(OSError):
            secret.write(self._secret_path)

    def _lying(self, relation: str, data_set: int) -> LedgerError:
        how, remedy = _RELATIONS[relation]
        return self._refusal(how, data_set, remedy)

    def _refusal(self, relation: str, data_set: int, remedy: str) -> LedgerError:
        with writing(self._folder):
            number, day = self._books.last_release(data_set)
        return LedgerError(f"{relation} released on {day} (release {number} of ledger {self.ledger_id}): {remedy}")


_RELATIONS = {
    "superset": (
        "this table adds rows to one that was",
        "`statpriv ledger extend` lets the new rows join it, and takes into account that they were not there before",
    ),
    "subset": (
        "this table is a part of one that was",
        f"rows never leave a table that was released, so restore the others ({_OTHER_PEOPLE})",
    ),
    "overlap": (
        "some rows of this table belong to one that was",
        f"the same people would answer twice, unseen; release the one table or the other ({_OTHER_PEOPLE})",
    ),
}
"""How two sets of rows that share some rows relate, stated without a number, and the remedy."""

_ONCE = (
    "this table was",
    "a table by group, in units or with several answers about the same rows is released once: no theorem of this "
    "version adds another release to it",
)
