//! The tools that people use with an agent: grpcurl, and nginx in front of it.
//!
//! A tool that is not installed skips its tests with a line that says so; where `A2A_TOOLS=required` is set, as in CI, that
//! is a failure.

mod grpcurl;
mod nginx;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use a2a_server::{Agent, AgentBuilder, EventSink, ExecutionContext, executor_fn};
use tokio::sync::Semaphore;

/// The path of a program, or `None` where its tests are skipped.
fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = ["target/tools", "/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = std::env::split_paths(&path)
        .chain(places.map(|place| root.join(place)))
        .map(|folder| folder.join(program));
    let found = found.find(|path| path.is_file());
    if found.is_none() {
        let required = std::env::var_os("A2A_TOOLS").is_some_and(|value| value == "required");
        assert!(!required, "{program} is not installed");
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// Echoes; `slow` waits until it is let go, `hang` until it is canceled.
fn agent(go: &Arc<Semaphore>) -> AgentBuilder {
    let go = Arc::clone(go);
    Agent::builder(executor_fn(move |cx: ExecutionContext, out: EventSink| {
        let go = Arc::clone(&go);
        async move {
            match cx.message().text().as_str() {
                "slow" => {
                    out.working("first").await?;
                    go.acquire().await?.forget();
                    Ok(out.reply("second").await?)
                }
                "hang" => {
                    out.working("until canceled").await?;
                    cx.cancelled().await;
                    Ok(())
                }
                text => Ok(out.reply(text).await?),
            }
        }
    }))
    .name("tools")
}
