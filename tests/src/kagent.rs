//! Byo agents in a cluster: against kagent's task store and behind its gateway (kagent contract 2, 7, 11).

mod coalescing;
mod faults;
mod gateway;
mod limits;
mod sessions;
mod traces;

use a2a_client::Client;
use a2a_proto::v1::{Message, SendMessageRequest, StreamResponse, Task};
use a2a_server::testing::Script;
use futures::StreamExt as _;
use kagent_ext::byo::Byo;
use kagent_ext::testing::Controller;

/// A controller that runs this script for each session.
async fn running(script: impl Fn() -> Script + Send + Sync + 'static) -> Controller {
    let kagent = Controller::start().await.unwrap();
    kagent.run(move |_| Byo::new(script()));
    kagent
}

async fn send(client: &Client, message: Message) -> a2a_client::Result<Task> {
    let sent = client
        .send_message(SendMessageRequest::from(message))
        .await?;
    Ok(sent.into_task().expect("a task"))
}

/// All events of a message until the stream ends.
async fn stream(client: &Client, message: Message) -> a2a_client::Result<Vec<StreamResponse>> {
    let events = client
        .send_streaming_message(SendMessageRequest::from(message))
        .await?;
    events.collect::<Vec<_>>().await.into_iter().collect()
}

/// A message to a task that waits for one.
fn answer(task: &Task, text: &str) -> Message {
    Message::user(text).with_task_id(&task.id)
}
