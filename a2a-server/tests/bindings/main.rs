//! The bindings over real sockets, against a handler that does what a test says.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "a test fails by panicking"
)]

mod card;
mod checks;
mod embed;
mod errors;
mod facts;
mod grpc;
mod jsonrpc;
mod lint;
mod params;
#[cfg(feature = "reflection")]
mod reflection;
mod rest;
mod serve;
mod streams;
mod support;
