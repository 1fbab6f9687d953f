"""The pages of the studio, each a function from a request to a page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from statpriv import __version__
from statpriv.errors import StatprivError
from statpriv.numeric.literals import at_most, literal
from statpriv.releasing.compiled_templates import environment
from statpriv.releasing.first_plan import first_plan
from statpriv.releasing.plan import DataSource
from statpriv.releasing.tables import open_table
from statpriv.studio.access import Access, Guard
from statpriv.studio.drafts import column_block, count_block, histogram_block, table_block
from statpriv.studio.explore import Explored
from statpriv.studio.folder import Folder
from statpriv.studio.releases import Releases
from statpriv.studio.review import assessed, checked

__all__ = ["application"]

_REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox; base-uri 'none'"
)
_FOLDER = Path(__file__).parent
_BLOCKS = {"count": count_block, "histogram": histogram_block, "table": table_block, "column": column_block}
"""What the forms of the plan page add to its text."""
_MOST_BYTES = 20_000_000
_STATIC = {"studio.css": "text/css", "studio.js": "text/javascript"}


def application(access: Access, folder: Folder, registry: Path | None) -> Guard:
    """The studio as an application of ASGI.

    Parameters
    ----------
    access : Access
        The secrets of this run.
    folder : Folder
        Whose tables and plans it works on.
    registry : path, optional
        The registry of the ledger; by default that of the command line.
    """
    return Guard(_Studio(access, folder, Releases(folder, registry)).routed(), access)


@dataclass(frozen=True)
class _Studio:
    access: Access
    folder: Folder
    releases: Releases

    def routed(self) -> Starlette:
        def page(path: str, act: Callable[[Request], Awaitable[Response]], *methods: str) -> Route:
            return Route(path, act, methods=list(methods or ("GET",)))

        return Starlette(
            routes=[
                page("/", self.home),
                page("/explore", self.explore),
                page("/explore/result", self.explored),
                page("/plan", self.plan),
                page("/plan/new", self.new_plan, "POST"),
                page("/plan/edit", self.edit_plan, "POST"),
                page("/release", self.release),
                page("/release/confirm", self.confirm, "POST"),
                page("/release/{number}", self.released),
                page("/release/{number}/report", self.report),
                page("/ledger", self.ledger),
                page("/assess", self.assess, "GET", "POST"),
                page("/check", self.check, "GET", "POST"),
                page("/static/{name}", self.static),
            ]
        )

    # --- pages

    async def home(self, _: Request) -> Response:
        return self._shown("home", plans=self.folder.plans(), tables=self.folder.tables(), folder=self.folder.path.name)

    async def explore(self, request: Request) -> Response:
        state = Explored.of(request.query_params)
        return self._shown("explore", state=state, **await run_in_threadpool(_result, state))

    async def explored(self, request: Request) -> Response:
        state = Explored.of(request.query_params)
        return self._shown("explored", state=state, **await run_in_threadpool(_result, state))

    async def plan(self, request: Request) -> Response:
        name = request.query_params.get("file", "")
        try:
            text = self.folder.file(name, ".toml").read_text(encoding="utf-8") if name else ""
        except (StatprivError, OSError, ValueError) as error:
            return self._plan_page(name, "", error=_sentence(error))
        return await self._judged(name, text) if name else self._plan_page("", "")

    async def new_plan(self, request: Request) -> Response:
        form = await self._form(request)
        if form is None:
            return _refused()
        stated = {key: value.strip() for key, value in _texts(form).items() if value.strip()}
        data = {key: value for key, value in stated.items() if key in {"source", "table", "row_id"}}
        try:
            source = self.folder.described(data)
            columns = await run_in_threadpool(_columns, source)
        except (StatprivError, OSError) as error:
            return self._plan_page("", "", error=_sentence(error))
        name = Path(source.label).stem if source.table is None else source.table
        return self._plan_page(f"{name}.toml", first_plan(data, columns), columns=columns)

    async def edit_plan(self, request: Request) -> Response:
        form = await self._form(request)
        if form is None:
            return _refused()
        stated = _texts(form)
        name, text = stated.get("file", ""), stated.get("text", "").replace("\r\n", "\n")
        try:
            act = stated.get("act", "")
            if act in _BLOCKS:
                text += _BLOCKS[act](_of(act, stated))
            elif act == "save":
                self.folder.write(name, text, replace=stated.get("replace") == "on")
                return RedirectResponse(f"/plan?{urlencode({'file': name})}", status_code=303)
        except (StatprivError, OSError) as error:
            return self._plan_page(name, text, error=_sentence(error), stated=stated)
        return self._plan_page(name, text)

    async def release(self, request: Request) -> Response:
        name = request.query_params.get("file", "")
        if not name:
            return self._shown("release", plans=self.folder.plans(), name="", error=None)
        try:
            path = self.folder.file(name, ".toml")
            shown = await run_in_threadpool(self._guaranteed, path)
        except (StatprivError, OSError) as error:
            return self._shown("release", plans=self.folder.plans(), name=name, error=_sentence(error))
        return self._shown(
            "release",
            plans=self.folder.plans(),
            name=name,
            error=None,
            number=self.releases.offered(path),
            **shown,
        )

    async def confirm(self, request: Request) -> Response:
        form = await self._form(request)
        if form is None:
            return _refused()
        stated = _texts(form)
        number = stated.get("number", "")
        if stated.get("understood") != "on":
            error = "Tick the box: the rows of a release are spent, and nothing brings them back."
            return self._shown("release", plans=self.folder.plans(), name="", error=error)
        try:
            self.releases.confirmed(number)
        except (StatprivError, OSError) as error:
            return self._shown("release", plans=self.folder.plans(), name="", error=_sentence(error))
        return RedirectResponse(f"/release/{number}", status_code=303)

    async def released(self, request: Request) -> Response:
        number = request.path_params["number"]
        job = self.releases.job(number)
        return _refused() if job is None else self._shown("released", job=job, number=number)

    async def report(self, request: Request) -> Response:
        job = self.releases.job(request.path_params["number"])
        if job is None or job.report is None:
            return _refused()
        return HTMLResponse(job.report.html, headers={"content-security-policy": _REPORT_POLICY})

    async def ledger(self, _: Request) -> Response:
        try:
            summary = await run_in_threadpool(self.releases.registry.summary)
        except (StatprivError, OSError) as error:
            return self._shown("ledger", summary=None, error=_sentence(error))
        return self._shown("ledger", summary=summary, error=None)

    async def assess(self, request: Request) -> Response:
        stated = {"minimum": "10", "epsilon": "1", "known": "0", "text": ""}
        if request.method == "GET":
            return self._shown("assess", stated=stated, found=None, error=None)
        form = await self._form(request)
        if form is None:
            return _refused()
        stated |= _texts(form)
        try:
            _, content = await _uploaded(form)
            stated["text"] = content.decode() or stated["text"]
            found = await run_in_threadpool(assessed, stated["text"], stated)
        except (StatprivError, ValueError) as error:
            return self._shown("assess", stated=stated, found=None, error=_sentence(error))
        return self._shown("assess", stated=stated, found=found, error=None)

    async def check(self, request: Request) -> Response:
        if request.method == "GET":
            return self._shown("check", found=None, error=None)
        form = await self._form(request)
        if form is None:
            return _refused()
        try:
            name, content = await _uploaded(form)
            if not name:
                return self._shown("check", found=None, error="Choose a file: the JSON of a report, or a certificate.")
            found = await run_in_threadpool(checked, content, name)
        except (StatprivError, ValueError) as error:
            return self._shown("check", found=None, error=_sentence(error))
        return self._shown("check", found=found, error=None)

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            return _refused(404)
        return Response((_FOLDER / "static" / name).read_text(encoding="utf-8"), media_type=_STATIC[name])

    # --- what pages share

    async def _judged(self, name: str, text: str) -> Response:
        """The page of a saved plan, with its guarantee."""
        try:
            shown = await run_in_threadpool(self._guaranteed, self.folder.file(name, ".toml"))
        except (StatprivError, OSError) as error:
            return self._plan_page(name, text, error=_sentence(error), saved=True)
        return self._plan_page(name, text, saved=True, **shown)

    def _guaranteed(self, path: Path) -> dict[str, object]:
        """The guarantee of a saved plan, and what each query costs somebody who is known to answer it."""
        guarantee = self.releases.guarantee(path)
        target = guarantee.plan.guarantee
        alone = guarantee.deltas(known=target.known_rows, epsilon=target.epsilon)
        costs = [
            (name, part.size, at_most(delta.upper))
            for name, part, delta in zip(guarantee.names, guarantee.parts, alone, strict=True)
        ]
        return {
            "delta": at_most(guarantee.delta.upper),
            "epsilon": literal(target.epsilon),
            "target": literal(target.delta),
            "holds": guarantee.holds,
            "rows": guarantee.rows,
            "costs": costs,
        }

    def _plan_page(self, name: str, text: str, **more: object) -> Response:
        shown: dict[str, object] = {"error": None, "delta": None, "columns": (), "saved": False, "stated": {}, **more}
        return self._shown(
            "plan",
            name=name,
            text=text,
            plans=self.folder.plans(),
            tables=self.folder.tables(),
            database=self.folder.database,
            **shown,
        )

    def _shown(self, template: str, **variables: object) -> Response:
        page = _TEMPLATES.get_template(f"{template}.jinja")
        return HTMLResponse(page.render(secret=self.access.form, version=__version__, here=template, **variables))

    async def _form(self, request: Request) -> FormData | None:
        """A form of the studio's own; None for any other."""
        form = await request.form(max_files=1, max_fields=40, max_part_size=_MOST_BYTES)
        return form if self.access.is_form(_texts(form).get("secret", "")) else None


def _result(state: Explored) -> dict[str, Any]:
    """What an exploration shows: its numbers, or the sentence that refuses a value."""
    try:
        shown = {"answer": state.answer, "promise": state.promise, "curve": state.curve, "picture": state.picture}
    except StatprivError as error:
        return {"error": str(error)}
    return {"error": None, **shown}


def _columns(source: DataSource) -> tuple[str, ...]:
    """The names of the columns of a table; no value is read."""
    with open_table(source, []) as table:
        return table.columns


def _of(block: str, stated: Mapping[str, str]) -> dict[str, str]:
    """The fields of one block of the form, without its prefix."""
    return {key.removeprefix(f"{block}-"): value for key, value in stated.items() if key.startswith(f"{block}-")}


def _texts(form: FormData) -> dict[str, str]:
    """The fields of a form that are no files."""
    return {key: value for key, value in form.items() if isinstance(value, str)}


async def _uploaded(form: FormData) -> tuple[str, bytes]:
    """The name and the content of the chosen file; empty if none is."""
    match form.get("file"):
        case UploadFile(filename=str(name)) as chosen:
            return name, await chosen.read(_MOST_BYTES)
        case _:
            return "", b""


def _sentence(error: Exception) -> str:
    match error:
        case UnicodeDecodeError():
            return "the file is not UTF-8"
        case OSError():
            return error.strerror or "the file cannot be read"
        case _:
            return str(error)


def _refused(status: int = 403) -> Response:
    return HTMLResponse("<p>This is not allowed, or it is no longer there.</p>", status_code=status)


_TEMPLATES = environment(_FOLDER / "templates")
_TEMPLATES.filters["at_most"] = at_most
