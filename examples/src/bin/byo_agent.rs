//! An agent that takes notes, remembers them over turns and restarts, and asks before it throws one away:
//! `cargo run -p examples --bin byo_agent`, or in an image as it is.

use kagent_ext::a2a_server::{AgentError, AgentExecutor, EventSink, ExecutionContext};
use kagent_ext::byo::{Byo, ByoError};
use kagent_ext::config::Environment;
use kagent_ext::hitl::{self, Hitl, HitlTool, ToolApprovalRequest};
use kagent_ext::memory::{ContextState, Continuation};
use kagent_ext::part::{FunctionCall, FunctionResponse};
use kagent_ext::text::prompt_text;
use kagent_ext::tool::ToolSink as _;
use kagent_ext::usage::{TokenCounts, UsageMeter};

fn main() -> Result<(), ByoError> {
    byo(&Environment::process()).run()
}

pub(crate) fn byo(environment: &Environment) -> Byo {
    let notes = Notes {
        notes: ContextState::open(environment, "notes"),
        doomed: Continuation::open(environment, "doomed"),
    };
    Byo::new(notes).agent(|agent| agent.name("notes").description("Takes notes"))
}

struct Notes {
    /// The notes of each conversation.
    notes: ContextState<Vec<String>>,
    /// The note that a task waits to throw away.
    doomed: Continuation<String>,
}

impl AgentExecutor for Notes {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        let mut notes = self.notes.load(cx.context_id()).await?.unwrap_or_default();
        if let Hitl::Approvals(answer) = Hitl::of(&cx) {
            let doomed = self.doomed.take(cx.task_id()).await?.unwrap_or_default();
            if !answer.all_approved() {
                return Ok(out.reply("Kept.").await?);
            }
            let call = FunctionCall::new("call-1", "throw_away");
            out.tool_call(call.arg("note", &*doomed)).await?;
            notes.retain(|kept| *kept != doomed);
            self.notes.save(cx.context_id(), &notes).await?;
            let gone = FunctionResponse::new("call-1", "throw_away", "gone");
            out.tool_result(gone).await?;
            let left = format!("Gone, {} left.", notes.len());
            return Ok(out.reply(left).await?);
        }

        let prompt = prompt_text(cx.message());
        // What a model would report of this call.
        let words = prompt.split_whitespace().count();
        let used = TokenCounts::new(u64::try_from(words)?, 1);
        UsageMeter::of(&cx).record(&cx.message().message_id, "notebook", used);

        if let Some(note) = prompt.strip_prefix("forget ") {
            // Before the question is public, what its answer needs is on the disk.
            self.doomed.save(cx.task_id(), &note.to_owned()).await?;
            let tool = HitlTool::new("call-1", "throw_away").arg("note", note);
            hitl::pause(&cx, &out, ToolApprovalRequest::new([tool])).await?;
        } else if prompt == "list" {
            let mut text = out.text();
            for note in notes {
                text.push(format!("- {note}\n")).await?;
            }
            text.finish().await?;
            out.complete().await?;
        } else {
            notes.push(prompt);
            self.notes.save(cx.context_id(), &notes).await?;
            let noted = format!("Noted, {} in all.", notes.len());
            out.reply(noted).await?;
        }
        Ok(())
    }
}
