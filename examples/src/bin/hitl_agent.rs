//! Asks before it deletes the files that are named to it: `cargo run -p examples --bin hitl_agent [-- --port 8080]`.

use kagent_ext::a2a_server::{AgentError, AgentExecutor, EventSink, ExecutionContext};
use kagent_ext::byo::{Byo, ByoError};
use kagent_ext::hitl::{self, Hitl, HitlTool, ToolApprovalRequest};

struct Janitor;

impl AgentExecutor for Janitor {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        if let Hitl::Approvals(approvals) = Hitl::of(&cx) {
            let outcomes = approvals.iter().map(|approval| {
                let outcome = approval.rejection().unwrap_or_else(|| "deleted".to_owned());
                format!("{}: {outcome}", approval.tool().arg_str("path"))
            });
            out.reply(outcomes.collect::<Vec<_>>().join("\n")).await?;
        } else {
            let files = cx.message().text();
            let calls = files.split_whitespace().enumerate().map(|(number, path)| {
                HitlTool::new(format!("call-{number}"), "delete_file").arg("path", path)
            });
            let request = ToolApprovalRequest::new(calls).with_hint("Gone is gone.");
            hitl::pause(&cx, &out, request).await?;
        }
        Ok(())
    }
}

fn main() -> Result<(), ByoError> {
    let port = std::env::args().nth(2);
    Byo::new(Janitor)
        .agent(|agent| {
            agent
                .name("janitor")
                .description("Deletes files, if you let it")
        })
        .listen(format!("127.0.0.1:{}", port.as_deref().unwrap_or("8080")))
        .run()
}
