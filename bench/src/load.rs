//! What a server is asked to do: the words that agent, floor and load share.

use a2a_client::{Client, EventStream};
use a2a_proto::Binding;
use a2a_proto::v1::Task;

use crate::Result;
use crate::process::Server;

/// What a message asks for.
pub(crate) enum Order<'a> {
    Echo(&'a str),
    /// A text in so many chunks.
    Stream(usize),
    /// The same, once the gate has been opened.
    Gated(usize),
    Open,
    Artifacts(usize),
    /// Nothing, for ever.
    Idle,
}

impl<'a> Order<'a> {
    pub(crate) fn read(text: &'a str) -> Self {
        let number = |text: &str| text.parse().unwrap_or(0);
        match text.split_once(' ').unwrap_or((text, "")) {
            ("stream", count) => Self::Stream(number(count)),
            ("gated", count) => Self::Gated(number(count)),
            ("open", _) => Self::Open,
            ("artifacts", count) => Self::Artifacts(number(count)),
            ("idle", _) => Self::Idle,
            _ => Self::Echo(text),
        }
    }
}

/// A caller of a server over one binding.
pub(crate) fn caller(server: &Server, binding: Binding) -> Result<Client> {
    let url = match binding {
        Binding::Grpc => &server.ready.grpc,
        Binding::JsonRpc | Binding::HttpJson => &server.ready.http,
    };
    Ok(Client::builder().from_endpoint(binding, url)?)
}

pub(crate) async fn send(client: &Client, text: &str) -> Result<Task> {
    let reply = client.send_text(text).await?;
    Ok(reply.into_task().ok_or("no task")?)
}

/// Reads a stream to its end, and gives how many events it had.
pub(crate) async fn read(mut stream: EventStream) -> Result<usize> {
    let mut events = 0;
    while let Some(event) = stream.next().await {
        event?;
        events += 1;
    }
    Ok(events)
}
