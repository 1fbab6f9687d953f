"""Who may speak to the studio: the browser that was given its address, on this machine, from its own pages.

* The server listens on the loopback interface alone.
* A random token in the first address is exchanged for a cookie that scripts cannot read and other sites cannot send.
* The Host header must name the studio itself: otherwise another site's name could be made to lead here.
* A request that changes anything must come from the studio's own pages (Origin), and carry the secret of its forms.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Access", "Guard"]

_NAMES = ("127.0.0.1", "localhost")
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer, browsers hide the origin of forms
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class Access:
    """The secrets of one run of the studio.

    Attributes
    ----------
    port
        The port of the server.
    token
        Exchanged for the cookie.
    session
        The value of the cookie.
    form
        The value of a hidden field of every form.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    form: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def url(self) -> str:
        """The address to open first."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie; other studios of this machine have other ports."""
        return f"statpriv_studio_{self.port}"

    def is_named(self, host: str) -> bool:
        """Whether a Host header names this server."""
        return host in {f"{name}:{self.port}" for name in _NAMES}

    def is_own_page(self, origin: str) -> bool:
        """Whether an Origin header is that of a page of this server."""
        return origin in {f"http://{name}:{self.port}" for name in _NAMES}

    def knows(self, cookies: str) -> bool:
        """Whether a Cookie header holds the session."""
        jar: SimpleCookie = SimpleCookie()
        try:
            jar.load(cookies)
        except CookieError:
            return False
        return self.cookie in jar and hmac.compare_digest(jar[self.cookie].value.encode(), self.session.encode())

    def is_form(self, secret: str) -> bool:
        """Whether a form carries the secret of this studio's forms."""
        return hmac.compare_digest(secret.encode(), self.form.encode())


@dataclass(frozen=True)
class Guard:
    """Lets through what :class:`Access` allows, and adds the headers that confine a page."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with status 403."""
        from starlette.responses import PlainTextResponse, RedirectResponse, Response

        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def confined(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message["headers"], *((k, v) for k, v in added if k not in own)]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        refused = self._refusal(scope["method"], headers)
        response: Response
        if refused is None and self.access.knows(headers.get("cookie", "")):
            await self.app(scope, receive, confined)
            return
        given = query.pop("token", "")
        if refused is None and hmac.compare_digest(given.encode(), self.access.token.encode()):
            response = RedirectResponse(f"{scope['path']}{'?' if query else ''}{urlencode(query)}", status_code=303)
            response.set_cookie(self.access.cookie, self.access.session, httponly=True, samesite="strict", path="/")
        else:
            response = PlainTextResponse(
                f"{refused or 'open the address that statpriv studio printed'}\n", status_code=403
            )
        await response(scope, receive, confined)

    def _refusal(self, method: str, headers: dict[str, str]) -> str | None:
        if not self.access.is_named(headers.get("host", "")):
            return "this is not the address of the studio"
        if method not in ("GET", "HEAD") and not self.access.is_own_page(headers.get("origin", "")):
            return "this request does not come from a page of the studio"
        return None
