# Written by docs/generate_reference.py; edit the operations, then run `make reference`.
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal

import weft.access.approve
import weft.access.audit
import weft.access.token_commands
import weft.append.import_log
import weft.checkout.agent_file
import weft.checkout.assemble_context
import weft.checkout.checkout
import weft.checkout.compaction.compact
import weft.checkout.compaction.compaction_show
import weft.checkout.compaction.session_compact
import weft.checkout.previous_context
import weft.code.ask.diff
import weft.code.ask.docs
import weft.code.ask.explain
import weft.code.ask.graph_edges
import weft.code.ask.graph_health
import weft.code.ask.graph_query
import weft.code.ask.impact
import weft.code.ask.rebuild
import weft.code.ask.semantic_slice
import weft.code.ask.similar_code
import weft.code.ask.workspaces
import weft.code.communities.show
import weft.code.index.history
import weft.context.code_pack
import weft.conversations.archive
import weft.conversations.import_conversations
import weft.conversations.lists
import weft.conversations.receive
import weft.conversations.record
import weft.conversations.screen
import weft.erasure.carry_out
import weft.erasure.delete
import weft.erasure.forget
import weft.fleet.alerts
import weft.fleet.claiming
import weft.fleet.episodes.adding
import weft.fleet.episodes.recall
import weft.fleet.findings
import weft.fleet.overview
import weft.fleet.projects
import weft.fleet.publish
import weft.fleet.reflecting.reflect
import weft.fleet.reports
import weft.fleet.work.blocking
import weft.fleet.work.creating
import weft.fleet.work.handoff
import weft.fleet.work.progress
import weft.fleet.work.updating
import weft.fleet.work_products
import weft.ingest.ingest
import weft.log.verify
import weft.recall.ask
import weft.recall.cite
import weft.recall.conversation_search
import weft.recall.explanation
import weft.recall.look
import weft.recall.memory_search
import weft.recall.priority
import weft.recall.reasoning_style
import weft.recall.recall
import weft.recall.recall_raw
import weft.recall.similar
import weft.recall.views.merge_views
import weft.recall.views.view_steps
import weft.upkeep.configuration
import weft.upkeep.hygiene.apply
import weft.upkeep.hygiene.run
import weft.upkeep.keys
import weft.upkeep.log
import weft.upkeep.pending
import weft.upkeep.reindex
import weft.upkeep.statistics
import weft.upkeep.store
import weft.writing.batches
import weft.writing.curate
import weft.writing.extract_memories
import weft.writing.proposals
import weft.writing.write_contract
from weft.runtime.operation import Operation

def plain(value: Any) -> Any: ...
def positional(called: Operation) -> tuple[str, ...]: ...

class OperationMethods:
    def remember(self, text: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, name: str = '', kind: str = 'Memory', speaker: str | None = None, valid_from: str | date | None = None, valid_to: str | date | None = None, occurred_at: str | date | None = None, corrects: str | None = None, takes_back: str | None = None, props: dict[str, str | int | float | bool | None] = ..., expected_head: int | None = None) -> weft.writing.write_contract.WriteResult:
        """Keep a text verbatim, with its source."""

    def add_fact(self, subject: str, predicate: str, object: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, subject_entity: str | None = None, subject_kind: str | None = None, valid_from: str | date | None = None, valid_to: str | date | None = None, cardinality: Literal['one', 'many'] | None = None, confidence: float | None = None) -> weft.writing.write_contract.WriteResult:
        """Record a fact: a property of an entity, from a time on."""

    def add_entity(self, name: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, kind: str = 'Entity', description: str = '', aliases: Sequence[str] = ...) -> weft.writing.write_contract.WriteResult:
        """Record an entity (a person, system or thing) and its names."""

    def link_entities(self, source: str, relation: str, target: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, weight: float = 1.0, valid_from: str | date | None = None, valid_to: str | date | None = None) -> weft.writing.write_contract.WriteResult:
        """Record that one entity is related to another."""

    def merge_entities(self, duplicate: str, into: str, reason: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Merge two entities that are the same; can be undone."""

    def split_entities(self, duplicate: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Undo a merge of entities."""

    def add_event(self, description: str, occurred_at: str | date, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, entities: Sequence[str] = ...) -> weft.writing.write_contract.WriteResult:
        """Record what happened, when, and whom it involved."""

    def add_causal_link(self, cause: str, effect: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, confidence: float | None = None, entities: Sequence[str] = ..., events: Sequence[str] = ...) -> weft.writing.write_contract.WriteResult:
        """Record that one thing led to another."""

    def add_concept(self, name: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, description: str = '', entities: Sequence[str] = ...) -> weft.writing.write_contract.WriteResult:
        """Record a concept, its meaning and the entities that it represents."""

    def memory_write(self, kind: str, text: str = '', *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, name: str = '', props: dict[str, str | int | float | bool | None | Sequence[str]] = ..., relations: Sequence[dict[str, Any]] = ..., valid_from: str | date | None = None, valid_to: str | date | None = None) -> weft.writing.write_contract.WriteResult:
        """Write a node of any kind, with properties and relations."""

    def add_entities(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many entities in one call; items with errors are reported, the others are written."""

    def add_events(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many events in one call; items with errors are reported, the others are written."""

    def add_facts(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many facts in one call; items with errors are reported, the others are written."""

    def add_concepts(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many concepts in one call; items with errors are reported, the others are written."""

    def add_causal_links(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many causal links in one call; items with errors are reported, the others are written."""

    def link_many(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many relations in one call; items with errors are reported, the others are written."""

    def save_decisions(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many decisions in one call; items with errors are reported, the others are written."""

    def save_patterns(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many patterns in one call; items with errors are reported, the others are written."""

    def save_contexts(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many contexts in one call; items with errors are reported, the others are written."""

    def save_preferences(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many preferences in one call; items with errors are reported, the others are written."""

    def remember_many(self, items: Sequence[dict[str, Any]], *, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.batches.BatchWritten:
        """Write many texts in one call; items with errors are reported, the others are written."""

    def save_decision(self, title: str, rationale: str = '', *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, alternatives: Sequence[str] = ..., entities: Sequence[str] = ..., supersedes: str | None = None, valid_from: str | date | None = None, decision: Literal['auto', 'new'] = 'auto') -> weft.writing.write_contract.WriteResult:
        """Keep a decision with its reasons, once."""

    def save_pattern(self, title: str, description: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, examples: Sequence[str] = ..., entities: Sequence[str] = ...) -> weft.writing.write_contract.WriteResult:
        """Keep a proven way of doing things, once."""

    def save_context(self, title: str, body: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, entities: Sequence[str] = ...) -> weft.writing.write_contract.WriteResult:
        """Keep background knowledge about the work, under a title."""

    def save_preference(self, subject: str, preference: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, polarity: int = 1, strength: float | None = None) -> weft.writing.write_contract.WriteResult:
        """Keep what a person or thing likes or dislikes."""

    def recall(self, query: str, *, limit: int = 10, kinds: Sequence[str] | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None, asked_at: str | date | None = None, min_score: float | None = None, intent: Literal['WHY', 'WHEN', 'WHO', 'WHAT', 'EXPLORE'] | None = None, history: Sequence[str] = ..., recipe: str = 'default', max_tokens: int = 3500, synthesize: bool = False, receipt: bool = False, fields: Sequence[str] | None = None, explain: bool = False) -> weft.recall.recall.Recalled:
        """Find memories, each with its citation and the reason for its rank."""

    def memory_checkout(self, query: str, *, limit: int = 10, kinds: Sequence[str] | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None, asked_at: str | date | None = None, min_score: float | None = None, purpose: str | None = None, task_profile: dict[Literal['role', 'task', 'risk', 'horizon', 'action', 'permission', 'evidence', 'retention', 'lens'], str] = ..., session: str | None = None, max_tokens: int = 1200, fields: Sequence[Literal['working_set', 'current_facts', 'evidence', 'provenance', 'retention', 'warnings', 'guidance', 'quality', 'diagnostics', 'counts', 'token_use', 'claims', 'conflicts', 'learnings']] | None = None, diagnostics: bool = False, include_pending: bool = False) -> weft.checkout.checkout.Checkout:
        """Begin a task: a prompt of cited lines from memory, within a budget."""

    def assemble_context(self, query: str, *, limit: int = 10, kinds: Sequence[str] | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None, asked_at: str | date | None = None, min_score: float | None = None, session: str | None = None, replay: int = 20, max_tokens: int = 1200) -> weft.checkout.assemble_context.AssembledContext:
        """Join the latest events and the hits of a question in one cited block."""

    def previous_context(self, *, project: str | None = None, limit: int = 10, max_tokens: int = 1200) -> weft.checkout.previous_context.PreviousContext:
        """Show the state of a project: the last digest, open tasks, alerts."""

    def ask(self, query: str, *, limit: int = 10, kinds: Sequence[str] | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None, asked_at: str | date | None = None, min_score: float | None = None, max_tokens: int = 3500) -> weft.recall.ask.AskResult:
        """Answer a question from memory, with sources."""

    def recall_raw(self, query: str, *, limit: int = 10, kinds: Sequence[str] | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None, asked_at: str | date | None = None, min_score: float | None = None, intent: Literal['WHY', 'WHEN', 'WHO', 'WHAT', 'EXPLORE'] | None = None, history: Sequence[str] = ..., recipe: str = 'default') -> weft.recall.recall_raw.RecalledRaw:
        """Recall as a structure: intent, what each view found, chains, the merged nodes."""

    def screen(self, message: str, *, channel: Literal['admin', 'public', 'direct', 'group'] = 'public', history: Sequence[str] = ...) -> weft.conversations.screen.Screened:
        """Screen a message from outside: verdict, injection, query, intent, language."""

    def memory_search(self, query: str, *, limit: int = 10, kinds: Sequence[str] | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None, asked_at: str | date | None = None, min_score: float | None = None, profile: Literal['balanced', 'precision', 'recall', 'temporal', 'custom'] = 'balanced', weights: dict[str, float] = ..., fusion: Literal['gated', 'weighted', 'rrf', 'profile'] = 'gated', feedback: Literal['counts', 'ignored'] = 'counts', retrieval_class: Literal['entity', 'temporal', 'event', 'general', 'none'] | None = None, intent: Literal['WHY', 'WHEN', 'WHO', 'WHAT', 'EXPLORE'] | None = None, history: Sequence[str] = ..., reword: bool = False, rerank: Literal['configured', 'lexical', 'none'] = 'configured', mmr: bool = False, diversity: float | None = None, retention: Literal['none', 'filter_expired', 'decay'] | None = None, purpose: str | None = None, cues: dict[Literal['mission', 'workspace', 'tool', 'phase'], str] = ..., entity_depth: int | None = None, temporal_depth: int | None = None, causal_depth: int | None = None, expand_hops: int = 1, fields: Sequence[str] | None = None, explain: bool = False) -> weft.recall.memory_search.Searched:
        """Search with all settings: profile, fusion, class, reranker, fields, related."""

    def conversation_search(self, query: str, *, session: str | None = None, limit: int = 10, neighbours: int = 1, project: str | None = None, everywhere: bool = False, archived: bool = False, as_of: str | date | None = None, known_at: str | date | None = None, asked_at: str | date | None = None, min_score: float | None = None) -> weft.recall.conversation_search.MessagesFound:
        """Find messages of conversations, with the turns around them."""

    def find_similar(self, id: str | None = None, *, text: str | None = None, limit: int = 10, kinds: Sequence[str] | None = None, min_score: float = 0.0, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None, fields: Sequence[str] | None = None) -> weft.recall.similar.SimilarFound:
        """Find the nodes most similar to a node or a text."""

    def explain(self, query: str, id: str | None = None, *, limit: int = 10, kinds: Sequence[str] | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None, asked_at: str | date | None = None, min_score: float | None = None, intent: Literal['WHY', 'WHEN', 'WHO', 'WHAT', 'EXPLORE'] | None = None, history: Sequence[str] = ..., recipe: str = 'default') -> weft.recall.explanation.Explained:
        """Say why a node has its rank in an answer, or why it is not there."""

    def answer(self, id: str) -> weft.recall.recall.Recalled:
        """Print an earlier answer again, exactly, from its receipt."""

    def memory_feedback(self, id: str, outcome: str, *, note: str = '', request_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Report whether a memory was useful: it ranks higher or lower from then on."""

    def memory_edit(self, id: str, *, text: str | None = None, name: str | None = None, props: dict[str, str | int | float | bool | None] | None = None, reason: str = '', request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Change a memory's text, title or properties: a new version, the earlier one is kept."""

    def correct(self, id: str, text: str, *, reason: str = '', request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Correct a memory that was wrong from the start."""

    def memory_invalidate(self, id: str, *, at: str | date | None = None, reason: str = '', request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """End a memory: it is no longer true from a given time on."""

    def forget(self, id: str, *, reason: str = '', undo: bool = False, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.erasure.forget.Forgotten:
        """Remove a memory from view, or bring it back."""

    def delete(self, target: str, *, reason: str = '', request_id: str | None = None, governance_token: str | None = None) -> weft.erasure.delete.DeletionResult:
        """Remove a file, a conversation or any node from view, with its parts."""

    def restore(self, id: str, *, reason: str = '', governance_token: str | None = None) -> weft.erasure.delete.DeletionResult:
        """Restore what was deleted, with everything that was deleted with it."""

    def deletion_list(self, *, limit: int = 20) -> weft.erasure.delete.DeletionList:
        """List deletions that can be restored: by whom, until when."""

    def purge(self, *, now: str | None = None, dry_run: bool = False, yes: bool = False) -> weft.erasure.carry_out.Erasure:
        """Erase for good what was deleted longer ago than the days of grace."""

    def clear_graph(self, *, project: str | None = None, level: Literal['project', 'global'] = 'project', confirm: str = '', undo: bool = False) -> weft.erasure.delete.DeletionResult:
        """Remove everything of a project from view at once, or restore it."""

    def erase(self, *, subject: str | None = None, source: str | None = None, session: str | None = None, everything: bool = False, dry_run: bool = False, yes: bool = False, confirm: str = '') -> weft.erasure.carry_out.Erasure:
        """Erase a person, a source or a session for good, with all that was made from it."""

    def tag(self, id: str, *, agents: Sequence[str] = ..., keywords: Sequence[str] = ..., remove_agents: Sequence[str] = ..., remove_keywords: Sequence[str] = ..., request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Set the agents that a memory is meant for and the topics that it belongs to."""

    def pin(self, id: str, *, pinned: bool = True, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Keep a memory from fading."""

    def compile_truth(self, entity: str, *, text: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None) -> weft.writing.curate.TruthCompiled:
        """Summarise what is true of an entity today, with its sources."""

    def proposal_list(self, id: str | None = None, *, status: Literal['pending', 'accepted', 'rejected', 'all'] = 'pending', limit: int = 20) -> weft.writing.proposals.ProposalList:
        """List statements that contradict current facts and wait for a decision."""

    def proposal_review(self, id: str, decision: Literal['accept', 'reject'], *, reason: str = '', request_id: str | None = None, governance_token: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Accept or reject a statement that contradicts a current fact."""

    def request_global_write_approval(self, operation: str, arguments: dict[str, Any], *, reason: str = '') -> weft.access.approve.ApprovalRequested:
        """Request the operator's approval of one write for all projects."""

    def approval_list(self, *, status: Literal['waiting', 'approved', 'denied', 'used', 'expired', 'all'] = 'waiting', limit: int = 20) -> weft.access.approve.ApprovalList:
        """List requests to write for all projects, with their status."""

    def approve(self, id: str | None = None) -> weft.access.approve.ApprovalDecided:
        """Approve a request to write for all projects."""

    def deny(self, id: str, *, reason: str = '') -> weft.access.approve.ApprovalDecided:
        """Deny a request to write for all projects."""

    def report_write(self, title: str, body: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, source_workflow: str | None = None, occurred_at: str | date | None = None) -> weft.writing.write_contract.WriteResult:
        """Keep a report of a workflow, once per title and minute."""

    def report_read_latest(self, keyword: str, *, limit: int = 1, everywhere: bool = False) -> weft.fleet.reports.ReportsRead:
        """Read the newest report tagged with a keyword."""

    def report_list(self, *, keyword: str | None = None, source_workflow: str | None = None, limit: int = 20, offset: int = 0, everywhere: bool = False) -> weft.fleet.reports.ReportsListed:
        """List reports without their bodies, newest first."""

    def alert_raise(self, message: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, severity: Literal['info', 'warning', 'critical'] = 'warning') -> weft.writing.write_contract.WriteResult:
        """Raise an alert that is shown for 24 hours."""

    def alert_suppress(self, id: str, *, reason: str = '', request_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Suppress an alert, so that it is no longer shown."""

    def alert_list(self, *, limit: int = 20, every: bool = False, everywhere: bool = False) -> weft.fleet.alerts.AlertsListed:
        """List active alerts."""

    def digest_write(self, body: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, title: str = '', covers_from: str | date | None = None, covers_to: str | date | None = None) -> weft.writing.write_contract.WriteResult:
        """Keep a digest of what happened over a time."""

    def publish(self, name: str, *, reports: Sequence[str] = ..., report_ids: Sequence[str] = ..., documents: Sequence[str] = ..., title: str = '', scope: Literal['public', 'shared', 'admin'] = 'public', directory: str | None = None) -> weft.fleet.publish.SitePublished:
        """Write a static site of chosen reports and documents."""

    def semantic_search(self, query: str, *, top_k: int | None = None, min_score: float | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.recall.views.view_steps.SemanticSearched:
        """Find the memories nearest to a question, and the entities that they are about."""

    def entity_lookup(self, entity_ids: Sequence[str], *, depth: int | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.recall.views.view_steps.ViewExpanded:
        """Follow the relations of entities."""

    def temporal_expand(self, entity_ids: Sequence[str], *, depth: int | None = None, start: str | date | None = None, end: str | date | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.recall.views.view_steps.ViewExpanded:
        """List the events of entities, in order of time."""

    def causal_expand(self, entity_ids: Sequence[str], *, direction: Literal['upstream', 'downstream', 'both'] = 'both', depth: int | None = None, project: str | None = None, everywhere: bool = False, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.recall.views.view_steps.ViewExpanded:
        """Follow the causes and effects that concern entities."""

    def subgraph_merge(self, views: Sequence[dict[str, Any]], *, multi_view_boost: float | None = None, min_score: float = 0.0, max_nodes: int | None = None, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.recall.views.merge_views.SubgraphMerged:
        """Merge several views, each node once."""

    def linearize_context(self, nodes: Sequence[dict[str, Any]], *, intent: Literal['WHY', 'WHEN', 'WHO', 'WHAT', 'EXPLORE'] = 'EXPLORE', max_tokens: int = 3500, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.recall.views.merge_views.ContextLinearized:
        """Write nodes out as one cited text within a budget."""

    def recent(self, *, limit: int = 10, kinds: Sequence[str] | None = None, everywhere: bool = False, fields: Sequence[str] | None = None) -> weft.recall.look.NodeList:
        """Show the latest memories."""

    def show(self, id: str, *, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.recall.look.NodeDetails:
        """Show one node, its relations, and its history."""

    def cite(self, citation: str, *, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.recall.cite.Cited:
        """Print the target of a citation, and whether it still matches."""

    def project_context(self, query: str | None = None, *, project: str | None = None, focus: str | None = None) -> weft.recall.priority.ProjectContext:
        """Read the memories that matter before work: of the focus area, the project, all projects."""

    def project_create(self, name: str, *, description: str = '', scope: Literal['public', 'shared', 'admin'] | None = None) -> weft.writing.write_contract.WriteResult:
        """Create a project, so that writes can name it."""

    def focus_create(self, name: str, *, project: str | None = None, description: str = '', scope: Literal['public', 'shared', 'admin'] | None = None) -> weft.writing.write_contract.WriteResult:
        """Create a focus area of a project, with memories of its own."""

    def project_list(self, *, limit: int = 50) -> weft.fleet.projects.ProjectsShown:
        """List projects and their focus areas."""

    def ingest(self, path: str | Path, more: Sequence[str] = ..., *, gone: bool = False, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., produced_by_task_id: str | None = None) -> weft.ingest.ingest.IngestResult:
        """Read documents by section and chunk, source code by symbol, or records (.jsonl)."""

    def memory_ingest(self, source: str, text: str, *, title: str = '', form: Literal['markdown', 'text'] = 'markdown', scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., produced_by_task_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Store a document given as text, by section and chunk."""

    def graph_set_workspace(self, workspace_root: str, *, project_id: str | None = None, source_dir: str | None = None) -> weft.code.ask.workspaces.WorkspaceSet:
        """Choose the workspace of the code tools."""

    def graph_rebuild(self, *, mode: Literal['full', 'incremental'] = 'incremental', path: str | None | Path = None) -> weft.code.ask.rebuild.GraphRebuilt:
        """Read the workspace's source code into the graph; in a server, as a job."""

    def graph_health(self) -> weft.code.ask.graph_health.GraphHealth:
        """State of the code graph: indexed files, changes since, running jobs."""

    def graph_edges(self, *, rel: str = 'CONTAINS,IMPORTS,DEPENDS_ON,CALLS,EXTENDS,IMPLEMENTS,TESTS', limit: int = 200, after: int = 0, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.code.ask.graph_edges.EdgesListed:
        """List the relations of this workspace's code: imports, calls, extends, contains, tests."""

    def graph_query(self, query: str, *, mode: Literal['local', 'global', 'hybrid'] = 'local', language: Literal['natural', 'cypher'] = 'natural', limit: int = 10, types: Sequence[str] = ..., as_of: str | date | None = None, known_at: str | date | None = None) -> weft.code.ask.graph_query.GraphAnswer:
        """Find files and symbols by a question in plain words, or get an overview of the code."""

    def find_similar_code(self, element: str, *, threshold: float = 0.6, limit: int = 10, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.code.ask.similar_code.SimilarCode:
        """Find functions and classes similar to a symbol, copies first."""

    def community_list(self, *, limit: int = 20, offset: int = 0, as_of: str | date | None = None, known_at: str | date | None = None) -> weft.code.communities.show.CommunitiesListed:
        """List which files of this workspace work together, with a label and a line on each group."""

    def index_docs(self, path: str | Path = '') -> weft.ingest.ingest.IngestResult:
        """Read the documents of this workspace, without its source code."""

    def search_docs(self, query: str = '', *, symbol: str = '', limit: int = 5) -> weft.code.ask.docs.DocsFound:
        """Find passages of this workspace's documents, by a question or by a symbol that they name."""

    def diff_since(self, since: str | date, *, types: Sequence[str] = ..., limit: int = 100) -> weft.code.ask.diff.CodeChanged:
        """List files and symbols changed since a commit, a time, a Tx or an agent's last change."""

    def graph_index_commit(self, commit: str) -> weft.code.index.history.CommitIndexed:
        """Read the workspace's source code as it was at a git commit."""

    def record_turns(self, session: str, turns: Sequence[dict[str, Any] | str], *, title: str = '', at: str | date | None = None, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., request_id: str | None = None, policy: Literal['lazy', 'forensic'] | None = None, produced_by_task_id: str | None = None) -> weft.conversations.record.TurnsRecorded:
        """Record a conversation turn by turn."""

    def receive_message(self, session: str, message: str, *, channel: Literal['admin', 'public', 'direct', 'group'] = 'public', history: Sequence[str] = ..., speaker: str = 'user', at: str | date | None = None, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., policy: Literal['lazy', 'forensic'] | None = None, request_id: str | None = None) -> weft.conversations.receive.ReceiveResult:
        """Record a message from outside, and screen it."""

    def ingest_transcript(self, path: str | Path, *, format: Literal['auto', 'claude-code', 'gemini', 'cursor', 'vscode', 'codex', 'claude-export', 'chatgpt', 'slack', 'discord', 'telegram', 'whatsapp', 'open-webui', 'librechat', 'messages', 'captions', 'plain'] = 'auto', session: str | None = None, project: str | None = None, policy: Literal['lazy', 'forensic'] | None = None) -> weft.conversations.import_conversations.TranscriptsIngested:
        """Import a conversation of another program from its file."""

    def import_history(self, client: Literal['claude-code', 'gemini', 'cursor', 'vscode', 'codex'], *, since: str | date | None = None, project: str | None = None, limit: int = 100000, dry_run: bool = False) -> weft.conversations.import_conversations.TranscriptsIngested:
        """Import the conversations of a coding agent on this machine."""

    def conversation_list(self, *, archived: bool = False, limit: int = 20, offset: int = 0, project: str | None = None, everywhere: bool = False) -> weft.conversations.lists.ConversationsShown:
        """List conversations, the latest first."""

    def session_archive(self, session: str, *, archived: bool = True) -> weft.conversations.archive.SessionArchived:
        """Hide a conversation from lists and searches, or show it again; nothing is deleted."""

    def session_compact(self, session: str, *, asked: Sequence[str] = ..., done: Sequence[str] = ..., decided: Sequence[str] = ..., in_progress: Sequence[str] = ..., learned: Sequence[str] = ..., window_tokens: int | None = None, used_tokens: int | None = None, request_id: str | None = None) -> weft.checkout.compaction.session_compact.SessionCompacted:
        """Keep a briefing of a session, so that it can go on with an empty context window."""

    def session_status(self, session: str, *, used_tokens: int | None = None, window_tokens: int | None = None) -> weft.checkout.compaction.session_compact.SessionStatus:
        """Whether a session should be compacted, and its last briefing."""

    def compact(self, purpose: Literal['coding', 'review', 'release', 'security', 'research', 'coordinate'], *, query: str | None = None, since: str | date | None = None, session: str | None = None, project: str | None = None, output: str | None = None) -> weft.checkout.compaction.compact.Compacted:
        """Select the memories of a project to read first for a purpose."""

    def compaction_show(self, purpose: Literal['coding', 'review', 'release', 'security', 'research', 'coordinate'], *, query: str | None = None, limit: int = 20, project: str | None = None) -> weft.checkout.compaction.compaction_show.Projected:
        """Show the records that a compaction kept for a purpose, with their sources."""

    def bake(self, slug: str | None = None, *, all: bool = False, out: str | None = None, max_tokens: int = 12000) -> weft.checkout.agent_file.Baked:
        """Write the knowledge of an agent into a file for its prompt."""

    def agent_knowledge(self, slug: str | None = None, *, out: str | None = None) -> weft.checkout.agent_file.AgentKnowledge:
        """Print an agent's knowledge file, and whether it is up to date."""

    def agent_claim(self, target: str, intent: str, *, type: Literal['task', 'feature', 'file', 'function', 'document', 'other'] | None = None, task: str | None = None, lease_minutes: int | None = None, resume: bool = False, request_id: str | None = None) -> weft.fleet.claiming.Claimed:
        """Claim a file, a symbol or a task before changing it, so that no two agents do the same."""

    def agent_release(self, target: str, outcome: Literal['success', 'failure', 'partial'] | None = None, *, note: str = '', request_id: str | None = None) -> weft.fleet.claiming.Released:
        """End a claim, and record how the work went."""

    def coordination_overview(self, *, project: str | None = None, everywhere: bool = False, limit: int = 50) -> weft.fleet.overview.Overview:
        """Who works on what, since when, and which claims are stale or contested."""

    def agent_status(self, agent: str | None = None, *, limit: int = 10) -> weft.fleet.overview.AgentStatus:
        """What an agent holds, its task, and what it did last."""

    def episode_add(self, type: Literal['OBSERVATION', 'DECISION', 'EDIT', 'TEST_RESULT', 'ERROR', 'REFLECTION', 'LEARNING'], content: str, *, entities: Sequence[str] = ..., task_id: str | None = None, outcome: Literal['success', 'failure', 'partial'] | None = None, metadata: dict[str, Any] = ..., sensitive: bool = False, request_id: str | None = None) -> weft.fleet.episodes.adding.EpisodeAdded:
        """Record what you saw, decided, edited, tested, or an error you met."""

    def episode_recall(self, query: str, *, agent: str | None = None, task_id: str | None = None, types: Sequence[Literal['OBSERVATION', 'DECISION', 'EDIT', 'TEST_RESULT', 'ERROR', 'REFLECTION', 'LEARNING']] = ..., entities: Sequence[str] = ..., since: str | date | None = None, limit: int = 5, project: str | None = None, everywhere: bool = False) -> weft.fleet.episodes.recall.EpisodesRecalled:
        """Recall what agents saw, decided, edited, tested and learnt, with the reason for each."""

    def decision_query(self, query: str, *, affected_files: Sequence[str] = ..., limit: int = 5, project: str | None = None, everywhere: bool = False) -> weft.fleet.episodes.recall.EpisodesRecalled:
        """Find decisions that touch some code, and why they were taken."""

    def reflect(self, *, task_id: str | None = None, agent: str | None = None, limit: int = 20) -> weft.fleet.reflecting.reflect.Reflected:
        """Look through episodes for what repeats itself, and keep what is learnt."""

    def feature_create(self, title: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, description: str = '') -> weft.writing.write_contract.WriteResult:
        """Create a feature, which tasks are part of."""

    def task_create(self, title: str, description: str = '', *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, feature: str | None = None, depends_on: Sequence[str] = ..., priority: Literal['critical', 'high', 'medium', 'low'] | None = None, assignee: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Create a task, with what it waits for."""

    def plan_save(self, title: str, steps: Sequence[dict[str, Any]], *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, description: str = '', feature: str | None = None) -> weft.fleet.work.creating.PlanSaved:
        """Keep a plan: an ordered list of tasks."""

    def task_update(self, task: str, status: Literal['open', 'running', 'blocked', 'succeeded', 'failed', 'cancelled', 'pending', 'in_progress', 'completed'] | None = None, *, note: str = '', outputs: dict[str, Any] = ..., assignee: str | None = None, priority: Literal['critical', 'high', 'medium', 'low'] | None = None, depends_on: Sequence[str] = ..., request_id: str | None = None) -> weft.fleet.work.updating.TaskUpdated:
        """Move a task on; at its end claims end, the outcome is kept and something is learnt."""

    def progress_query(self, *, status: Literal['open', 'running', 'blocked', 'succeeded', 'failed', 'cancelled'] | None = None, feature: str | None = None, assignee: str | None = None, open_only: bool = False, limit: int = 20, offset: int = 0, project: str | None = None, everywhere: bool = False) -> weft.fleet.work.progress.TaskProgress:
        """Tasks with their state, who holds them and what they wait for."""

    def feature_status(self, feature: str) -> weft.fleet.work.progress.FeatureShown:
        """Progress of a feature: tasks, changed code, tests that reach it."""

    def blocking_issues(self, task: str | None = None, *, limit: int = 20, project: str | None = None, everywhere: bool = False) -> weft.fleet.work.blocking.Issues:
        """What blocks the work: blocked tasks, conflicts, stale claims, failures."""

    def handoff(self, task: str, *, to: str | None = None, take_over: bool = False, note: str = '') -> weft.fleet.work.handoff.HandedOff:
        """All that another agent needs to carry on a task; passes it on or takes it over."""

    def finding_report(self, text: str, evidence: Sequence[str], *, entities: Sequence[str] = ..., task_id: str | None = None, request_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Report what you found, for a coordinator to review."""

    def finding_review(self, id: str, verdict: Literal['accept', 'reject'], reason: str) -> weft.writing.write_contract.WriteResult:
        """Accept or reject what another agent found."""

    def finding_promote(self, id: str) -> weft.writing.write_contract.WriteResult:
        """Make an accepted finding part of the shared state, with its proof."""

    def finding_list(self, *, status: Literal['pending', 'accepted', 'rejected', 'promoted'] | None = None, limit: int = 20) -> weft.fleet.findings.FindingsListed:
        """List what workers found, with state and proof."""

    def work_create(self, kind: str, title: str, *, scope: Literal['public', 'shared', 'admin'] | None = None, agents: Sequence[str] = ..., sensitive: bool = False, level: Literal['project', 'global'] = 'project', project: str | None = None, focus: str | None = None, keywords: Sequence[str] = ..., expires_at: str | date | None = None, importance: float | None = None, purpose: str | None = None, request_id: str | None = None, governance_token: str | None = None, produced_by_task_id: str | None = None, description: str = '', inputs: dict[str, Any] = ..., conversation: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Open a task of a workflow, to which its products are joined."""

    def work_update(self, id: str, *, status: Literal['open', 'running', 'blocked'] | None = None, note: str = '', outputs: dict[str, Any] = ..., request_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Record the progress of a task."""

    def work_complete(self, id: str, *, status: Literal['succeeded', 'failed', 'cancelled'] = 'succeeded', result: str = '', outputs: dict[str, Any] = ..., request_id: str | None = None) -> weft.writing.write_contract.WriteResult:
        """Complete a task, with its result."""

    def work_show(self, id: str, *, limit: int = 20, offset: int = 0) -> weft.fleet.work_products.WorkShown:
        """Show a task, its states and its products."""

    def work_list(self, *, kind: str | None = None, status: Literal['open', 'running', 'blocked', 'succeeded', 'failed', 'cancelled'] | None = None, conversation: str | None = None, limit: int = 20, offset: int = 0, everywhere: bool = False) -> weft.fleet.work_products.WorkListed:
        """List tasks by kind, status and conversation."""

    def work_made(self, conversation: str | None = None, *, limit: int = 20, offset: int = 0) -> weft.fleet.work_products.WorkMadeShown:
        """List the products of a conversation and its tasks."""

    def log_show(self, *, session: str | None = None, after: int = 0, limit: int = 20) -> weft.upkeep.log.Events:
        """Show events of the log."""

    def log_verify(self, *, head: str | None = None, audit: bool = False) -> weft.log.verify.VerifyResult:
        """Recompute every hash, and name the first event that does not match."""

    def log_head(self, *, limit: int = 20, audit: bool = False) -> weft.upkeep.log.HeadShown:
        """Print the digest of the log, to keep elsewhere."""

    def log_export(self, path: str | Path, *, audit: bool = False) -> weft.upkeep.log.Exported:
        """Write the whole log as JSON lines."""

    def log_import(self, path: str | Path) -> weft.append.import_log.ImportResult:
        """Import an exported log."""

    def tool_calls(self, operation: str | None = None, *, session: str | None = None, last_session: bool = False, conversation: str | None = None, agent: str | None = None, errors: bool = False, since: str | date | None = None, until: str | date | None = None, before: str = '', limit: int = 20) -> weft.access.audit.ToolCallsShown:
        """Show which operations were called, when, by whom and how they ended."""

    def rebuild(self) -> weft.upkeep.store.Rebuilt:
        """Rebuild graph and text index from the log."""

    def diff(self, since: str | date | None = None, *, agent: str | None = None, everywhere: bool = False, limit: int = 50) -> weft.upkeep.store.Changed:
        """Show what changed since a time, a transaction or a git commit."""

    def stats(self) -> weft.upkeep.store.Stats:
        """Count nodes, edges, events and bytes, and list the kinds that can be searched."""

    def backup(self, path: str | Path) -> weft.upkeep.store.BackedUp:
        """Copy the account into another directory, while agents keep working."""

    def doctor(self) -> weft.upkeep.store.Diagnosis:
        """Test each part of the store, with the fix for what is broken."""

    def get_statistics(self) -> weft.upkeep.statistics.Statistics:
        """Count nodes by view and kind, and everything that waits for a decision."""

    def pending_list(self, *, limit: int = 50) -> weft.upkeep.pending.PendingShownAll:
        """List the writes in the outbox."""

    def deliver_pending(self, *, refused: bool = False) -> weft.upkeep.pending.PendingDelivered:
        """Deliver the writes in the outbox, in order, each once."""

    def run_hygiene(self, project: str | None = None, *, level: Literal['project', 'global'] = 'project', limit: int = 20) -> weft.upkeep.hygiene.run.HygieneReport:
        """Check a project for duplicates, outdated memories and stuck writes, with a fix for each."""

    def hygiene_apply(self, action: Literal['merge', 'end', 'invalidate', 'confirm', 'retry', 'drop', 'undo'], ids: Sequence[str], *, reason: str = '', governance_token: str | None = None) -> weft.upkeep.hygiene.apply.HygieneApplied:
        """Apply fixes to chosen hygiene findings, or undo them."""

    def analysis_route(self, task: str) -> weft.recall.reasoning_style.AnalysisRouted:
        """Say how to go about a task: in sequence, by debate or by asking."""

    def reindex(self, *, limit: int = 100000000, drop_old: bool = False) -> weft.upkeep.reindex.Reindexed:
        """Embed what has no vector yet, switch to another embedder, publish index files."""

    def extract_memories(self, *, kinds: Sequence[str] = ..., project: str | None = None) -> weft.writing.extract_memories.ExtractedMemories:
        """Read names, preferences and causes out of documents and conversations."""

    def init(self, project: str | None = None) -> weft.upkeep.configuration.Initialised:
        """Name this directory's project (optional)."""

    def config(self) -> weft.upkeep.configuration.ConfigShown:
        """Show every setting and its origin."""

    def context_pack(self, task: str, *, task_id: str | None = None, budget: int = 1200, include_decisions: bool = True, include_episodes: bool = True, include_learnings: bool = True, claim: bool = False) -> weft.context.code_pack.ContextPack:
        """Brief for work on code: where to start, the symbols that matter, their callers and decisions."""

    def semantic_slice(self, symbol: str = '', *, file: str = '', query: str = '', context: Literal['signature', 'body', 'with-deps', 'full'] = 'body', as_of: str | date | None = None) -> weft.code.ask.semantic_slice.SliceShown:
        """Read the exact lines of a symbol, optionally with callers, callees and decisions."""

    def code_explain(self, element: str, *, depth: int = 1, as_of: str | date | None = None) -> weft.code.ask.explain.CodeExplained:
        """Explain a symbol or a file: kind, place, callers, callees, tests, bases, history."""

    def impact_analyze(self, *, files: Sequence[str] = ..., symbols: Sequence[str] = ..., since: str | date | None = None, depth: int = 3) -> weft.code.ask.impact.ImpactAnalyzed:
        """List what a change to files or symbols may break: dependants near and far, and tests."""

    def key_new(self, name: str | None = None) -> weft.upkeep.keys.KeyMade:
        """Print a new key for sensitive memories."""

    def key_rotate(self) -> weft.upkeep.keys.KeyRotated:
        """Re-encrypt all sensitive memories with the first key."""

    def token_create(self, name: str = '', *, agent: str, account: str | None = None, role: Literal['agent', 'operator'] = 'agent', scopes: Sequence[str] = ..., audience: Literal['internal', 'public'] = 'internal', sensitive: bool = False, project: str | None = None, toolsets: Sequence[str] = ..., allow: Sequence[str] | None = None, approves: bool = False, expires: str = '90d') -> weft.access.token_commands.TokenCreated:
        """Create an access token for a caller of `weft serve`."""

    def token_list(self, *, limit: int = 100) -> weft.access.token_commands.TokensListed:
        """List access tokens with their holders and rights."""

    def token_revoke(self, id: str) -> weft.access.token_commands.TokenRevoked:
        """Revoke an access token for good."""

