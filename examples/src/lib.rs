//! Programs that show how agents and clients are written; see `src/bin`.
