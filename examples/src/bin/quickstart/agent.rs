use kagent_ext::a2a_proto::v1::Role;
use kagent_ext::a2a_server::{AgentError, AgentExecutor, EventSink, ExecutionContext};
use kagent_ext::hitl::{self, AskUserRequest, Hitl, HitlTool, Question, ToolApprovalRequest};
use kagent_ext::part::{FunctionCall, FunctionResponse};
use kagent_ext::tool::ToolSink;
use kagent_ext::usage::{TokenCounts, UsageMeter};

/// Looks after a cluster. In place of a model it has four things to say.
pub(crate) struct Operator;

impl AgentExecutor for Operator {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        let reply = match Hitl::of(&cx) {
            Hitl::Approvals(approvals) => {
                let mut outcomes = Vec::new();
                for approval in &approvals {
                    let (id, name) = (&approval.tool().id, &approval.tool().name);
                    out.tool_call(FunctionCall::new(id, name)).await?;
                    let result = approval.rejection().unwrap_or_else(|| "done".to_owned());
                    out.tool_result(FunctionResponse::new(id, name, result.as_str()))
                        .await?;
                    outcomes.push(format!("{name}: {result}"));
                }
                outcomes.join(". ")
            }
            Hitl::Answers(answers) => {
                let chosen: Vec<String> = answers
                    .iter()
                    .map(|(_, chosen)| chosen.join(", "))
                    .collect();
                format!("Deployed to {}.", chosen.join(", "))
            }
            Hitl::None => match cx.message().text().as_str() {
                "Clean up." => {
                    let calls = ["restart_pod", "delete_volume"]
                        .map(|tool| HitlTool::new(format!("call-{tool}"), tool));
                    count(&cx, "");
                    return Ok(hitl::pause(&cx, &out, ToolApprovalRequest::new(calls)).await?);
                }
                "Deploy." => {
                    let question =
                        Question::new("To which cluster?").with_choices(["staging", "production"]);
                    count(&cx, "");
                    return Ok(
                        hitl::pause(&cx, &out, AskUserRequest::new("call-ask", [question])).await?,
                    );
                }
                "What have we done?" => {
                    let earlier = cx.conversation(20).await?;
                    let asked = earlier
                        .iter()
                        .filter(|message| message.role() == Role::User);
                    let asked: Vec<String> = asked.map(|message| message.text()).collect();
                    format!("You said: {}", asked.join(" | "))
                }
                _ => "A pod is the smallest thing that a cluster runs.".to_owned(),
            },
        };
        count(&cx, &reply);
        let mut stream = out.text();
        for word in reply.split_inclusive(' ') {
            stream.push(word).await?;
        }
        stream.finish().await?;
        Ok(out.complete().await?)
    }
}

/// A model would say how many tokens it read and wrote; here each word counts.
fn count(cx: &ExecutionContext, reply: &str) {
    let words = |text: &str| text.split_whitespace().count() as u64;
    let counts = TokenCounts::new(words(&cx.message().text()), words(reply));
    UsageMeter::of(cx).record(&cx.message().message_id, "words", counts);
}
