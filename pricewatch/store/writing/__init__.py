"""Everything that a run writes: observations, history, quarantine, checkpoints, outcomes. Batched, in transactions."""
