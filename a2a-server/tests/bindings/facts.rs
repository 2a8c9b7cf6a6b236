//! What the official clients send and need, byte by byte, met by a real agent: each test names its wire fact.

mod engine;
mod envelopes;
mod errors;
mod rest;
mod streams;
mod values;

use a2a_server::{Agent, AgentBuilder, Server, executor_fn};
use serde_json::{Value, json};

use crate::support::{CURRENT, Response, Web};

/// An agent whose message says what it is to do, with `configure` applied.
async fn agent_with(configure: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Server {
    let executor = executor_fn(|cx, out| async move {
        match cx.message().text().as_str() {
            "ask" => out.input_required("what?").await?,
            "hang" => {
                out.working("on it").await?;
                cx.cancelled().await;
            }
            "raise" => return Err("boom".into()),
            "data" => {
                let data =
                    json!({"n": 1, "f": 0.5, "z": null, "l": [], "big": 9_007_199_254_740_991_u64});
                let parts = [
                    a2a_proto::v1::Part::data(data),
                    a2a_proto::v1::Part::raw(vec![0xfb, 0xff]),
                    a2a_proto::v1::Part::text(""),
                ];
                out.artifact(a2a_proto::v1::Artifact::new("a", parts))
                    .await?;
                out.complete().await?;
            }
            text => out.reply(text).await?,
        }
        Ok(())
    });
    let agent = configure(Agent::builder(executor)).build().unwrap();
    agent.bind("127.0.0.1:0").await.unwrap()
}

async fn agent() -> Server {
    agent_with(|builder| builder).await
}

fn web(server: &Server) -> Web {
    Web(server.local_addr())
}

fn message(text: &str) -> Value {
    json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]})
}

/// Posts a JSON-RPC request, and gives the answer as it came.
async fn rpc(server: &Server, id: &Value, method: &str, params: &Value) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    web(server).post("/", CURRENT, body.to_string()).await
}

/// The result of a JSON-RPC request.
async fn result(server: &Server, method: &str, params: &Value) -> Value {
    let answer = rpc(server, &json!(1), method, params).await.json();
    assert!(answer.get("error").is_none(), "{method}: {answer}");
    answer["result"].clone()
}

/// The error object of a JSON-RPC request.
async fn error(server: &Server, method: &str, params: &Value) -> Value {
    let answer = rpc(server, &json!(1), method, params).await.json();
    assert!(answer.get("result").is_none(), "{method}: {answer}");
    answer["error"].clone()
}

/// Sends a text and gives the task that comes of it.
async fn send(server: &Server, text: &str) -> Value {
    let params = json!({"message": message(text)});
    result(server, "SendMessage", &params).await["task"].clone()
}

/// Sends a text without waiting for what comes of it.
async fn begin(server: &Server, text: &str) -> Value {
    let params = json!({"message": message(text), "configuration": {"returnImmediately": true}});
    result(server, "SendMessage", &params).await["task"].clone()
}
