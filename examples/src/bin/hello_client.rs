//! Sends a text, and a file if one is named, and prints the reply as it comes: `hello_client URL TEXT [--file PATH]`.

use std::io::{Write as _, stdout};

use kagent_ext::a2a_proto::v1::{Message, Part, Task};
use kagent_ext::{a2a_client::Client, client};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(text)) = (arguments.next(), arguments.next()) else {
        return Err("usage: hello_client URL TEXT [--file PATH]".into());
    };
    let mut message = Message::user(text);
    let file = arguments.nth(1).map(Part::file);
    message.parts.extend(file.transpose()?);
    let client = client::preset(Client::builder()).connect(url).await?;
    if !client.card().is_some_and(|card| card.supports_streaming()) {
        let reply = client.send_message(message).await?;
        return Ok(writeln!(stdout(), "{}", reply.text())?);
    }
    let mut events = client.send_streaming_message(message).await?;
    let (mut task, mut shown) = (Task::default(), String::new());
    while let Some(event) = events.next().await.transpose()? {
        match Task::from_event(&event) {
            None => write!(stdout(), "{}", event.text())?,
            Some(first) if task.id.is_empty() => task = first,
            Some(_) => task.apply(&event)?,
        }
        let text = task.artifact_text();
        write!(stdout(), "{}", text.strip_prefix(&shown).unwrap_or(&text))?;
        stdout().flush()?;
        shown = text;
    }
    let (state, text) = (task.state().as_str_name(), task.status_text());
    Ok(writeln!(stdout(), "\n[{state}] {text}")?)
}
