use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;

use a2a_client::Client;
use a2a_proto::{Binding, Method};
use a2a_server::Server;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::Semaphore;

use super::{agent, installed};
use crate::harness::*;

/// grpcurl as it is called for one server.
struct Grpcurl {
    program: PathBuf,
    options: Vec<String>,
    address: String,
}

impl Grpcurl {
    fn command(&self, options: &[&str], words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["-plaintext", "-max-time", "30"])
            .args(&self.options)
            .args(options)
            .arg(&self.address)
            .args(words)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    async fn run(&self, options: &[&str], words: &[&str]) -> Output {
        self.command(options, words).output().await.unwrap()
    }

    /// Calls a method and gives what it printed.
    async fn call(&self, method: &str, request: &Value) -> Result<Value, String> {
        let request = request.to_string();
        let path = format!("lf.a2a.v1.A2AService/{method}");
        let options = ["-H", "a2a-version: 1.0", "-d", &request];
        let output = self.run(&options, &[&path]).await;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let messages = serde_json::Deserializer::from_slice(&output.stdout);
        let messages: Result<Vec<Value>, _> = messages.into_iter().collect();
        Ok(Value::from(messages.unwrap()))
    }

    async fn says(&self, words: &[&str]) -> String {
        let output = self.run(&[], words).await;
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn message(text: &str) -> Value {
    json!({"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}]}})
}

/// Every operation, with what it prints.
async fn all_operations(grpcurl: &Grpcurl, server: &Server) {
    let sent = grpcurl
        .call("SendMessage", &message("hello"))
        .await
        .unwrap();
    let task = &sent[0]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "hello");
    let id = task["id"].as_str().unwrap();

    let streamed = grpcurl
        .call("SendStreamingMessage", &message("hello"))
        .await
        .unwrap();
    let events = streamed.as_array().unwrap();
    assert!(events[0].get("task").is_some(), "{events:?}");
    let last = &events[events.len() - 1]["statusUpdate"]["status"];
    assert_eq!(last["state"], "TASK_STATE_COMPLETED");

    let got = grpcurl.call("GetTask", &json!({ "id": id })).await.unwrap();
    assert_eq!(got[0]["id"], id);
    let listed = grpcurl
        .call("ListTasks", &json!({"pageSize": 1}))
        .await
        .unwrap();
    assert_eq!(listed[0]["tasks"].as_array().map(Vec::len), Some(1));

    for (method, request, code, reason) in [
        (
            "GetTask",
            json!({"id": "nope"}),
            "NotFound",
            "TASK_NOT_FOUND",
        ),
        (
            "CancelTask",
            json!({ "id": id }),
            "FailedPrecondition",
            "TASK_NOT_CANCELABLE",
        ),
        (
            "SubscribeToTask",
            json!({ "id": id }),
            "FailedPrecondition",
            "UNSUPPORTED_OPERATION",
        ),
        (
            "SendMessage",
            json!({"message": {}}),
            "InvalidArgument",
            "message.parts",
        ),
        (
            "GetExtendedAgentCard",
            json!({}),
            "FailedPrecondition",
            "UNSUPPORTED_OPERATION",
        ),
        (
            "CreateTaskPushNotificationConfig",
            json!({"taskId": id, "url": "https://example.com/hook"}),
            "FailedPrecondition",
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
        (
            "GetTaskPushNotificationConfig",
            json!({"taskId": id, "id": "c"}),
            "FailedPrecondition",
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
        (
            "ListTaskPushNotificationConfigs",
            json!({ "taskId": id }),
            "FailedPrecondition",
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
        (
            "DeleteTaskPushNotificationConfig",
            json!({"taskId": id, "id": "c"}),
            "FailedPrecondition",
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
    ] {
        let told = grpcurl.call(method, &request).await.unwrap_err();
        assert!(
            told.contains(code) && told.contains(reason),
            "{method}: {told}"
        );
    }
    subscribe(grpcurl, server).await;
}

/// Joins a task that runs, which is canceled once grpcurl has shown it.
async fn subscribe(grpcurl: &Grpcurl, server: &Server) {
    let url = format!("http://{}", server.local_addr());
    let client = Client::builder()
        .prefer([Binding::JsonRpc])
        .connect(url)
        .await
        .unwrap();
    let running = client.send_message(immediately(ask("hang"))).await.unwrap();
    let id = running.into_task().unwrap().id;
    let request = json!({ "id": id }).to_string();
    let options = ["-H", "a2a-version: 1.0", "-d", &request];
    let mut command = grpcurl.command(&options, &["lf.a2a.v1.A2AService/SubscribeToTask"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut shown = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        shown.push_str(&line);
        if line == "}" && !shown.contains("TASK_STATE_CANCELED") {
            let canceled = grpcurl.call("CancelTask", &json!({ "id": id })).await;
            let state = canceled.unwrap()[0]["status"]["state"].clone();
            assert_eq!(state, "TASK_STATE_CANCELED");
        }
    }
    assert!(
        shown.contains(&id) && shown.contains("TASK_STATE_CANCELED"),
        "{shown}"
    );
    assert!(child.wait().await.unwrap().success());
}

#[tokio::test]
async fn grpc_01_grpcurl_finds_its_way_by_reflection() {
    within(async {
        let Some(program) = installed("grpcurl") else {
            return;
        };
        let builder = agent(&Arc::new(Semaphore::new(0))).reflection(true);
        let server = builder.bind("127.0.0.1:0").await.unwrap();
        let grpcurl = Grpcurl {
            program,
            options: Vec::new(),
            address: server.local_addr().to_string(),
        };
        let services = grpcurl.says(&["list"]).await;
        for service in ["lf.a2a.v1.A2AService", "grpc.health.v1.Health"] {
            assert!(services.contains(service), "{services}");
        }
        let methods = grpcurl.says(&["list", "lf.a2a.v1.A2AService"]).await;
        for method in Method::all() {
            assert!(methods.contains(method.name()), "{methods}");
        }
        let described = grpcurl
            .says(&["describe", "lf.a2a.v1.SendMessageRequest"])
            .await;
        assert!(
            described.contains(".lf.a2a.v1.Message message = 2"),
            "{described}"
        );
        let health = grpcurl.says(&["grpc.health.v1.Health/Check"]).await;
        assert!(health.contains("SERVING"), "{health}");
        all_operations(&grpcurl, &server).await;
    })
    .await;
}

#[tokio::test]
async fn grpc_01_grpcurl_takes_our_descriptors() {
    within(async {
        let Some(program) = installed("grpcurl") else {
            return;
        };
        let builder = agent(&Arc::new(Semaphore::new(0)));
        let server = builder.bind("127.0.0.1:0").await.unwrap();
        // The file that the README names.
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let file = root.join("a2a-proto/src/generated/descriptor.bin");
        let grpcurl = Grpcurl {
            program,
            options: vec!["-protoset".to_owned(), file.display().to_string()],
            address: server.local_addr().to_string(),
        };
        all_operations(&grpcurl, &server).await;
    })
    .await;
}
