//! The loop: ask the model, do what it asks for, ask again.

use futures::future::join_all;
use kagent_ext::a2a_server::{AgentError, AgentExecutor, EventSink, ExecutionContext};
use kagent_ext::caller::Caller;
use kagent_ext::config::{AgentConfig, Environment};
use kagent_ext::hitl::{self, Hitl, HitlTool, ToolApprovalRequest, ask_user};
use kagent_ext::memory::{ContextState, Continuation};
use kagent_ext::part::{FunctionCall, FunctionResponse};
use kagent_ext::text::prompt_text;
use kagent_ext::tool::ToolSink as _;
use kagent_ext::usage::{TokenCounts, UsageMeter};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::model::{Model, ToolCall};
use super::tools::Tools;

pub(crate) struct LlmAgent {
    config: AgentConfig,
    model: Model,
    /// What was said in each conversation, as the model reads it.
    said: ContextState<Vec<Value>>,
    /// What waits for a person.
    waiting: Continuation<Turn>,
}

/// How far a turn is: what was said, and the calls that the model waits for.
#[derive(Serialize, Deserialize)]
struct Turn {
    messages: Vec<Value>,
    calls: Vec<ToolCall>,
}

/// What becomes of a call.
enum Fate {
    Run,
    /// It is not made; this is what the model is told.
    Told(Value),
}

impl LlmAgent {
    pub(crate) fn new(environment: &Environment, config: AgentConfig) -> Self {
        Self {
            model: Model::new(config.model.clone().unwrap_or_default()),
            said: ContextState::open(environment, "said"),
            waiting: Continuation::open(environment, "waiting"),
            config,
        }
    }
}

impl AgentExecutor for LlmAgent {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        tokio::select! {
            // The engine says CANCELED; model and tools are let go of.
            _ = cx.cancelled() => Ok(()),
            outcome = self.work(&cx, &out) => outcome,
        }
    }
}

impl LlmAgent {
    async fn work(&self, cx: &ExecutionContext, out: &EventSink) -> Result<(), AgentError> {
        // Connected anew for each message: a connection would not outlive a snapshot.
        let tools = Tools::connect(&self.config.mcp_servers, &Caller::of(cx)).await?;
        let mut turn = self.take_up(cx).await?;
        if !turn.calls.is_empty() {
            let fates = fates(&turn.calls, &Hitl::of(cx), &tools);
            self.run(&mut turn, fates, &tools, out).await?;
        }
        if matches!(Hitl::of(cx), Hitl::None) {
            turn.messages
                .push(json!({"role": "user", "content": prompt_text(cx.message())}));
        }
        for _ in 0..ROUNDS {
            turn.calls = self.ask_model(&mut turn.messages, &tools, cx, out).await?;
            if turn.calls.is_empty() {
                self.said.save(cx.context_id(), &turn.messages).await?;
                return Ok(out.complete().await?);
            }
            if self.ask_person(&turn, &tools, cx, out).await? {
                return Ok(());
            }
            let fates = turn.calls.iter().map(|_| Fate::Run).collect();
            self.run(&mut turn, fates, &tools, out).await?;
        }
        Ok(out.fail("The model calls tools without an end.").await?)
    }

    /// The turn that waits for this message, or a new one with what was said before.
    async fn take_up(&self, cx: &ExecutionContext) -> Result<Turn, AgentError> {
        if let Some(waiting) = self.waiting.take(cx.task_id()).await? {
            return Ok(waiting);
        }
        let messages = self.said.load(cx.context_id()).await?;
        let prompt = json!({"role": "system", "content": self.config.instruction});
        Ok(Turn {
            messages: messages.unwrap_or_else(|| vec![prompt]),
            calls: Vec::new(),
        })
    }

    /// Streams what the model says, and returns what it asks for.
    async fn ask_model(
        &self,
        messages: &mut Vec<Value>,
        tools: &Tools,
        cx: &ExecutionContext,
        out: &EventSink,
    ) -> Result<Vec<ToolCall>, AgentError> {
        let mut declared = tools.declarations();
        declared.push(json!({"type": "function", "function": ask_user::declaration()}));
        let mut answer = self.model.ask(messages, &declared, &Caller::of(cx)).await?;
        let mut text = out.text();
        while let Some(piece) = answer.next_text().await? {
            text.push(piece).await?;
        }
        text.finish().await?;
        let reply = answer.into_reply();
        let counts = TokenCounts::from_openai(&reply.usage);
        UsageMeter::of(cx).record(&reply.id, &reply.model, counts);
        messages.push(reply.as_message());
        Ok(reply.calls)
    }

    /// Asks a person about calls that must not be made otherwise; whether the turn waits now.
    async fn ask_person(
        &self,
        turn: &Turn,
        tools: &Tools,
        cx: &ExecutionContext,
        out: &EventSink,
    ) -> Result<bool, AgentError> {
        let question = turn.calls.iter().find(|call| call.name == ask_user::NAME);
        let unapproved = turn
            .calls
            .iter()
            .filter(|call| tools.need_approval(&call.name));
        let unapproved: Vec<HitlTool> = unapproved
            .map(|call| HitlTool::new(&call.id, &call.name).with_args(call.arguments()))
            .collect();
        let request = match question {
            Some(call) => ask_user::request(&call.id, call.arguments()),
            None if unapproved.is_empty() => return Ok(false),
            None => ToolApprovalRequest::new(unapproved).into(),
        };
        // Before the question is public, what its answer needs is on the disk.
        self.waiting.save(cx.task_id(), turn).await?;
        hitl::pause(cx, out, request).await?;
        Ok(true)
    }

    /// Makes the calls, all at once, and tells the model what they gave.
    async fn run(
        &self,
        turn: &mut Turn,
        fates: Vec<Fate>,
        tools: &Tools,
        out: &EventSink,
    ) -> Result<(), AgentError> {
        let calls = std::mem::take(&mut turn.calls);
        for call in &calls {
            let shown = FunctionCall::new(&call.id, &call.name).with_args(call.arguments());
            out.tool_call(shown).await?;
        }
        let running = calls
            .iter()
            .zip(fates)
            .map(async |(call, fate)| match fate {
                Fate::Run => tools.call(&call.name, call.arguments()).await,
                Fate::Told(text) => Ok(text),
            });
        for (call, result) in calls.iter().zip(join_all(running).await) {
            let (shown, told) = match result {
                Ok(value) => (
                    FunctionResponse::new(&call.id, &call.name, value.clone()),
                    value,
                ),
                Err(error) => (
                    FunctionResponse::error(&call.id, &call.name, &error),
                    json!({"error": error}),
                ),
            };
            out.tool_result(shown).await?;
            let told = told
                .as_str()
                .map_or_else(|| told.to_string(), str::to_owned);
            turn.messages
                .push(json!({"role": "tool", "tool_call_id": call.id, "content": told}));
        }
        Ok(())
    }
}

/// What a person's answer makes of the calls that waited for it.
fn fates(calls: &[ToolCall], answer: &Hitl, tools: &Tools) -> Vec<Fate> {
    calls
        .iter()
        .map(|call| match answer {
            Hitl::Approvals(approvals) => {
                match approvals.get(&call.id).map(|one| one.rejection()) {
                    Some(Some(rejection)) => Fate::Told(rejection.into()),
                    // What needed no approval was not asked about.
                    Some(None) | None => Fate::Run,
                }
            }
            Hitl::Answers(answers) if call.name == ask_user::NAME => {
                Fate::Told(answers.tool_result())
            }
            // Nobody was asked about it: the questions came first.
            Hitl::Answers(_) if tools.need_approval(&call.name) => {
                Fate::Told(json!({"status": "not called", "reason": "call it by itself"}))
            }
            Hitl::Answers(_) => Fate::Run,
            // Something else was said instead of an answer.
            Hitl::None => Fate::Told(json!({"status": "cancelled"})),
        })
        .collect()
}

/// How often the model may ask for tools in one turn.
const ROUNDS: usize = 16;
