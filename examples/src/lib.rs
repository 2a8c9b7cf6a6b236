//! Programs that show how agents and clients are written; see `src/bin`. The programs of the README are tested here.
#![cfg_attr(doctest, doc = include_str!("../../README.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/client.md"))]
