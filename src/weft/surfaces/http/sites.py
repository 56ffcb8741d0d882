"""What `weft publish` wrote, under /sites/: files as they are, and nothing but those."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

# Pages say the same themselves; a file that somebody put there does not. `sandbox` keeps scripts out of those too.
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Sites(StaticFiles):
    """Files below a directory. Nothing hidden, nothing outside, nothing through a link that leads outside."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        parts = path.replace("\\", "/").split("/")
        if "\0" in path or any(part.startswith(".") and part != "." for part in parts):
            raise HTTPException(status_code=404)
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response

    async def check_config(self) -> None:
        """The directory may be made later: until then there is nothing in it."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        try:
            return super().lookup_path(path)
        except (OSError, ValueError):  # a name too long, a loop of links: no such file
            return "", None


def sites_app(directory: Path) -> Sites:
    """The files below this directory, which may be made later."""
    return Sites(directory=directory, html=True, check_dir=False, follow_symlink=False)
