"""Asking a workspace's code: what answers in detail, what as a whole, and at which moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.code.indexed import write_files, write_links
from tests.retrieval.small_worlds import WordEmbedder, context_over, embed_all
from weft.backends.sqlite.store import SqliteStore
from weft.code.ask.graph_query import GraphAnswer, GraphQuery, graph_query, is_open
from weft.code.communities.keep import find_communities
from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.core.types import Guard
from weft.log.chain import commit_genesis
from weft.runtime.call_context import CallContext
from weft.runtime.operation import read_input
from weft.testing.clock import ManualClock
from weft.testing.viewers import OPERATOR

TOKENS = '''class TokenStore:
    """Keeps tokens of sessions."""

    def validate_token(self, token):
        """Refuses a token that has expired."""
        return token.expires > 0


def revoke(token):
    return None
'''
LOGIN = 'def login(name, password):\n    """Lets a user in, if the password is right."""\n    return name\n'
INVOICE = 'def total(lines):\n    """Adds up the lines of an invoice."""\n    return sum(lines)\n'
TAXES = 'def tax(amount):\n    """The tax on an amount."""\n    return amount\n'
TESTED = 'def test_expired_token():\n    """An expired token is refused."""\n    assert True\n'
FILES = {
    "src/auth/tokens.py": TOKENS,
    "src/auth/login.py": LOGIN,
    "src/billing/invoice.py": INVOICE,
    "src/billing/taxes.py": TAXES,
    "tests/test_tokens.py": TESTED,
}
LINKS = (
    ("src/auth/login.py", "IMPORTS", "src/auth/tokens.py"),
    ("src/auth/login.py::login", "CALLS", "src/auth/tokens.py::TokenStore::validate_token"),
    ("src/billing/invoice.py", "IMPORTS", "src/billing/taxes.py"),
    ("src/billing/invoice.py::total", "CALLS", "src/billing/taxes.py::tax"),
    ("tests/test_tokens.py", "IMPORTS", "src/auth/tokens.py"),
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["by meaning", "by words"])
def ctx(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[CallContext]:
    """A small workspace, its files on disk as they are indexed; with vectors, and without."""
    store = SqliteStore(tmp_path / "store", commit_genesis, clock=clock)
    embedder = WordEmbedder() if request.param == "by meaning" else None
    made = context_over(store, clock, embedder=embedder)
    root = tmp_path / "workspace"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    ctx = replace(made, settings=replace(made.settings, root=root))
    write_files(ctx, FILES)
    write_links(ctx, LINKS)
    find_communities(ctx)
    if embedder is not None:
        embed_all(store, clock)
    yield ctx
    store.close()


def ask(ctx: CallContext, query: str, **more: object) -> GraphAnswer:
    return graph_query(ctx, GraphQuery(query=query, **more))  # type: ignore[arg-type]


def test_local_finds_the_file_and_the_symbols_in_it_that_answer(ctx: CallContext) -> None:
    answer = ask(ctx, "which token has expired?")
    best = answer.hits[0]
    assert (best.path, best.type, best.citation) == ("src/auth/tokens.py", "File", "file://src/auth/tokens.py:1")
    inside = {each.name: each for each in best.symbols}
    assert inside["TokenStore.validate_token"].line == 4
    assert inside["TokenStore.validate_token"].summary == "Refuses a token that has expired"
    assert answer.summary.startswith("src/auth/tokens.py: TokenStore")
    assert answer.communities == ()


def test_types_narrow_it_down(ctx: CallContext) -> None:
    answer = ask(ctx, "token", types=("FUNCTION",))
    assert {hit.type for hit in answer.hits} == {"Function"}
    assert {hit.name for hit in answer.hits[:2]} == {"TokenStore.validate_token", "revoke"}
    tests = ask(ctx, "expired token", types=("Test",))
    assert [hit.name for hit in tests.hits] == ["test_expired_token"]
    with pytest.raises(Invalid, match="unknown type 'Table'") as refused:
        ask(ctx, "token", types=("Table",))
    assert "Function" in str(refused.value.hint)


def test_global_answers_from_communities_the_one_that_bears_on_it_first(ctx: CallContext) -> None:
    answer = ask(ctx, "how is an invoice added up?", mode="global")
    assert answer.hits == ()
    assert answer.communities[0].label == "billing"
    assert "tax" in answer.communities[0].summary


@pytest.mark.parametrize("query", ["overview of the codebase", "What are the main architectural concerns?"])
def test_an_open_question_gets_all_communities_largest_first(ctx: CallContext, query: str) -> None:
    answer = ask(ctx, query, mode="global")
    assert [each.label for each in answer.communities] == ["auth", "billing"]
    assert answer.summary == "auth (3), billing (2)"


def test_what_is_an_open_question() -> None:
    assert is_open("Give me a high-level overview of this project")
    assert not is_open("overview of the billing code")


def test_hybrid_gives_both(ctx: CallContext) -> None:
    answer = ask(ctx, "invoice lines", mode="hybrid")
    assert answer.communities[0].label == "billing"
    assert answer.hits[0].path == "src/billing/invoice.py"


def test_the_past_can_be_asked_for(ctx: CallContext, clock: ManualClock) -> None:
    then = to_iso(clock.now_us())
    clock.step()
    write_files(ctx, {"src/auth/keys.py": 'def rotate():\n    """Rotates the signing secret."""\n    return 1\n'})
    assert ask(ctx, "rotate the signing secret").hits[0].path == "src/auth/keys.py"
    before = ask(ctx, "rotate the signing secret", as_of=then)
    assert "src/auth/keys.py" not in {hit.path for hit in before.hits}
    with pytest.raises(NotFound):
        ask(ctx, "token", as_of="0123456789abcdef")


def test_an_answer_says_which_of_its_files_are_not_as_indexed(ctx: CallContext) -> None:
    assert not [note for note in ask(ctx, "expired token").notes if "re-indexed" in note]
    (ctx.settings.root / "src/auth/tokens.py").write_text("changed = True\n")
    (stale,) = (note for note in ask(ctx, "expired token").notes if "re-indexed" in note)
    assert "src/auth/tokens.py" in stale


def test_cypher_is_refused_with_what_to_do(ctx: CallContext) -> None:
    with pytest.raises(Invalid, match="Cypher") as refused:
        ask(ctx, "MATCH (n) RETURN n", language="cypher")
    assert "plain words" in str(refused.value.hint)


def test_who_may_not_see_a_file_finds_neither_it_nor_what_sums_it_up(ctx: CallContext) -> None:
    write_files(ctx, {"src/payroll/salary.py": 'def salary():\n    """Pays wages."""\n    return 1\n'}, PRIVATE)
    find_communities(ctx)
    public = replace(ctx, viewer=replace(OPERATOR, scopes=frozenset({"public", "shared"})))
    for mode in ("local", "global", "hybrid"):
        assert "salary" in repr(ask(ctx, "pays wages: salary", mode=mode)).replace("pays wages: salary", "")
        answer = ask(public, "pays wages: salary", mode=mode)
        assert (answer.hits, answer.communities) == ((), ())


PRIVATE = Guard(project="p", scope="admin")


def test_nothing_indexed_says_what_to_do(tmp_path: Path, clock: ManualClock) -> None:
    store = SqliteStore(tmp_path / "store", commit_genesis, clock=clock)
    empty = context_over(store, clock)
    empty = replace(empty, settings=replace(empty.settings, root=tmp_path))
    answer = ask(empty, "anything", mode="hybrid")
    assert (answer.hits, answer.communities) == ((), ())
    assert any("weft index" in note for note in answer.notes)
    assert any("rebuild in mode full" in note for note in answer.notes)
    store.close()


def test_bad_arguments_are_refused_by_name() -> None:
    from weft.operations import operation

    with pytest.raises(Invalid, match="mode"):
        read_input(operation("graph_query"), {"query": "token", "mode": "sideways"})
