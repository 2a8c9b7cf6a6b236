//! The agent that is measured.

use a2a_proto::v1::{Artifact, Part};
use a2a_server::{Agent, AgentError, EventSink, ExecutionContext, Server, executor_fn};
use tokio::sync::watch;

use crate::Result;
use crate::load::Order;
use crate::process::Ready;

pub(crate) async fn serve() -> Result<(Ready, Server)> {
    let (go, gate) = watch::channel(0_u32);
    let executor = executor_fn(move |cx: ExecutionContext, out: EventSink| {
        let (go, gate) = (go.clone(), gate.clone());
        async move { execute(&cx, &out, &go, gate).await }
    });
    let server = Agent::builder(executor)
        .build()?
        .bind("127.0.0.1:0")
        .await?;
    let address = server.local_addr();
    let ready = Ready {
        http: format!("http://{address}"),
        grpc: address.to_string(),
    };
    Ok((ready, server))
}

async fn execute(
    cx: &ExecutionContext,
    out: &EventSink,
    go: &watch::Sender<u32>,
    mut gate: watch::Receiver<u32>,
) -> Result<(), AgentError> {
    let text = cx.message().text();
    match Order::read(&text) {
        Order::Echo(text) => out.reply(text).await?,
        Order::Stream(count) => chunks(out, count).await?,
        Order::Gated(count) => {
            out.working("").await?;
            let seen = *gate.borrow_and_update();
            gate.wait_for(|opened| *opened > seen).await?;
            chunks(out, count).await?;
        }
        Order::Open => {
            go.send_modify(|opened| *opened += 1);
            out.reply("").await?;
        }
        Order::Artifacts(count) => {
            for index in 0..count {
                let id = format!("a{index}");
                out.artifact(Artifact::new(id, [Part::text("x".repeat(64))]))
                    .await?;
            }
            out.complete().await?;
        }
        Order::Idle => {
            out.working("").await?;
            cx.cancelled().await;
        }
    }
    Ok(())
}

async fn chunks(out: &EventSink, count: usize) -> Result<(), AgentError> {
    let mut text = out.text();
    for _ in 0..count {
        text.push("token ").await?;
    }
    text.finish().await?;
    out.complete().await?;
    Ok(())
}
