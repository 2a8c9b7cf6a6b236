//! The agent of the contract, as a user of the SDK would write it.

mod gates;

use a2a_proto::v1::{
    AgentExtension, AgentSkill, Artifact, Message, Part, Task, TaskArtifactUpdateEvent, TaskState,
};
use a2a_server::{
    Agent, AgentBuilder, AgentError, AgentExecutor, EventSink, ExecutionContext, Extension,
    ReplyMode, async_trait,
};
use serde_json::{Value, json};

use self::gates::Gates;
use crate::values::{self, ECHO, FILE_URL};

/// No verb needs more, and an argument is not to exhaust the memory.
const MOST: usize = 16 * 1024 * 1024;

pub(crate) fn agent() -> AgentBuilder {
    Agent::builder(Script::default())
        .name("interop")
        .description("Does what the text of a message says")
        .version("1.0.0")
        // Echo takes whatever a client can send.
        .check_input_modes(false)
        .skill(AgentSkill::new(
            "script",
            "Script",
            "Does what a message says",
        ))
        .extension(Echo)
}

/// An extension that does nothing but be there.
struct Echo;

#[async_trait]
impl Extension for Echo {
    fn declaration(&self) -> AgentExtension {
        AgentExtension {
            uri: ECHO.to_owned(),
            description: "Changes nothing".to_owned(),
            ..AgentExtension::default()
        }
    }
}

#[derive(Default)]
struct Script {
    gates: Gates,
}

impl AgentExecutor for Script {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        if cx.task().is_some_and(is_asked) {
            return answer(cx.message(), &out).await;
        }
        let parts = &cx.message().parts;
        let text = parts.iter().find_map(Part::as_text).unwrap_or_default();
        let (verb, argument) = text.split_once(' ').unwrap_or((text, ""));
        match verb {
            "message" => return Ok(out.message(argument).await?),
            "release" => {
                self.gates.open(argument);
                return Ok(out.message("released").await?);
            }
            _ if !VERBS.contains(&verb) => return Ok(out.reject(argument).await?),
            _ => out.status(TaskState::Working, None).await?,
        }
        match verb {
            "echo" => {
                let artifact = Artifact::new("echo", echoed(parts, argument));
                out.artifact(artifact.with_name("echo")).await?;
            }
            "stream" => {
                let count = number(argument);
                for index in 0..count {
                    let chunk = text_artifact("stream", format!("{index} "));
                    send_chunk(&out, chunk, index > 0, index + 1 == count).await?;
                }
            }
            "slow" => {
                send_chunk(&out, text_artifact("slow", "first"), false, false).await?;
                tokio::select! {
                    () = self.gates.pass(argument) => {}
                    _ = cx.cancelled() => return Ok(()),
                }
                send_chunk(&out, text_artifact("slow", "second"), true, true).await?;
            }
            "hang" => {
                cx.cancelled().await;
                return Ok(());
            }
            "fail" => return Ok(out.fail(argument).await?),
            "raise" => return Err(std::io::Error::other(argument.to_owned()).into()),
            "ask" => return Ok(out.input_required("which?").await?),
            "auth" => {
                out.auth_required("sign in").await?;
                return match cx.next_message().await {
                    Some(message) => answer(&message, &out).await,
                    None => Ok(()),
                };
            }
            "file" => {
                let raw = Part::raw(values::bytes())
                    .with_filename("bytes.bin")
                    .with_media_type("application/octet-stream");
                let url = Part::url(FILE_URL)
                    .with_filename("a.png")
                    .with_media_type("image/png");
                out.artifact(Artifact::new("file", [raw, url]).with_name("file"))
                    .await?;
            }
            "data" => {
                let artifact = Artifact::new("data", [Part::data(values::data())]);
                out.artifact(artifact.with_name("data")).await?;
            }
            "big" => {
                let text = "x".repeat(number(argument));
                out.artifact(text_artifact("big", text)).await?;
            }
            "artifacts" => {
                for index in 0..number(argument) {
                    let name = format!("a{index}");
                    let text = format!("artifact {index}");
                    out.artifact(text_artifact(&name, text)).await?;
                }
            }
            "appends" => {
                for (name, text) in [("a", "a1"), ("b", "b1"), ("a", "a2"), ("b", "b2")] {
                    let again = text.ends_with('2');
                    send_chunk(&out, text_artifact(name, text), again, again).await?;
                }
            }
            _ => out.artifact(meta(&cx)).await?,
        }
        Ok(out.complete().await?)
    }

    fn reply_mode(&self) -> ReplyMode {
        ReplyMode::Either
    }
}

/// The verbs whose reply is a task that works.
const VERBS: [&str; 14] = [
    "echo",
    "stream",
    "slow",
    "hang",
    "fail",
    "raise",
    "ask",
    "auth",
    "file",
    "data",
    "big",
    "artifacts",
    "appends",
    "meta",
];

/// Whether the message answers a question of the task, as `ask` and `auth` leave one.
fn is_asked(task: &Task) -> bool {
    task.state().is_interrupted()
}

async fn answer(message: &Message, out: &EventSink) -> Result<(), AgentError> {
    out.artifact(text_artifact("answer", message.text()))
        .await?;
    Ok(out.complete().await?)
}

fn text_artifact(name: &str, text: impl Into<String>) -> Artifact {
    Artifact::new(name, [Part::text(text)]).with_name(name)
}

async fn send_chunk(
    out: &EventSink,
    artifact: Artifact,
    append: bool,
    last_chunk: bool,
) -> Result<(), AgentError> {
    let event = TaskArtifactUpdateEvent {
        artifact: Some(artifact),
        append,
        last_chunk,
        ..TaskArtifactUpdateEvent::default()
    };
    Ok(out.send(event).await?)
}

/// The parts of a message, without the verb.
fn echoed(parts: &[Part], argument: &str) -> Vec<Part> {
    let mut parts = parts.to_vec();
    if let Some(first) = parts.iter_mut().find(|part| part.as_text().is_some()) {
        *first = Part {
            content: Part::text(argument).content,
            ..first.clone()
        };
    }
    parts
}

fn number(argument: &str) -> usize {
    argument.parse().unwrap_or(0).min(MOST)
}

/// What came with the message.
fn meta(cx: &ExecutionContext) -> Artifact {
    let object = |metadata: Option<&a2a_proto::Struct>| match metadata {
        Some(metadata) => Value::Object(metadata.clone().into_inner()),
        None => json!({}),
    };
    let mut extensions = cx.requested_extensions().to_vec();
    extensions.sort();
    let seen = json!({
        "tenant": cx.tenant(),
        "extensions": extensions,
        "requestMetadata": object(cx.request_metadata()),
        "messageMetadata": object(cx.message().metadata.as_ref()),
    });
    Artifact::new("meta", [Part::data(seen)])
        .with_name("meta")
        .with_metadata("k", "v")
}
