"""Secrets as people leave them in settings, talk, commands and files; and everyday lines that must stay as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.append.privacy.everyday import everyday
from tests.append.privacy.overlooked import overlooked
from weft.text.redaction import named_secret, redact

TOUCHED_AT_MOST = 3


def test_secrets_in_settings_talk_commands_and_files_are_taken_out() -> None:
    for each in overlooked():
        left = redact(each.text)
        assert each.secret not in left, (each.form, left)
        assert left.startswith("quay\n"), (each.form, left)
        assert left.endswith("\npier"), (each.form, left)


def test_other_secrets_of_the_same_forms_are_found_too() -> None:
    made = [each for seed in range(200, 220) for each in overlooked(seed)]
    missed = [each for each in made if each.secret in redact(each.text)]
    assert len(missed) <= len(made) // 100, missed[:5]


def test_of_a_hundred_and_twenty_everyday_lines_hardly_any_is_touched() -> None:
    texts = everyday()
    assert len(texts) == 120
    touched = [text for text in texts if redact(text) != text]
    assert len(touched) <= TOUCHED_AT_MOST, touched


@given(
    st.lists(st.sampled_from([each.text for each in overlooked()] + everyday()), max_size=4),
    st.sampled_from("\n ;\t,&"),
)
def test_what_is_redacted_stays_as_it_is(texts: list[str], between: str) -> None:
    once = redact(between.join(texts))
    assert redact(once) == once
    assert once.count("\n") == between.join(texts).count("\n")


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("password=hun" + "ter2Z! is it", "password=[redacted: password] is it"),
        ("(password: hun" + "ter2-x9)", "(password: [redacted: password])"),
        ("https://x.org/?password=Tr0u" + "b4dor&page=2", "https://x.org/?password=[redacted: password]&page=2"),
        ("Uid=sa;Pwd=Str0" + "ng!Pier;Encrypt=true", "Uid=sa;Pwd=[redacted: password];Encrypt=true"),
        ("login(password='Tulip" + "2024x', user='bob')", "login(password='[redacted: password]', user='bob')"),
        ("postgres://u:p@ss:w0" + "rd@db/x", "postgres://u:[redacted: password]@db/x"),
        ("curl -u bob:S3c" + "ret99 https://x.org", "curl -u bob:[redacted: password] https://x.org"),
        ("the ENV is\nDB_PASSWORD=a$b1" + "(c)\nX=1", "the ENV is\nDB_PASSWORD=[redacted: password]\nX=1"),
        ("<password>Tulip" + "2024x</password>", "<password>[redacted: password]</password>"),
        ("password = crypt2(word1)", "password = crypt2(word1)"),
        ('"password": "Forgot your password?"', '"password": "Forgot your password?"'),
        ('"password": "must have 12 letters"', '"password": "must have 12 letters"'),
    ],
)
def test_only_the_secret_itself_goes(written: str, left: str) -> None:
    assert redact(written) == left


def test_a_table_of_numbers_holds_no_card_and_a_card_may_stand_before_its_date() -> None:
    table = "5488 5489 5490 5491 5492 5493 5494 5495 5496 5497"
    assert redact(table) == table
    card = "4111 1111 " + "1111 1111"
    assert redact(f"paid with {card} 1227 at the gate") == "paid with [redacted: card number] 1227 at the gate"


def test_a_property_named_password_may_hold_several_words() -> None:
    assert named_secret("password", "correct horse battery") == "password"
    assert named_secret("password", "Choose a new password") == ""
