//! An agent whose tasks outlive it: it counts, and stores each step in a SQLite file. Kill it in the middle, and start it
//! again on the same file: the task has failed at the step where it was, and one that asked can still be answered.
//!
//! `cargo run -p examples --bin durable_agent -- tasks.db [127.0.0.1:8080]`

#![expect(clippy::print_stdout, reason = "it says where it listens")]

use a2a_server::store::SqliteStore;
use a2a_server::{Agent, AgentError, AgentExecutor, EventSink, ExecutionContext};

struct Counter;

impl AgentExecutor for Counter {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        let Ok(count) = cx.message().text().trim().parse::<u32>() else {
            out.input_required("How far shall I count?").await?;
            return Ok(());
        };
        for step in 1..=count {
            // Once this returns the step is on the disk, and only then does anybody see it.
            out.working(step.to_string()).await?;
        }
        out.reply(format!("I counted to {count}.")).await?;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or("usage: durable_agent FILE [ADDRESS]")?;
    let address = arguments.next();
    let server = Agent::builder(Counter)
        .name("counter")
        .store(SqliteStore::open(file).await?)
        .bind(address.as_deref().unwrap_or("127.0.0.1:8080"))
        .await?;
    println!("http://{}", server.local_addr());
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}
