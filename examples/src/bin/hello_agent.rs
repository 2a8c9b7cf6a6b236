//! A complete agent: it says back what it hears. Serves until Ctrl-C.
//!
//! `cargo run -p examples --bin hello_agent [-- --port 8080]`

use kagent_ext::a2a_server::{AgentError, AgentExecutor, EventSink, ExecutionContext};
use kagent_ext::byo::{Byo, ByoError};

struct Hello;

impl AgentExecutor for Hello {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        let mut reply = out.text();
        reply.push("You said: ").await?;
        reply.push(cx.message().text()).await?;
        for file in cx
            .message()
            .parts
            .iter()
            .filter(|part| !part.filename.is_empty())
        {
            reply.push(format!("\nYou sent: {}", file.filename)).await?;
        }
        reply.finish().await?;
        out.complete().await?;
        Ok(())
    }
}

fn main() -> Result<(), ByoError> {
    let port = std::env::args().nth(2);
    Byo::new(Hello)
        .agent(|agent| agent.name("hello").description("Says back what it hears"))
        .listen(format!("127.0.0.1:{}", port.as_deref().unwrap_or("8080")))
        .run()
}
