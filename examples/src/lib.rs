//! Programs that show how agents and clients are written; see `src/bin`. The programs of the README are compiled here:
#![doc = include_str!("../../README.md")]
