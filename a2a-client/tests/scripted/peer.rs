//! A peer on loopback that answers each request with the next answer of its script.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use a2a_client::proto::v1::{AgentCapabilities, AgentCard, AgentInterface, StreamResponse};
use a2a_client::{Binding, Client, Error};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::task::JoinHandle;

/// A request as it arrived.
#[derive(Debug)]
pub(crate) struct Request {
    /// Such as `POST /rpc`.
    pub(crate) line: String,
    /// In lower case; the values of repeated headers stand in order.
    pub(crate) headers: HashMap<String, Vec<String>>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |values| &values[0])
    }
}

/// What the peer does about a request. It closes the connection afterwards.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write(Vec<u8>),
    /// Goes on once the test says so.
    Wait(Arc<Notify>),
    /// Goes on once the client has closed the connection.
    UntilClosed,
    /// Tells the test that it came this far.
    Signal(Arc<Notify>),
}

pub(crate) type Answer = Vec<Step>;

pub(crate) struct Peer {
    address: SocketAddr,
    requests: mpsc::Receiver<Request>,
    server: JoinHandle<()>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Peer {
    pub(crate) async fn start(script: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let script: Arc<Mutex<VecDeque<Answer>>> =
            Arc::new(Mutex::new(script.into_iter().collect()));
        let (seen, requests) = mpsc::channel(64);
        let server = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(answer(stream, Arc::clone(&script), seen.clone()));
            }
        });
        Self {
            address,
            requests,
            server,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The next request that arrived.
    pub(crate) async fn request(&mut self) -> Request {
        self.requests.recv().await.expect("a request")
    }

    /// How many requests arrived that the test has not taken.
    pub(crate) fn waiting(&self) -> usize {
        self.requests.len()
    }

    /// A card with one interface at this peer.
    pub(crate) fn card(&self, binding: Binding) -> AgentCard {
        let mut interface = AgentInterface::new(self.url("/a2a"), binding);
        interface.tenant = "t/1".to_owned();
        AgentCard {
            name: "scripted".to_owned(),
            supported_interfaces: vec![interface],
            capabilities: Some(AgentCapabilities {
                streaming: Some(true),
                push_notifications: Some(true),
                extended_agent_card: Some(true),
                ..AgentCapabilities::default()
            }),
            ..AgentCard::default()
        }
    }

    pub(crate) fn client(&self, binding: Binding) -> Client {
        Client::from_card(self.card(binding)).expect("a client")
    }
}

/// The events of a stream, and the error that it begins or ends with.
pub(crate) async fn read(client: &Client) -> (Vec<StreamResponse>, Option<Error>) {
    let mut stream = match client.stream_text("hi").await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut found = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => found.push(event),
            Err(error) => return (found, Some(error)),
        }
    }
    (found, None)
}

async fn answer(
    mut stream: TcpStream,
    script: Arc<Mutex<VecDeque<Answer>>>,
    seen: mpsc::Sender<Request>,
) {
    let Some(request) = read_request(&mut stream).await else {
        return;
    };
    if seen.send(request).await.is_err() {
        return;
    }
    let steps = script
        .lock()
        .await
        .pop_front()
        .expect("an answer in the script");
    for step in steps {
        match step {
            Step::Write(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
                let _ = stream.flush().await;
            }
            Step::Wait(signal) => signal.notified().await,
            Step::Signal(signal) => signal.notify_one(),
            Step::UntilClosed => {
                let mut rest = [0; 64];
                while matches!(stream.read(&mut rest).await, Ok(1..)) {}
            }
        }
    }
    let _ = stream.shutdown().await;
}

async fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let mut headers: HashMap<String, Vec<String>> = HashMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        headers
            .entry(name.to_lowercase())
            .or_default()
            .push(value.to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |value| value[0].parse().expect("a length"));
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(Request {
        line,
        headers,
        body,
    })
}

/// A whole answer.
pub(crate) fn whole(status: u16, media_type: &str, body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref();
    let kind = match media_type {
        "" => String::new(),
        kind => format!("content-type: {kind}\r\n"),
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\n{kind}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    vec![Step::Write([head.as_bytes(), body].concat())]
}

pub(crate) fn json_body(status: u16, body: &Value) -> Answer {
    whole(status, "application/json", body.to_string())
}

/// The result of a JSON-RPC request with that id.
pub(crate) fn result(id: u64, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// A stream of server-sent events: each step comes in a chunk of its own, and the stream ends properly.
pub(crate) fn events(steps: impl IntoIterator<Item = Step>) -> Answer {
    let mut answer = cut_events(steps);
    answer.push(Step::Write(b"0\r\n\r\n".to_vec()));
    answer
}

/// The same, with the connection closed in the middle.
pub(crate) fn cut_events(steps: impl IntoIterator<Item = Step>) -> Answer {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    let chunk = |step| match step {
        Step::Write(bytes) => {
            let size = format!("{:x}\r\n", bytes.len());
            Step::Write([size.as_bytes(), &bytes, b"\r\n"].concat())
        }
        other => other,
    };
    let head = Step::Write(head.as_bytes().to_vec());
    std::iter::once(head)
        .chain(steps.into_iter().map(chunk))
        .collect()
}

/// One frame.
pub(crate) fn frame(value: &Value) -> Step {
    Step::Write(format!("data: {value}\n\n").into_bytes())
}

pub(crate) fn text(text: &str) -> Step {
    Step::Write(text.as_bytes().to_vec())
}

pub(crate) fn task(state: &str) -> Value {
    json!({"task": {"id": "t", "contextId": "c", "status": {"state": format!("TASK_STATE_{state}")}}})
}

pub(crate) fn status(state: &str) -> Value {
    json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": format!("TASK_STATE_{state}")}}})
}

pub(crate) fn chunk(text: &str) -> Value {
    let artifact = json!({"artifactId": "a", "parts": [{"text": text}]});
    json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "append": true, "artifact": artifact}})
}
