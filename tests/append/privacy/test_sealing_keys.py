"""Keys of what is sealed: where they come from, and how everything is sealed anew with another."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import weft
from tests.append.privacy.harbour import KEYS, Harbour
from tests.append.privacy.sealed_words import write_of_all_sorts
from weft.core.errors import Misconfigured
from weft.operations import OPERATIONS
from weft.text.encryption import Keyring, new_key


def test_keys_come_from_the_environment_only_and_are_never_shown(harbour: Harbour) -> None:
    shown = {each.name: each.value for each in harbour.open().config().settings}
    assert shown["sensitive_key"] == "(set)"
    config = harbour.scratch / ".config" / "weft"
    config.mkdir(parents=True)
    (config / "weft.toml").write_text(f'sensitive_key = "{KEYS["new"]}"\n')
    with pytest.raises(Misconfigured) as refused:
        harbour.open()
    assert "WEFT_SENSITIVE_KEY" in str(refused.value)
    (config / "weft.toml").unlink()
    for bad in ("secretword", "a:secretword", f"{KEYS['old']},old:{KEYS['new'][4:]}", "a b:" + KEYS["new"][4:]):
        with pytest.raises(Misconfigured) as refused:
            harbour.open(sensitive_key=bad)
        assert "secretword" not in str(refused.value)
        assert KEYS["new"][4:] not in str(refused.value)


def test_a_new_key_can_be_used_at_once(harbour: Harbour) -> None:
    key = harbour.open().call("key_new").key
    assert key != harbour.open().call("key_new").key
    memory = harbour.open(sensitive_key=key)
    told = memory.remember("Halvorsen takes Metoprolol", sensitive=True)
    assert memory.show(told.id).node.text == "Halvorsen takes Metoprolol"
    assert Keyring(new_key("a.b-c")).first == "a.b-c"


def test_two_keys_of_one_day_can_be_told_apart(harbour: Harbour) -> None:
    """The way in which keys are changed, as it is told: the new one before the old one, both made today."""
    old, new = (harbour.open().call("key_new").key for _ in range(2))
    assert old.partition(":")[0] != new.partition(":")[0]
    told = harbour.open(sensitive_key=old).remember("Halvorsen takes Metoprolol", sensitive=True)
    done = harbour.open(sensitive_key=f"{new},{old}").call("key_rotate")
    assert done.status == "saved"
    assert harbour.open(sensitive_key=new).show(told.id).node.text == "Halvorsen takes Metoprolol"


def test_two_keys_of_one_name_are_told_as_such(harbour: Harbour) -> None:
    with pytest.raises(Misconfigured, match="two keys named old"):
        harbour.open(sensitive_key=f"{KEYS['old']},old:{KEYS['new'][4:]}")


def test_another_key_of_a_known_name_seals_nothing(either: Harbour) -> None:
    """What it sealed could not be told from what the right one did: nobody could open it, or know why."""
    told = either.open().remember("Halvorsen takes Metoprolol", sensitive=True)
    wrong = either.open(sensitive_key="old:" + KEYS["odd"][4:])
    before = wrong.ctx.store.head(wrong.ctx.viewer).pos
    with pytest.raises(Misconfigured, match="encrypted with another key named old"):
        wrong.remember("Halvorsen takes Bisoprolol", sensitive=True)
    with pytest.raises(Misconfigured, match="encrypted with another key named old"):
        wrong.call("key_rotate")
    assert wrong.ctx.store.head(wrong.ctx.viewer).pos == before
    either.open(sensitive_key=f"{KEYS['new']},{KEYS['old']}").remember("Halvorsen rests", sensitive=True)
    with pytest.raises(Misconfigured, match="encrypted with another key named new"):
        either.open(sensitive_key=f"new:{KEYS['odd'][4:]},{KEYS['old']}").remember("Halvorsen sleeps", sensitive=True)
    with pytest.raises(Misconfigured, match="encrypted with another key named old"):
        either.open(sensitive_key=f"old:{KEYS['odd'][4:]},{KEYS['new']}").remember("Halvorsen sleeps", sensitive=True)
    assert either.open().show(told.id).node.text == "Halvorsen takes Metoprolol"


def rotated(harbour: Harbour) -> Any:
    return harbour.open(sensitive_key=f"{KEYS['new']},{KEYS['old']}").call("key_rotate")


def test_a_change_of_keys_seals_everything_anew(either: Harbour) -> None:
    memory = either.open()
    first = write_of_all_sorts(memory)
    old = [event.payload for _, events in _log(memory) for event in events if b"weft-sealed" in (event.payload or b"")]
    done = rotated(either)
    assert done.strings > len(old) > 10
    assert done.status == "saved"
    assert done.events == len(old)
    reader = either.open(sensitive_key=KEYS["new"])
    assert reader.show(first).node.text == "Halvorsen takes half the Metoprolol"
    assert reader.show(first).notes == ()
    assert b"weft-sealed:1:old:" not in b"".join(event.payload or b"" for _, each in _log(reader) for event in each)
    assert reader.call("log_verify").problem is None
    assert reader.call("rebuild").equal
    assert either.open(sensitive_key=KEYS["old"]).show(first).node.text == "[encrypted with key new]"
    assert rotated(either).strings == 0
    if either.in_files:
        assert either.holds("weft-sealed:1:old:", *(raw[-60:].decode() for raw in old if raw)) == []


def test_a_change_of_keys_that_is_stopped_goes_on(either: Harbour) -> None:
    memory = either.open()
    ids = [memory.remember(f"Halvorsen takes pill number {number}", sensitive=True).id for number in range(30)]
    seen = []

    def stop(what: str, done: int, total: int) -> None:
        seen.append((what, done))
        raise KeyboardInterrupt

    operation = next(each for each in OPERATIONS if each.name == "key_rotate")
    with pytest.raises(KeyboardInterrupt):
        either.open(sensitive_key=f"{KEYS['new']},{KEYS['old']}").run(operation, {}, progress=stop)
    both = either.open(sensitive_key=f"{KEYS['old']},{KEYS['new']}")
    assert all(both.show(each).node.text.startswith("Halvorsen") for each in ids)
    rotated(either)
    reader = either.open(sensitive_key=KEYS["new"])
    assert [reader.show(each).node.text[-2:].strip() for each in ids] == [str(number) for number in range(30)]
    assert seen


def test_names_keep_their_ids_when_the_key_changes(either: Harbour) -> None:
    memory = either.open()
    thing = memory.add_entity("Halvorsen", kind="Person", sensitive=True)
    fact = memory.add_fact("Halvorsen", "takes", "Metoprolol", cardinality="one", sensitive=True)
    rotated(either)
    memory = either.open(sensitive_key=KEYS["new"])
    assert memory.add_entity("Halvorsen", kind="Person", description="a cardiologist", sensitive=True).id == thing.id
    newer = memory.add_fact("Halvorsen", "takes", "Bisoprolol", cardinality="one", sensitive=True)
    assert newer.supersedes == (fact.id,)


def test_what_no_key_opens_is_left_and_told(either: Harbour) -> None:
    told = either.open(sensitive_key=KEYS["odd"]).remember("Halvorsen takes Metoprolol", sensitive=True)
    done = rotated(either)
    assert (done.status, done.strings) == ("failed", 0)
    assert any("odd" in note for note in done.notes)
    assert either.open(sensitive_key=KEYS["odd"]).show(told.id).node.text == "Halvorsen takes Metoprolol"


def test_only_the_operator_changes_keys(harbour: Harbour) -> None:
    agent = harbour.open(role="agent")
    with pytest.raises(weft.core.errors.Forbidden):
        agent.call("key_rotate")


def _log(memory: weft.Memory) -> Any:
    viewer = replace(memory.ctx.viewer, sensitive=True)
    return memory.ctx.store.log(viewer, after=0, limit=10_000)
