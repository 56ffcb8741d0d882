"""Secrets are found by their form and taken out; what only looks like one stays as it is."""

from __future__ import annotations

import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.append.privacy.look_alikes import look_alikes
from tests.append.privacy.planted import FORMS, PER_FORM, planted
from weft.text.redaction import redact
from weft.text.redaction.find import detectors

TOUCHED_AT_MOST = 5


def test_a_hundred_planted_secrets_are_taken_out_and_the_words_around_them_stay() -> None:
    made = planted()
    assert len(made) == len(FORMS) * PER_FORM == 100
    for each in made:
        left = redact(each.text)
        assert each.secret not in left, (each.form, left)
        assert each.keeps in left, (each.form, left)
        assert "[redacted: " in left


def test_of_two_hundred_look_alikes_hardly_any_is_touched() -> None:
    texts = look_alikes()
    assert len(texts) == 200
    touched = [text for text in texts if redact(text) != text]
    assert len(touched) <= TOUCHED_AT_MOST, touched


def test_other_secrets_of_the_same_forms_are_found_too() -> None:
    missed = [each for seed in range(100, 110) for each in planted(seed) if each.secret in redact(each.text)]
    assert len(missed) <= 10, missed[:5]  # of 1,000: a random password may happen to look like a word


@given(
    st.lists(st.sampled_from([each.text for each in planted()] + look_alikes()), max_size=4), st.sampled_from("\n ;\t")
)
def test_what_is_redacted_stays_as_it_is(texts: list[str], between: str) -> None:
    once = redact(between.join(texts))
    assert redact(once) == once


@given(st.text(alphabet=string.printable + "é€\U0001f511", max_size=300))
def test_any_text_can_be_read_and_read_again(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
    assert once.count("\n") == text.count("\n")


def test_lines_keep_their_numbers() -> None:
    pem = next(each for each in planted() if each.form == "pem")
    text = f"one\n{pem.text}\nlast"
    assert redact(text).count("\n") == text.count("\n")
    assert redact(text).splitlines()[-1] == "last"


def test_secrets_are_counted_by_sort_and_never_named() -> None:
    counts: Counter[str] = Counter()
    redact('password = "hunter2-x9" and then password: "tr0ub4dor&3"', counts)
    assert counts == {"password": 2}


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ('{"password": "hunter2-x9"}', '{"password": "[redacted: password]"}'),
        ("postgres://ferry:s3cr3t-pier@db/ferry", "postgres://ferry:[redacted: password]@db/ferry"),
        ("The password is hunter2-x9.", "The password is [redacted: password]."),
        ('db_pass = "hunter2-x9"', 'db_pass = "[redacted: password]"'),
        ("Please pass `stream=False` to it", "Please pass `stream=False` to it"),
        ("Ünïcode first — password: hunter2-x9", "Ünïcode first — password: [redacted: password]"),
    ],
)
def test_only_the_secret_itself_goes(written: str, left: str) -> None:
    assert redact(written) == left


def _sample(kind: str) -> str:
    """A made-up key of a vendor's form, from parts."""
    run = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
    hexes = "0123456789abcdef" * 4
    return {
        "Azure storage key": "Account" + "Key=" + (run * 3)[:86] + "==",
        "Cloudant key": f"https://{'ferry'}:{hexes}@ferry.cloudant.com",
        "Discord token": "M" + run[:23] + "." + run[:6] + "." + run[:27],
        "GitLab token": "gl" + "pat-" + run[:20],
        "IBM Cloud key": "ibm_cloud_iam_api_key = " + (run * 2)[:44],
        "Mailchimp key": hexes[:32] + "-us12",
        "OpenAI key": "sk-" + run[:20] + "T3Blbk" + "FJ" + run[:20],
        "SendGrid key": "S" + "G." + run[:22] + "." + (run * 2)[:43],
        "Slack token": "https://hooks.slack.com/services/" + "T" + run[:8] + "/B" + run[:8] + "/" + run[:24],
        "Square token": "sq0" + "csp-" + (run * 2)[:43],
        "Twilio key": "A" + "C" + hexes[:32],
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "Azure storage key",
        "Cloudant key",
        "Discord token",
        "GitLab token",
        "IBM Cloud key",
        "Mailchimp key",
        "OpenAI key",
        "SendGrid key",
        "Slack token",
        "Square token",
        "Twilio key",
    ],
)
def test_no_quick_look_hides_what_the_detectors_would_find(kind: str) -> None:
    text = f"the harbour uses {_sample(kind)} today"
    assert detectors().search(text), "the sample is of no known form"
    assert "[redacted: " in redact(text)
