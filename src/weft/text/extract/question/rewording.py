"""Alternative wording of a terse question: abbreviations written out and synonyms."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from weft.text.lexical import STOP_WORDS, stems, tokens

MAX_CONTENT_WORDS: Final = 6
MAX_ADDED: Final = 3  # synonyms per word
MAX_QUERY_CHARACTERS: Final = 400

# A group of synonyms per line, in order of preference.
_GROUPS: Final = """
auth, authentication, authorization, login
decision, rationale, reason, choice
db, database
k8s, kubernetes
repo, repository
config, configuration, settings
deps, dependencies, packages
perf, performance, latency
env, environment
prod, production
dev, development
staging, preproduction
bug, error, failure, defect
crash, exception, failure
fix, repair, patch
outage, incident, downtime
deploy, deployment, release, rollout
rollback, revert, undo
ci, pipeline, build
infra, infrastructure
doc, docs, documentation
spec, specification, requirements
api, endpoint, interface
ui, frontend, interface
backend, server
func, function
param, parameter, argument
var, variable
impl, implementation
init, initialization, startup
msg, message
req, request
resp, response
async, asynchronous, concurrent
sync, synchronization
mem, memory
perms, permissions, access
creds, credentials, password, secret
admin, administrator
org, organization, company
mgr, manager, lead
eng, engineer, developer
pm, product manager
owner, responsible, maintainer
meeting, call, appointment
todo, task, action item
eta, deadline, due date
asap, urgent, priority
cost, price, expense
pay, salary, wage
vacation, holiday, trip
doctor, physician, dr
job, work, employment
home, house, apartment
car, vehicle
kid, child, son, daughter
spouse, partner, husband, wife
pet, dog, cat
favourite, favorite, preferred
diet, food, eating
allergy, allergic, intolerance
bday, birthday
phone, number, mobile
addr, address
pic, photo, picture, image
vuln, vulnerability, security
encrypt, encryption, cryptography
cert, certificate, tls
migrate, migration, upgrade
legacy, old, deprecated
cache, caching
queue, broker, messaging
log, logging, logs
metric, monitoring, observability
test, tests, testing
refactor, restructure, cleanup
lib, library, package
ml, machine learning
ai, artificial intelligence
llm, language model
kb, knowledge base
"""


@lru_cache(maxsize=1)
def _equivalents() -> Mapping[str, tuple[str, ...]]:
    """Stem → the other words of its groups. Words with the same stem count as one."""
    found: dict[str, dict[str, None]] = {}
    for line in _GROUPS.strip().split("\n"):
        words = [word.strip() for word in line.split(",")]
        for word in words:
            key = stems(word)
            if len(key) == 1:
                others = (other for other in words if stems(other) != key)
                found.setdefault(key[0], {}).update(dict.fromkeys(others))
    return {key: tuple(words)[:MAX_ADDED] for key, words in found.items()}


def reworded(query: str) -> str | None:
    """Another wording of a terse question; None if it is long or no word has synonyms.

    Words with synonyms are replaced by them; other content words stay in order, each once.
    """
    if len(query) > MAX_QUERY_CHARACTERS:
        return None
    words = [word for word in dict.fromkeys(tokens(query)) if word not in STOP_WORDS]
    if not 0 < len(words) <= MAX_CONTENT_WORDS:
        return None
    table = _equivalents()
    there = set(stems(query))
    wording: dict[str, None] = {}
    replaced = False
    for word in words:
        stem = stems(word)
        others = [other for other in table.get(stem[0], ()) if stems(other)[0] not in there] if stem else []
        replaced = replaced or bool(others)
        wording.update(dict.fromkeys(others or [word]))
    return " ".join(wording) if replaced else None
