"""An agent's file narrows what its process may do, and never widens it; a file with defects stops it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.places import Place
from weft.core.errors import Invalid, Misconfigured, NotFound, WeftError
from weft.runtime.settings.agent_profile import find_profile, need_profile, read_profile, slugs
from weft.runtime.settings.load import load_settings


def written(root: Path, slug: str, text: str) -> Path:
    (root / "agents").mkdir(exist_ok=True)
    file = root / "agents" / f"{slug}.toml"
    file.write_text(text)
    return file


def settings(root: Path, **environment: str) -> Any:
    given = {"HOME": str(root)} | {f"WEFT_{name.upper()}": value for name, value in environment.items()}
    return load_settings(root, given)


def test_a_file_narrows_scopes_and_says_topics_and_live_memory(tmp_path: Path) -> None:
    file = written(tmp_path, "desk", 'scopes = ["public"]\nkeywords = ["fares"]\nlive_memory = false\n')
    held = settings(tmp_path, agent="desk")
    assert (held.scopes, held.keywords, held.live_memory) == (("public",), ("fares",), False)
    assert held.origins["live_memory"].origin == str(file)
    other = settings(tmp_path, agent="pilot")
    assert (len(other.scopes), other.keywords, other.live_memory) == (3, (), True)


def test_it_applies_to_no_process_that_is_not_said_to_be_the_agent(tmp_path: Path) -> None:
    written(tmp_path, "operator", "live_memory = false\n")
    assert settings(tmp_path).live_memory


def test_it_never_opens_what_the_settings_close(tmp_path: Path) -> None:
    written(tmp_path, "desk", 'scopes = ["public", "admin"]\nlive_memory = true\nkeywords = ["fares"]\n')
    with pytest.raises(Misconfigured, match="may only restrict: admin"):
        settings(tmp_path, agent="desk", scopes="public")
    held = settings(tmp_path, agent="desk", live_memory="off", keywords="tides")
    assert (held.live_memory, held.keywords, held.scopes) == (False, ("tides",), ("public", "admin"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("colour = 1\n", "unknown key 'colour'"),
        ('scope = ["public"]\n', "unknown key 'scope'"),
        ('scopes = ["secret"]\n', "unknown scopes"),
        ("scopes = []\n", "scopes"),
        ('keywords = ["a", "b", "c", "d", "e", "f"]\n', "over 5 words"),
        ("keywords = 3\n", "keywords"),
        ('live_memory = "no"\n', "neither true nor false"),
        ("live_memory = 0\n", "neither true nor false"),
        ("title = 3\n", "title"),
        ("scopes = [\n", "cannot be read"),
        ("x" * 20_000, "larger than"),
        ("a = " + "[" * 5_000, "cannot be read"),
    ],
)
def test_a_defect_stops_the_agent_and_says_where(tmp_path: Path, text: str, told: str) -> None:
    file = written(tmp_path, "desk", text)
    with pytest.raises(Misconfigured) as raised:
        settings(tmp_path, agent="desk")
    assert told in raised.value.message
    assert str(file) in raised.value.message


def test_every_defect_has_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, "desk", 'a = 1\nb = 2\nlive_memory = "x"\n')
    with pytest.raises(Misconfigured) as raised:
        read_profile(file)
    assert len(raised.value.message.splitlines()) == 3


def test_links_and_directories_are_no_files(tmp_path: Path) -> None:
    written(tmp_path, "real", "live_memory = true\n")
    (tmp_path / "agents" / "desk.toml").symlink_to(tmp_path / "agents" / "real.toml")
    (tmp_path / "agents" / "pilot.toml").mkdir()
    (tmp_path / "agents" / "gone.toml").symlink_to(tmp_path / "nowhere")
    for slug in ("desk", "pilot", "gone"):
        with pytest.raises(Misconfigured):
            settings(tmp_path, agent=slug)
    (tmp_path / "agents" / "raw.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(Misconfigured):
        settings(tmp_path, agent="raw")


@pytest.mark.parametrize("agent", ["Desk", "DESK", "desK"])
def test_a_name_in_other_letters_does_not_go_round_the_file(tmp_path: Path, agent: str) -> None:
    written(tmp_path, "desk", "live_memory = false\n")
    with pytest.raises(Misconfigured, match="differ only in case"):
        settings(tmp_path, agent=agent)


def test_a_file_in_other_letters_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "Desk.toml").write_text("live_memory = false\n")
    for agent in ("desk", "Desk"):
        with pytest.raises(Misconfigured, match="differ only in case"):
            settings(tmp_path, agent=agent)
    assert settings(tmp_path, agent="pilot").live_memory


def test_a_directory_of_agents_that_is_a_link_stops_the_agent(tmp_path: Path) -> None:
    root = tmp_path / "ferry"
    root.mkdir()
    written(tmp_path, "desk", "live_memory = true\n")
    (root / "agents").symlink_to(tmp_path / "agents")
    with pytest.raises(Misconfigured, match="link"):
        settings(root, agent="desk")


@pytest.mark.parametrize("slug", ["../desk", "Desk", "-desk", "desk-", "a/b", "a" * 65, "désk", "a.b"])
def test_what_is_no_slug_names_no_file(tmp_path: Path, slug: str) -> None:
    with pytest.raises(Invalid):
        need_profile(tmp_path, slug)
    assert find_profile(tmp_path, slug) is None


def test_the_agents_of_a_project_are_listed(tmp_path: Path) -> None:
    for slug in ("pilot", "desk"):
        written(tmp_path, slug, "")
    (tmp_path / "agents" / "Bad Name.toml").write_text("")
    assert slugs(tmp_path) == ("desk", "pilot")
    with pytest.raises(NotFound, match="desk, pilot"):
        need_profile(tmp_path, "cook")


def test_without_live_memory_nothing_is_asked_or_written(place: Place) -> None:
    written(place.root, "desk", "live_memory = false\n")
    place.open().remember("Tickets cost four crowns.", scope="public")
    desk = place.open(agent="desk", role="agent")
    for call in (lambda: desk.recall("tickets"), lambda: desk.remember("x"), lambda: desk.show("x"), desk.recent):
        with pytest.raises(WeftError, match="without live memory"):
            call()
