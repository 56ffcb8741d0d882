"""Questions about code: context_pack, slices, explanations, impact, diffs, graph queries."""
