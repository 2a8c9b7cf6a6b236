//! What the official agents send, replayed as they write it: each test names its wire fact.

mod cards;
mod envelopes;
mod errors;
mod frames;
mod grpc;
mod rest;
mod values;

use a2a_client::proto::v1::Task;
use a2a_client::{Binding, Error, Result};
use serde_json::{Value, json};

use crate::peer::{Answer, Peer, result, whole};

const BINDINGS: [Binding; 2] = [Binding::JsonRpc, Binding::HttpJson];

/// What GetTask comes to with that answer.
async fn get(binding: Binding, answer: Answer) -> Result<Task> {
    let peer = Peer::start([answer]).await;
    peer.client(binding).get_task("t").await
}

/// What GetTask comes to where the agent gives that task, on each of the HTTP bindings.
async fn tasks(task: &Value) -> [Task; 2] {
    let rpc = get(
        Binding::JsonRpc,
        whole(200, "application/json", result(1, task).to_string()),
    );
    let rest = get(
        Binding::HttpJson,
        whole(200, "application/a2a+json", task.to_string()),
    );
    [
        rpc.await.expect("a task by JSON-RPC"),
        rest.await.expect("a task by HTTP+JSON"),
    ]
}

/// The error of a JSON-RPC answer with that error object.
async fn rpc_error(error: &Value) -> Error {
    let body = json!({"jsonrpc": "2.0", "id": 1, "error": error});
    let answer = whole(200, "application/json", body.to_string());
    get(Binding::JsonRpc, answer).await.expect_err("an error")
}

/// The error of an HTTP+JSON answer with that status and error object.
async fn rest_error(status: u16, media_type: &str, error: &Value) -> Error {
    let body = json!({"error": error}).to_string();
    let answer = whole(status, media_type, body);
    get(Binding::HttpJson, answer).await.expect_err("an error")
}

/// The element of the details that says what went wrong.
fn error_info(reason: &str) -> Value {
    json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org"})
}
