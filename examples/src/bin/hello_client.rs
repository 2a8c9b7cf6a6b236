//! Sends a text, and a file if one is named, and prints the reply as it comes: `hello_client URL TEXT [--file PATH]`.

use std::io::{Write as _, stdout};

use kagent_ext::a2a_client::Client;
use kagent_ext::a2a_proto::v1::{Message, Part, Task};
use kagent_ext::client;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (url, message) = match arguments.as_slice() {
        [url, text] => (url, Message::user(text)),
        [url, text, flag, path] if flag == "--file" => {
            (url, Message::user(text).with_part(Part::file(path)?))
        }
        _ => return Err("usage: hello_client URL TEXT [--file PATH]".into()),
    };
    let client = client::preset(Client::builder()).connect(url).await?;
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
    writeln!(
        stdout(),
        "\n[{}] {}",
        task.state().as_str_name(),
        task.status_text()
    )?;
    Ok(())
}
