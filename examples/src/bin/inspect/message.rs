//! Messages as a person wants to read them.

use kagent_ext::a2a_proto::v1::part::Content;
use kagent_ext::a2a_proto::v1::stream_response::Payload;
use kagent_ext::a2a_proto::v1::{
    Artifact, ListTasksResponse, Message, Part, SendMessageRequest, StreamResponse, Task,
};
use serde::Serialize;

pub(crate) fn request(request: &SendMessageRequest) -> String {
    let text = request.message.as_ref().map(message).unwrap_or_default();
    let configuration = request
        .configuration
        .as_ref()
        .map(compact)
        .unwrap_or_default();
    format!(
        "Request to send a message\n{text}{}\n",
        labelled("  configuration: ", &configuration)
    )
}

pub(crate) fn event(event: &StreamResponse) -> String {
    match &event.payload {
        Some(Payload::Task(whole)) => task(whole),
        Some(Payload::Message(answer)) => message(answer),
        Some(Payload::StatusUpdate(update)) => {
            let state = plain(&event.state().unwrap_or_default(), "TASK_STATE_");
            let said = update
                .status
                .as_ref()
                .and_then(|status| status.message.as_ref());
            format!(
                "Task {} is now {state}\n{}",
                update.task_id,
                said.map(message).unwrap_or_default()
            )
        }
        Some(Payload::ArtifactUpdate(update)) => {
            let what = if update.append { "has more of" } else { "has" };
            let content = update.artifact.as_ref().map(artifact).unwrap_or_default();
            format!("Task {} {what}\n{content}", update.task_id)
        }
        None => "Event without content\n".to_owned(),
    }
}

pub(crate) fn tasks(page: &ListTasksResponse) -> String {
    let tasks: String = page.tasks.iter().map(task).collect();
    format!("{} of {} tasks\n{tasks}", page.tasks.len(), page.total_size)
}

pub(crate) fn task(task: &Task) -> String {
    let history: String = task.history.iter().map(message).collect();
    let status = task.status_message().map(message).unwrap_or_default();
    let artifacts: String = task.artifacts.iter().map(artifact).collect();
    let metadata = task.metadata.as_ref().map(compact).unwrap_or_default();
    let since = task.status.as_ref().and_then(|status| status.timestamp);
    let since = since.map(|time| time.to_string()).unwrap_or_default();
    let (id, state) = (&task.id, plain(&task.state(), "TASK_STATE_"));
    format!(
        "Task {id}: {state}{}\n{history}{status}{artifacts}{}",
        labelled(" since ", &since),
        labelled("  metadata: ", &metadata)
    )
}

pub(crate) fn message(message: &Message) -> String {
    let parts: String = message.parts.iter().map(part).collect();
    format!("  {}:\n{parts}", plain(&message.role(), "ROLE_"))
}

fn artifact(artifact: &Artifact) -> String {
    let parts: String = artifact.parts.iter().map(part).collect();
    format!(
        "  artifact {}{}\n{parts}",
        artifact.artifact_id,
        labelled(": ", &artifact.name)
    )
}

fn part(part: &Part) -> String {
    let content = match &part.content {
        Some(Content::Text(text)) => text.replace('\n', "\n    "),
        Some(Content::Raw(bytes)) => format!("{} bytes", bytes.len()),
        Some(Content::Url(url)) => url.clone(),
        Some(Content::Data(value)) => compact(value),
        None => "nothing".to_owned(),
    };
    format!(
        "    {content}{}{}\n",
        labelled(", ", &part.media_type),
        labelled(", ", &part.filename)
    )
}

/// The name of an enum value in words.
fn plain(value: &impl ToString, prefix: &str) -> String {
    value
        .to_string()
        .replace(prefix, "")
        .replace('_', " ")
        .to_lowercase()
}

/// Anything else as its Debug, which hides secrets.
pub(crate) fn other(message: &impl std::fmt::Debug) -> String {
    format!("{message:#?}\n")
}

pub(crate) fn labelled(label: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{label}{text}")
    }
}

pub(crate) fn compact(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
