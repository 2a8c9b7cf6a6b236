//! `llm_agent` with a scripted model and a real MCP server, behind kagent's gateway.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[allow(dead_code, reason = "its main is not called")]
#[path = "../../src/bin/llm_agent/main.rs"]
mod llm_agent;
mod mcp;
mod model;

use std::time::Duration;

use kagent_ext::a2a_client::Client;
use kagent_ext::a2a_proto::v1::stream_response::Payload;
use kagent_ext::a2a_proto::v1::{Message, Task, TaskState};
use kagent_ext::config::{AgentConfig, Config, Environment};
use kagent_ext::hitl::{Decision, HitlRequest, Pause};
use kagent_ext::part::{FunctionCall, FunctionResponse};
use kagent_ext::testing::Controller;
use kagent_ext::usage::Usage;
use serde_json::{Value, json};

use mcp::McpServer;
use model::{Reply, ScriptedModel, call, calls, says, says_and_holds};

/// An agent that is configured as kagent does it.
fn config(model: &ScriptedModel, tools: &McpServer) -> AgentConfig {
    let document = json!({"agent": {
        "instruction": "Be brief.",
        "model": {"model": "small", "api_key": "not-a-real-key", "openai": {"base_url": model.url()}},
        "http_tools": [{
            "params": {"url": tools.url()},
            "tools": ["add", "delete_file"],
            "require_approval": ["delete_file"],
        }],
    }});
    let environment = Environment::empty().with_var("KAGENT_CONFIG_JSON", document.to_string());
    Config::read(&environment).unwrap().agent.unwrap()
}

struct World {
    kagent: Controller,
    model: ScriptedModel,
    tools: McpServer,
    client: Client,
}

impl World {
    async fn with(replies: Vec<Reply>) -> Self {
        let (model, tools) = (
            ScriptedModel::start(replies).await,
            McpServer::start().await,
        );
        let kagent = Controller::start().await.unwrap();
        let config = config(&model, &tools);
        kagent.run(move |environment| llm_agent::byo(environment, config.clone()));
        Self {
            client: kagent.client(),
            kagent,
            model,
            tools,
        }
    }

    async fn send(&self, message: Message) -> Task {
        self.client
            .send_message(message)
            .await
            .unwrap()
            .into_task()
            .unwrap()
    }
}

async fn within<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), Box::pin(test))
        .await
        .expect("the test hangs")
}

/// What the model was told a tool gave.
fn told(request: &Value) -> Vec<(String, String)> {
    let messages = request["messages"].as_array().unwrap().iter();
    let tools = messages.filter(|message| message["role"] == "tool");
    tools
        .map(|message| {
            let text = |name: &str| message[name].as_str().unwrap().to_owned();
            (text("tool_call_id"), text("content"))
        })
        .collect()
}

#[tokio::test]
async fn tools_are_called_in_parallel_and_the_answer_is_streamed_and_remembered() {
    within(async {
        let sums = [
            call("1", "add", json!({"a": 2, "b": 3})),
            call("2", "add", json!({"a": 4, "b": 5})),
        ];
        let world = World::with(vec![
            calls(sums),
            says(["5 ", "and ", "9"]),
            says(["You asked for two sums."]),
        ])
        .await;
        let done = world.send(Message::user("2+3 and 4+5?")).await;
        assert_eq!(done.state(), TaskState::Completed, "{}", done.status_text());
        let parts = done.artifacts.iter().flat_map(|artifact| &artifact.parts);
        let shown: Vec<String> = parts
            .clone()
            .filter_map(FunctionCall::of)
            .map(|call| call.id)
            .collect();
        assert_eq!(shown, ["1", "2"]);
        let results: Vec<Value> = parts
            .filter_map(FunctionResponse::of)
            .map(|one| one.response["result"].clone())
            .collect();
        assert_eq!(results, ["5", "9"]);
        assert_eq!(done.artifacts.last().unwrap().text(), "5 and 9");
        // Both were under way before either was answered.
        assert_eq!(world.tools.most_at_once(), 2);
        let usage = Usage::of(&done).unwrap();
        assert_eq!(usage.total().total, 2 * model::TOKENS);
        assert_eq!(
            usage.models().map(|(model, _)| model).collect::<Vec<_>>(),
            ["small-2026"]
        );

        let requests = world.model.requests();
        assert_eq!(
            requests[0]["messages"][0],
            json!({"role": "system", "content": "Be brief."})
        );
        let names = requests[0]["tools"].as_array().unwrap().iter();
        let names: Vec<&str> = names
            .map(|tool| tool["function"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["add", "delete_file", "ask_user"]);
        assert_eq!(
            told(&requests[1]),
            [("1".into(), "5".into()), ("2".into(), "9".into())]
        );

        world.kagent.cold_boot(&done.context_id).await;
        let next = world
            .send(Message::user("What did I ask?").with_context_id(&done.context_id))
            .await;
        assert_eq!(
            next.artifacts.last().unwrap().text(),
            "You asked for two sums."
        );
        let said = world.model.requests()[2]["messages"].to_string();
        assert!(
            said.contains("2+3 and 4+5?") && said.contains("5 and 9"),
            "{said}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_person_decides_about_the_tools_that_need_it_also_after_a_cold_boot() {
    within(async {
        let files = ["a.txt", "b.txt"].map(|path| call(path, "delete_file", json!({"path": path})));
        let sum = call("sum", "add", json!({"a": 1, "b": 1}));
        let [first, second] = files;
        let world = World::with(vec![calls([first, sum, second]), says(["One is gone."])]).await;
        let asked = world.send(Message::user("clean up")).await;
        let Some(Pause::Answerable(pause)) = Pause::of(&asked) else {
            panic!("{}", asked.status_text())
        };
        let HitlRequest::ToolApproval(request) = pause.request() else {
            panic!("{pause:?}")
        };
        assert_eq!(request.tools.len(), 2, "the sum needs no approval");
        assert_eq!(world.tools.deleted(), Vec::<String>::new());

        world.kagent.cold_boot(&asked.context_id).await;
        let answer = pause.decide(|tool| match tool.arg_str("path") {
            "a.txt" => Decision::Approve,
            _ => Decision::reject("still needed"),
        });
        let done = world.send(answer.unwrap()).await;
        assert_eq!(done.state(), TaskState::Completed, "{}", done.status_text());
        assert_eq!(world.tools.deleted(), ["a.txt"]);
        let told = told(&world.model.requests()[1]);
        assert_eq!(told[0], ("a.txt".into(), "deleted a.txt".into()));
        assert_eq!(told[1], ("sum".into(), "2".into()));
        assert_eq!(
            told[2].1,
            "Tool call was rejected by user. Reason: still needed"
        );
    })
    .await;
}

#[tokio::test]
async fn the_model_asks_its_user_and_reads_the_answer() {
    within(async {
        let question =
            json!({"questions": [{"question": "Which one?", "choices": ["red", "blue"]}]});
        let world = World::with(vec![
            calls([call("q", "ask_user", question)]),
            says(["Blue it is."]),
        ])
        .await;
        let asked = world.send(Message::user("paint it")).await;
        let Some(Pause::Answerable(pause)) = Pause::of(&asked) else {
            panic!("{}", asked.status_text())
        };
        assert_eq!(pause.text(), "Which one?");
        let done = world.send(pause.answer([["blue"]]).unwrap()).await;
        assert_eq!(done.artifacts.last().unwrap().text(), "Blue it is.");
        let told = told(&world.model.requests()[1]);
        assert_eq!(
            told[0].1,
            r#"[{"answer":["blue"],"question":"Which one?"}]"#
        );
    })
    .await;
}

#[tokio::test]
async fn a_cancel_lets_go_of_the_model() {
    within(async {
        let world = World::with(vec![says_and_holds("Once upon")]).await;
        let mut events = world.client.stream_text("tell me a story").await.unwrap();
        let id = loop {
            let event = events.next().await.unwrap().unwrap();
            if matches!(event.payload, Some(Payload::ArtifactUpdate(_))) {
                break event.task_id().to_owned();
            }
        };
        let canceled = world.client.cancel_task(id.as_str()).await.unwrap();
        assert_eq!(canceled.state(), TaskState::Canceled);
        assert_eq!(canceled.artifacts[0].text(), "Once upon");
        world.model.let_go().await;
    })
    .await;
}

#[tokio::test]
async fn what_a_tool_gets_wrong_is_told_to_the_model() {
    within(async {
        let world = World::with(vec![
            calls([
                call("1", "no_such_tool", json!({})),
                call("2", "add", json!({"a": "x"})),
            ]),
            says(["Neither worked."]),
        ])
        .await;
        let done = world.send(Message::user("try")).await;
        assert_eq!(done.state(), TaskState::Completed, "{}", done.status_text());
        let told = told(&world.model.requests()[1]);
        assert!(
            told[0].1.contains("there is no tool no_such_tool"),
            "{told:?}"
        );
        assert!(told[1].1.contains("error"), "{told:?}");
        let results = done.artifacts.iter().flat_map(|artifact| &artifact.parts);
        let failed: Vec<bool> = results
            .filter_map(FunctionResponse::of)
            .map(|one| one.is_error())
            .collect();
        assert_eq!(failed, [true, true]);
    })
    .await;
}
