"""What a server looks at before it serves anything: whether the tools that it is told of are there."""

from __future__ import annotations

from weft.config import Settings
from weft.surfaces.agent_files import check_agent_files
from weft.surfaces.toolsets import offer_of, served_lines


def check_start(settings: Settings, *, network: bool) -> tuple[str, ...]:
    """Lines to print on standard error when a server starts.

    Raises Misconfigured, with one line for each defect: a toolset, an allowed, an excluded tool or one that an agent's
    file names and that there is not.
    """
    offered = offer_of(settings, network=network)
    return (*served_lines(offered), *check_agent_files(settings, offered))
