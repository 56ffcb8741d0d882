"""Communities: files that call and import each other are found together, under a label that a person would give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.code.indexed import Edge, write_files, write_links
from tests.retrieval.small_worlds import context_over
from weft.backends.sqlite.store import SqliteStore
from weft.code.communities.detect import LinkedFiles, communities_of, labels_of
from weft.code.communities.keep import communities_at, find_communities
from weft.code.communities.show import CommunitiesListed, CommunityList, community_list
from weft.core.kinds import COMMUNITY
from weft.core.types import NOW, Guard, When
from weft.erasure.closure import Closure
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.retrieval import recipes
from weft.retrieval.pipeline import Ask, run
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock
from weft.testing.viewers import OPERATOR

PARTS = ("billing", "search", "mail")


def file_of(part: str, number: int) -> str:
    return f"src/{part}/step{number}.py"


def text_of(part: str, number: int) -> str:
    return f'def {part}_step{number}(order):\n    """Does step {number} of {part}."""\n    return order\n'


def links_of(part: str, *, size: int = 4) -> Iterator[Edge]:
    """Every step calls the first one, and imports its file; each imports the next."""
    for number in range(1, size):
        yield file_of(part, number), "IMPORTS", file_of(part, 0)
        yield f"{file_of(part, number)}::{part}_step{number}", "CALLS", f"{file_of(part, 0)}::{part}_step0"
        yield file_of(part, number - 1), "IMPORTS", file_of(part, number)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def ctx(tmp_path: Path, clock: ManualClock) -> Iterator[CallContext]:
    store = SqliteStore(tmp_path / "store", commit_genesis, clock=clock)
    made = context_over(store, clock)
    yield replace(made, settings=replace(made.settings, root=tmp_path))
    store.close()


@pytest.fixture
def shop(ctx: CallContext) -> CallContext:
    """Three parts of four files each, with one link between two of the parts."""
    write_files(ctx, {file_of(part, n): text_of(part, n) for part in PARTS for n in range(4)})
    write_links(ctx, [edge for part in PARTS for edge in links_of(part)])
    write_links(ctx, [(file_of("billing", 3), "IMPORTS", file_of("mail", 0))])
    return ctx


def listed(ctx: CallContext) -> CommunitiesListed:
    return community_list(ctx, CommunityList())


def test_files_that_work_together_are_one_community_called_after_their_folder(shop: CallContext) -> None:
    done = find_communities(shop)
    assert (done.communities, done.files, done.changed) == (3, 12, 3)
    answer = listed(shop)
    assert answer.summary == "3 communities of 12 files"
    by_label = {each.label: each for each in answer.communities}
    assert by_label.keys() == set(PARTS)
    mail = by_label["mail"]
    assert (mail.files, mail.symbols) == (4, 4)
    assert set(mail.paths) == {file_of("mail", n) for n in range(4)}
    assert mail.central == "src/mail/step0.py"
    assert mail.top == ("mail_step0",)
    assert mail.summary == ("4 files, 4 symbols in src/mail; around src/mail/step0.py; most called: mail_step0")


def test_another_run_over_the_same_code_writes_nothing(shop: CallContext) -> None:
    find_communities(shop)
    before = shop.store.head(shop.viewer).pos
    again = find_communities(shop)
    assert (again.communities, again.changed, again.ended) == (3, 0, 0)
    assert shop.store.head(shop.viewer).pos == before


def test_what_changed_is_found_anew_and_what_stood_can_be_asked_for(shop: CallContext, clock: ManualClock) -> None:
    find_communities(shop)
    clock.step()
    then = clock.now_us()
    clock.step()
    write_files(shop, {file_of("ledger", n): text_of("ledger", n) for n in range(4)})
    write_links(shop, links_of("ledger"))
    done = find_communities(shop)
    assert (done.communities, done.changed, done.ended) == (4, 1, 0)
    assert {node.name for node in communities_at(shop, NOW)} == {*PARTS, "ledger"}
    assert {node.name for node in communities_at(shop, When(valid_at=then))} == set(PARTS)


def test_a_community_that_is_gone_ends(shop: CallContext, clock: ManualClock) -> None:
    find_communities(shop)
    clock.step()
    gone = [f"p/{file_of('mail', n)}" for n in range(4)]
    shop.append([Draft(kind="graph.ended", payload=graph.Ended(nodes=tuple(gone)))])
    done = find_communities(shop)
    assert (done.communities, done.ended) == (2, 1)
    assert {each.label for each in listed(shop).communities} == {"billing", "search"}


def test_a_file_that_may_no_longer_be_told_of_leaves_its_community(shop: CallContext, clock: ManualClock) -> None:
    find_communities(shop)
    clock.step()
    write_files(shop, {file_of("mail", 3): text_of("mail", 3)}, Guard(project="p", sensitive=True))
    find_communities(shop)
    (mail,) = (each for each in listed(shop).communities if each.label == "mail")
    assert (mail.files, mail.paths) == (3, tuple(file_of("mail", n) for n in range(3)))


def test_files_without_links_are_where_their_folder_is(shop: CallContext) -> None:
    write_files(shop, {"src/mail/notes.py": "LIMIT = 3\n", "tools/lint.py": "WIDTH = 120\n"})
    find_communities(shop)
    found = {each.label: each for each in listed(shop).communities}
    assert "src/mail/notes.py" in found["mail"].paths
    assert found["tools"].paths == ("tools/lint.py",)


def test_communities_are_not_in_ordinary_answers(shop: CallContext) -> None:
    find_communities(shop)
    ask = Ask(query="mail", when=NOW, limit=20, projects=("p", None))
    kinds = {each.node.kind for each in run(recipes.DEFAULT, shop, ask).ranked or ()}
    assert "File" in kinds
    assert COMMUNITY not in kinds


def test_walks_do_not_go_through_a_community(shop: CallContext) -> None:
    find_communities(shop)
    walked = shop.store.walk(shop.viewer, NOW, {f"p/{file_of('mail', 3)}": 1.0}, limit=50)
    shares = dict(walked.scores)
    assert shares[f"p/{file_of('mail', 0)}"] > 0.01
    assert shares.get("p::community::mail", 0.0) < 1e-4


# Who may see what


def test_who_may_not_see_files_is_told_nothing_of_them(shop: CallContext) -> None:
    """Files for one agent have a community of their own, with their guard."""
    secret = Guard(project="p", agents=("ann",))
    write_files(shop, {file_of("payroll", n): text_of("payroll", n) for n in range(4)}, secret)
    write_links(shop, [*links_of("payroll"), (file_of("payroll", 1), "IMPORTS", file_of("mail", 0))], secret)
    find_communities(shop)
    ann = replace(OPERATOR, agent="ann", audience="public")
    bob = replace(OPERATOR, agent="bob", audience="public")
    assert {each.label for each in listed(shop).communities} == {*PARTS, "payroll"}
    assert {each.label for each in listed(replace(shop, viewer=ann)).communities} == {"payroll"}
    assert listed(replace(shop, viewer=bob)).communities == ()
    nodes = communities_at(replace(shop, viewer=ann), NOW)
    assert "mail" not in repr([(node.name, node.summary, node.text) for node in nodes])


def test_sensitive_files_are_in_no_community(shop: CallContext) -> None:
    sealed = Guard(project="p", sensitive=True)
    write_files(shop, {"src/keys/vault.py": text_of("vault", 1)}, sealed)
    find_communities(shop)
    assert "vault" not in repr([(node.id, node.name, node.summary, node.text) for node in communities_at(shop, NOW)])


def test_a_symbol_that_was_deleted_is_not_told_of(shop: CallContext) -> None:
    find_communities(shop)
    shop.append([Draft(kind="graph.deleted", payload=graph.Deleted(nodes=("p/src/mail/step0.py::mail_step0",)))])
    (mail,) = (each for each in listed(shop).communities if each.label == "mail")
    assert "mail_step0" not in repr(mail)
    assert mail.summary == "4 files, 4 symbols in src/mail; around src/mail/step0.py"


def test_what_is_erased_takes_its_community_with_it(shop: CallContext) -> None:
    find_communities(shop)
    closing = Closure(shop, OPERATOR)
    ids = closing.run(["p/src/mail/step0.py"])
    assert "p::community::mail" in ids
    assert not {"p::community::search", "p/src/mail/step1.py"} & ids


# Labels, by themselves


def test_labels_say_what_is_particular_and_are_never_the_same() -> None:
    groups = [
        ["src/app/auth/token.py", "src/app/auth/login.py", "tests/test_token.py"],
        ["src/app/db/rows.py", "src/app/db/pool.py", "src/app/auth/store.py"],
        ["src/app/main.py", "src/app/config.py"],
        ["lib/index.js", "lib/test/index.test.js"],
    ]
    assert labels_of(groups) == ("auth", "db", "config", "index")
    assert labels_of([["src/a.py"], ["src/a.py"]]) == ("a", "a 2")


def test_the_same_files_in_any_order_give_the_same_communities() -> None:
    files = [f"m{n}.py" for n in range(40)]
    weights = {(files[a], files[b]): 1.0 + (a * b) % 3 for a in range(40) for b in range(a + 1, 40) if a % 4 == b % 4}
    one = communities_of(LinkedFiles(paths={each: each for each in files}, weights=weights))
    other = communities_of(
        LinkedFiles(paths={each: each for each in reversed(files)}, weights=dict(reversed(list(weights.items()))))
    )
    assert one == other
    assert [len(each.files) for each in one] == [10, 10, 10, 10]


def test_no_files_no_communities(ctx: CallContext) -> None:
    assert find_communities(ctx).communities == 0
    answer = listed(ctx)
    assert (answer.total, answer.communities) == (0, ())
    assert "rebuild in mode full" in answer.notes[0]
