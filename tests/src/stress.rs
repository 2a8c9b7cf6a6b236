//! The engine under attack: every fault at every call of the store, everything at once, many readers, many hours.

mod crowds;
mod dropped;
mod hours;
mod pairs;
mod store;
mod sweep;

use std::sync::Arc;

use a2a_server::{Agent, AgentBuilder, AgentError, EventSink, ExecutionContext, executor_fn};
use tokio::sync::Notify;

/// What lets a `gate` go on, to its end or to its failure.
#[derive(Clone, Default)]
struct Gate {
    complete: Arc<Notify>,
    fail: Arc<Notify>,
}

/// An agent that does what a message says, and on an answer says it back.
fn agent(gate: &Gate) -> AgentBuilder {
    let gate = gate.clone();
    Agent::builder(executor_fn(move |cx: ExecutionContext, out: EventSink| {
        let gate = gate.clone();
        async move { execute(&cx, &out, &gate).await }
    }))
}

async fn execute(cx: &ExecutionContext, out: &EventSink, gate: &Gate) -> Result<(), AgentError> {
    let text = cx.message().text();
    if cx.task().is_some() {
        return Ok(out.reply(text).await?);
    }
    match text.as_str() {
        "stream" => {
            let mut text = out.text();
            for chunk in ["one ", "two ", "three ", "four ", "five"] {
                text.push(chunk).await?;
            }
            text.finish().await?;
            out.complete().await?;
        }
        "pause" => out.input_required("which?").await?,
        "authorize" => out.auth_required("sign in").await?,
        "hang" => {
            out.working("on it").await?;
            cx.cancelled().await;
        }
        "gate" => {
            out.working("on it").await?;
            tokio::select! {
                () = gate.complete.notified() => out.reply("done").await?,
                () = gate.fail.notified() => out.fail("failed").await?,
                _ = cx.cancelled() => {}
            }
        }
        "fail" => out.fail("failed").await?,
        "raise" => return Err("boom".into()),
        "panic" => panic!("boom"),
        text => out.reply(text).await?,
    }
    Ok(())
}
