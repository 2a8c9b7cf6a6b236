use std::error::Error;
use std::io::{Write as _, stdout};

use kagent_ext::a2a_client::Client;
use kagent_ext::a2a_proto::v1::{Message, Task};
use kagent_ext::hitl::{Answerable, Decision, HitlRequest, Pause};

/// Sends a message, and prints the reply as it is produced.
pub(crate) async fn send(client: &Client, message: Message) -> Result<Task, Box<dyn Error>> {
    write!(stdout(), "> {}\n< ", message.text())?;
    let mut events = client.send_streaming_message(message).await?;
    let (mut task, mut shown) = (Task::default(), None);
    while let Some(event) = events.next().await.transpose()? {
        match Task::from_event(&event) {
            Some(first) if task.id.is_empty() => task = first,
            _ => task.apply(&event)?,
        }
        // What the task has when the stream begins was shown before the pause.
        let text = task.artifact_text();
        let new = text
            .strip_prefix(shown.as_ref().unwrap_or(&text))
            .unwrap_or(&text);
        write!(stdout(), "{new}")?;
        stdout().flush()?;
        shown = Some(text);
    }
    match Pause::of(&task) {
        Some(pause) => writeln!(stdout(), "{}", pause.text())?,
        None => writeln!(stdout())?,
    }
    Ok(task)
}

/// What a careful person says: backups stay, the rest may happen, and of choices it is the first.
pub(crate) fn answer(pause: &Answerable) -> Result<Message, Box<dyn Error>> {
    Ok(match pause.request() {
        HitlRequest::ToolApproval(_) => pause.decide(|tool| match tool.name.as_str() {
            "delete_volume" => Decision::reject("it holds the backups"),
            _ => Decision::Approve,
        })?,
        HitlRequest::AskUser(request) => pause.answer(
            request
                .questions
                .iter()
                .map(|question| question.choices().next()),
        )?,
    })
}
