"""Releases that the studio makes: each is confirmed once, runs beside the pages, and says which step it is at."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path

from statpriv.errors import ArgumentError, StatprivError
from statpriv.releasing.guarantee import Guarantee
from statpriv.releasing.ledger import Registry
from statpriv.releasing.plan import Plan
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.run import Report, Surroundings, carry_out, certified
from statpriv.releasing.tables import open_table
from statpriv.studio.folder import Folder

__all__ = ["Job", "Releases"]


@dataclass
class Job:
    """One release.

    Attributes
    ----------
    plan
        The plan file.
    steps
        The steps so far.
    failure
        The sentence that refused it or ended it; None while it runs, and if it succeeded.
    report
        The report; None until it is there.
    """

    plan: Path
    steps: list[str] = field(default_factory=list)
    failure: str | None = None
    report: Report | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.failure is not None or self.report is not None

    @property
    def json(self) -> Path:
        """Where the JSON of the report goes: beside the plan."""
        return self.plan.with_name(f"{self.plan.stem}-report.json")

    @property
    def page(self) -> Path:
        """Where its page goes."""
        return self.plan.with_name(f"{self.plan.stem}-report.html")

    def run(self, folder: Folder, registry: Registry) -> None:
        """Release; what is refused or fails ends as a sentence."""
        try:
            self.report = carry_out(
                _loaded(self.plan, folder),
                out=self.page,
                json=self.json,
                registry=registry,
                dry_run=False,
                force=False,
                surroundings=Surroundings(progress=self.steps.append),
            )
        except StatprivError as error:
            self.failure = str(error)
        except BaseException as defect:
            self.failure = f"a defect of statpriv ({type(defect).__name__}); the terminal shows it"
            raise


class Releases:
    """The releases of one run of the studio, by their numbers, one at a time."""

    def __init__(self, folder: Folder, registry: Path | None) -> None:
        self._folder = folder
        self._registry = registry
        self._confirmations: dict[str, Path] = {}
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    @property
    def registry(self) -> Registry:
        """The registry of the ledger."""
        return Registry.open(self._registry)

    def guarantee(self, path: Path) -> Guarantee:
        """The guarantee of a plan by itself: the number of rows is read, and sizes of groups, and nothing else."""
        plan = _loaded(path, self._folder)
        with open_table(plan.data, plan.conditions) as table:
            guarantee, _ = certified(plan, table, Surroundings().progress)
        return guarantee

    def offered(self, plan: Path) -> str:
        """The number of a confirmation, which starts one release of this plan and no second one."""
        number = secrets.token_urlsafe(16)
        with self._lock:
            self._confirmations[number] = plan
        return number

    def confirmed(self, number: str) -> Job:
        """Start the release of a confirmation, or return the one that it has started.

        Raises
        ------
        ArgumentError
            If there is no such confirmation, or another release is running.
        """
        with self._lock:
            if number in self._jobs:
                return self._jobs[number]
            plan = self._confirmations.pop(number, None)
            if plan is None:
                raise ArgumentError("this confirmation is not known; open the plan again")
            if any(not job.is_over for job in self._jobs.values()):
                raise ArgumentError("another release is running; wait for it, and open the plan again")
            job = self._jobs[number] = Job(plan)
        threading.Thread(target=job.run, args=(self._folder, self.registry), daemon=False).start()
        return job

    def job(self, number: str) -> Job | None:
        """The release of this confirmation; None if it was not confirmed."""
        return self._jobs.get(number)


def _loaded(path: Path, folder: Folder) -> Plan:
    """A plan whose table is in the folder."""
    plan = load_plan(path)
    folder.check_sources(plan.data)
    return plan
