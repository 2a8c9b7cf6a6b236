//! The client against peers that answer with prepared bytes, well-behaved and otherwise.
#![cfg(all(feature = "grpc", feature = "jsonrpc", feature = "rest"))]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "all of it is test code"
)]

mod calls;
mod discovery;
mod facts;
mod follow;
mod grpc;
mod grpc_peer;
mod outcome;
mod peer;
mod rebase;
mod retries;
mod streams;

use std::future::Future;
use std::time::Duration;

/// Runs a test that must not hang.
fn run<T>(test: impl Future<Output = T>) -> T {
    runtime().block_on(in_time(test))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

async fn in_time<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), test)
        .await
        .expect("the test hangs")
}
