"""Settings: where they come from, which source wins, and what is refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import weft
from weft.core.errors import Misconfigured
from weft.runtime.settings.declared import SETTINGS
from weft.runtime.settings.load import load_settings, project_name

HOME = {"HOME": "/home/ada"}


def write_toml(directory: Path, text: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "weft.toml"
    file.write_text(text, encoding="utf-8")
    return file


def own(directory: Path) -> dict[str, str]:
    """An environment whose user keeps settings in `config` below."""
    return HOME | {"XDG_CONFIG_HOME": str(directory / "config")}


def test_defaults_need_no_set_up(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, HOME)
    assert settings.store == "sqlite:///home/ada/.local/share/weft"
    assert (settings.account, settings.agent, settings.role) == ("default", "operator", "operator")
    assert settings.scopes == ("public", "shared", "admin")
    assert settings.sensitive is False
    assert {each.origin for each in settings.origins.values()} == {"default"}


def test_the_data_directory_follows_the_desktop_standard(tmp_path: Path) -> None:
    assert load_settings(tmp_path, HOME | {"XDG_DATA_HOME": "/data"}).store == "sqlite:///data/weft"
    assert load_settings(tmp_path, HOME | {"XDG_DATA_HOME": ""}).store == "sqlite:///home/ada/.local/share/weft"


def test_the_environment_wins_over_the_user_s_file_and_that_over_defaults(tmp_path: Path) -> None:
    file = write_toml(tmp_path / "config" / "weft", 'agent = "from-file"\naccount = "from-file"\n')
    settings = load_settings(tmp_path, own(tmp_path) | {"WEFT_ACCOUNT": "from-env"})
    assert (settings.session, settings.agent, settings.account) == ("operator", "from-file", "from-env")
    origins = {name: settings.origins[name].origin for name in ("session", "agent", "account")}
    assert origins == {"session": "default", "agent": str(file), "account": "WEFT_ACCOUNT"}


def test_the_user_s_file_is_found_below_home(tmp_path: Path) -> None:
    file = write_toml(tmp_path / "home" / ".config" / "weft", 'project = "usual"\nstore = "sqlite://kept/here"\n')
    (tmp_path / "work").mkdir()
    settings = load_settings(tmp_path / "work", {"HOME": str(tmp_path / "home")})
    assert (settings.project, settings.origins["project"].origin) == ("usual", str(file))
    assert settings.store == f"sqlite://{file.parent / 'kept/here'}", "relative to the file, not to the directory"
    write_toml(tmp_path / "work", 'project = "special"\n')
    assert load_settings(tmp_path / "work", {"HOME": str(tmp_path / "home")}).project == "special"
    assert load_settings(file.parent, {"HOME": str(tmp_path / "home")}).project == "usual", "still the user's own"


@pytest.mark.parametrize("name", [setting.name for setting in SETTINGS if setting.name not in ("project", "ignore")])
def test_a_project_s_file_may_only_name_the_project_and_what_to_pass_over(tmp_path: Path, name: str) -> None:
    file = write_toml(tmp_path, f'{name} = "public"\n')
    with pytest.raises(Misconfigured, match=f"a project's file may not set {name};") as caught:
        load_settings(tmp_path, HOME)
    elsewhere = () if name == "sensitive_key" else ("/home/ada/.config/weft/weft.toml",)  # that one is in no file
    for part in (str(file), *elsewhere, f"WEFT_{name.upper()}"):
        assert part in caught.value.message


def test_the_nearest_file_above_counts(tmp_path: Path) -> None:
    write_toml(tmp_path, 'project = "outer"\n')
    write_toml(tmp_path / "a" / "b", 'project = "inner"\n')
    (tmp_path / "a" / "b" / "c").mkdir()
    settings = load_settings(tmp_path / "a" / "b" / "c", HOME)
    assert settings.project == "inner"
    assert settings.root == tmp_path / "a" / "b"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"WEFT_SCOPES": "public,secret"}, "unknown scopes"),
        ({"WEFT_SCOPES": ""}, "scopes"),
        ({"WEFT_SCOPES": ","}, "scopes"),
        ({"WEFT_ACCOUNT": ""}, "account"),
        ({"WEFT_ACCOUNT": "../etc"}, "account"),
        ({"WEFT_ACCOUNT": "a b"}, "account"),
        ({"WEFT_AGENT": "x" * 200}, "agent"),
        ({"WEFT_ROLE": "root"}, "operator, agent"),
        ({"WEFT_AUDIENCE": "everyone"}, "internal, public"),
        ({"WEFT_SENSITIVE": "maybe"}, "neither true nor false"),
        ({"WEFT_PROJECT": "  "}, "project"),
        ({"WEFT_ACCOUNTS": "a,b"}, "not among the configured accounts"),
    ],
)
def test_bad_values_stop_the_start_and_say_which(tmp_path: Path, given: dict[str, str], complaint: str) -> None:
    with pytest.raises(Misconfigured, match=complaint) as caught:
        load_settings(tmp_path, HOME | given)
    assert "weft config" in caught.value.hint
    assert next(iter(given)) in caught.value.message or complaint in caught.value.message


@pytest.mark.parametrize(
    "line",
    ["scopes = 5", "scopes = [1]", "accounts = true", "agent = 7", "sensitive = 'maybe'", "audience = ['public']"],
)
def test_wrong_types_in_the_file_are_named(tmp_path: Path, line: str) -> None:
    file = write_toml(tmp_path / "config" / "weft", line)
    with pytest.raises(Misconfigured, match=line.split(maxsplit=1)[0]) as caught:
        load_settings(tmp_path, own(tmp_path))
    assert str(file) in caught.value.message


def test_unknown_keys_in_the_file_are_refused_with_the_known_ones(tmp_path: Path) -> None:
    write_toml(tmp_path, 'acount = "typo"\n')
    with pytest.raises(Misconfigured, match="unknown setting 'acount'") as caught:
        load_settings(tmp_path, HOME)
    assert "account" in caught.value.message


def test_every_defect_is_told_at_once(tmp_path: Path) -> None:
    write_toml(tmp_path, 'acount = "typo"\n')
    with pytest.raises(Misconfigured) as caught:
        load_settings(tmp_path, HOME | {"WEFT_ROLE": "root", "WEFT_SENSITIVE": "maybe"})
    assert caught.value.message.count(";") >= 2


@pytest.mark.parametrize(
    "raw", [b"not toml at all [", b"\xff\xfe", b"# " + b"x" * 300_000], ids=["syntax", "utf8", "size"]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "weft.toml").write_bytes(raw)
    with pytest.raises(Misconfigured, match=r"weft\.toml"):
        load_settings(tmp_path, HOME)


def test_an_account_that_is_not_configured_cannot_be_used(tmp_path: Path) -> None:
    write_toml(tmp_path / "config" / "weft", 'accounts = ["acme", "globex"]\naccount = "acme"\n')
    assert load_settings(tmp_path, own(tmp_path)).account == "acme"
    assert load_settings(tmp_path, own(tmp_path) | {"WEFT_ACCOUNT": "globex"}).account == "globex"
    with pytest.raises(Misconfigured, match="'initech' is not among the configured accounts: acme, globex"):
        weft.open("memory://", directory=tmp_path, environment=own(tmp_path) | {"WEFT_ACCOUNT": "initech"})


@pytest.mark.parametrize(("written", "read_as"), [("1", True), ("TRUE", True), ("off", False), ("no", False)])
def test_flags(tmp_path: Path, written: str, read_as: bool) -> None:
    assert load_settings(tmp_path, HOME | {"WEFT_SENSITIVE": written}).sensitive is read_as


def test_lists_from_the_environment_are_split_at_commas(tmp_path: Path) -> None:
    assert load_settings(tmp_path, HOME | {"WEFT_SCOPES": "public, shared"}).scopes == ("public", "shared")


@pytest.mark.parametrize(
    ("directory", "project"),
    [
        ("ferry", "ferry"),
        ("My Project (new)", "My-Project-new"),
        ("übung", "bung"),
        ("..hidden", "hidden"),
        ("東京", "home"),
        ("x" * 100, "x" * 64),
        ("a.b_c-d", "a.b_c-d"),
    ],
)
def test_a_project_is_named_after_its_directory(tmp_path: Path, directory: str, project: str) -> None:
    (tmp_path / directory).mkdir()
    assert load_settings(tmp_path / directory, HOME).project == project
    assert project_name(Path("/")) == "home"


def test_a_repository_names_the_project_of_all_its_directories(tmp_path: Path) -> None:
    inner = tmp_path / "ferry" / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "ferry" / ".git").mkdir()
    assert load_settings(inner, HOME).project == "ferry"
    assert load_settings(inner, HOME).root == tmp_path / "ferry"


def test_a_worktree_is_a_repository_too(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: /elsewhere\n")
    assert load_settings(tmp_path / "tree", HOME).root == tmp_path / "tree"


def test_the_environment_given_is_the_only_one_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_ACCOUNT", "leaked")
    monkeypatch.setenv("XDG_DATA_HOME", "/leaked")
    settings = load_settings(tmp_path, HOME)
    assert "leaked" not in repr(settings)


def test_what_is_not_a_setting_is_never_kept(tmp_path: Path) -> None:
    secrets = {"OPENAI_API_KEY": "sk-123", "WEFT_TOKEN_SECRET": "hush", "AWS_SECRET_ACCESS_KEY": "quiet"}
    with weft.open("memory://", directory=tmp_path, environment=HOME | secrets) as memory:
        shown = msgspec.json.encode(memory.config()).decode()
        held = repr(memory.ctx.settings)
    for secret in secrets.values():
        assert secret not in shown
        assert secret not in held


def test_a_key_is_used_but_never_shown(tmp_path: Path) -> None:
    given = HOME | {"WEFT_EMBEDDER": "none", "WEFT_EMBEDDER_KEY": "sk-very-secret"}
    assert load_settings(tmp_path, given).embedder_key == "sk-very-secret"
    with weft.open("memory://", directory=tmp_path, environment=given) as memory:
        shown = {each.name: each for each in memory.config().settings}
        assert "sk-very-secret" not in msgspec.json.encode(memory.config()).decode()
        assert "sk-very-secret" not in msgspec.json.encode(memory.doctor()).decode()
    assert (shown["embedder_key"].value, shown["embedder_key"].origin) == ("(set)", "WEFT_EMBEDDER_KEY")


def test_config_shows_every_setting_with_its_origin(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'there'}"
    with weft.open(url, directory=tmp_path, environment=HOME | {"WEFT_AGENT": "ada"}) as memory:
        shown = {each.name: each for each in memory.config().settings}
    assert list(shown) == [setting.name for setting in SETTINGS]
    assert (shown["agent"].value, shown["agent"].origin, shown["agent"].variable) == ("ada", "WEFT_AGENT", "WEFT_AGENT")
    assert (shown["store"].value, shown["store"].origin) == (url, "argument"), "what holds, not what the file says"


@pytest.mark.parametrize("url", ["", "sqlite://", "postgres://host", "/just/a/path", "sqlite"])
def test_a_url_that_names_no_store_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(Misconfigured, match="not the URL of a store") as caught:
        weft.open(url, directory=tmp_path, environment=HOME)
    assert "sqlite:///" in caught.value.hint
