"""Writing memories: remember, facts, entities, events, decisions, corrections."""
