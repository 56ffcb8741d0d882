"""Java: what is taken out of collections, passed to functions, and read from records."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.code.resolve.tree import Tree

BOATS = """package boats;
import java.util.*;
import java.util.function.*;
class Fleet {{
    record Berth(Boat boat, int place) {{ void clear() {{ boat().moor(); }} }}
    static class Box<T> {{ T held; T get() {{ return held; }} }}
    Map<String, List<Boat>> byHarbour;
    List<Boat> all() {{ return null; }}
    void go({taken}) {{ {body} }}
}}
class Boat {{ void moor() {{}} Boat tow() {{ return this; }} }}
class Other {{ void moor() {{}} }}
"""


def calls(root: Path, taken: str, body: str) -> set[tuple[str, str]]:
    (root / "Fleet.java").write_text(BOATS.format(taken=taken, body=body), encoding="utf-8")
    links = Tree(root).links("Fleet.java").links
    return {(each.key, each.target.key) for each in links if each.relation == "CALLS"}


@pytest.mark.parametrize(
    ("taken", "body"),
    [
        ("List<Boat> l", "l.get(0).moor();"),
        ("List<? extends Boat> l", "l.get(0).moor();"),
        ("Map<String, Boat> m", 'm.get("a").moor();'),
        ("Map<String, Boat> m", "for (var each : m.entrySet()) each.getValue().moor();"),
        ("Map<String, Boat> m", "for (var each : m.values()) each.moor();"),
        ("Optional<Boat> o", "o.orElseThrow().moor();"),
        ("Optional<Boat> o", "o.ifPresent(each -> each.moor());"),
        ("Iterator<Boat> i", "i.next().tow().moor();"),
        ("Supplier<Boat> s", "s.get().moor();"),
        ("List<Boat>[] l", "l[0].get(1).moor();"),
        ("Berth b", "b.boat().moor();"),
        ("", 'byHarbour.get("a").get(0).moor();'),
        ("", "all().get(0).moor();"),
        ("", "all().stream().filter(each -> each != null).forEach(each -> each.moor());"),
        ("", "all().forEach((each) -> each.tow().moor());"),
        ("", "for (var each : all()) { each.moor(); }"),
    ],
)
def test_what_is_held_is_known_again_when_it_is_taken_out(tmp_path: Path, taken: str, body: str) -> None:
    found = calls(tmp_path, taken, body)
    assert ("Fleet::go", "Boat::moor") in found
    assert ("Fleet::Berth::clear", "Boat::moor") in found


@pytest.mark.parametrize(
    ("taken", "body"),
    [
        ("List<?> l", "l.get(0).moor();"),
        ("List<? super Boat> l", "l.get(0).moor();"),
        ("List l", "l.get(0).moor();"),
        ("Box<Boat> b", "b.get().moor();"),  # what a class of one's own does with its argument is not looked at
        ("Map<Boat, String> m", "m.get(null).moor();"),
        ("lib.Pool<Boat> p", "p.get().moor();"),
        ("List<Boat> l", "l.stream().map(each -> each.hashCode()).forEach(each -> each.moor());"),
    ],
)
def test_what_is_not_shown_is_not_guessed(tmp_path: Path, taken: str, body: str) -> None:
    assert not {target for key, target in calls(tmp_path, taken, body) if key == "Fleet::go" and "moor" in target}
