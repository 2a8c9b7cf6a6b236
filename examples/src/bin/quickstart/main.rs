//! An agent and its client in one program: starts a byo agent on loopback and talks to it over each binding.

mod agent;
mod person;

use std::error::Error;
use std::io::{Write as _, stdout};

use kagent_ext::a2a_client::{Binding, Client};
use kagent_ext::a2a_proto::v1::{Artifact, Message};
use kagent_ext::byo::Byo;
use kagent_ext::client;
use kagent_ext::hitl::Pause;
use kagent_ext::part::{FunctionCall, FunctionResponse};
use kagent_ext::usage::Usage;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = Byo::new(agent::Operator)
        .agent(|agent| agent.name("operator").description("Asks before it acts"))
        .local()
        .listen("127.0.0.1:0");
    let server = agent.bind().await?;
    let url = format!("http://{}", server.local_addr());
    for binding in [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc] {
        let client = client::preset(Client::builder());
        talk(&client.prefer([binding]).connect(&url).await?).await?;
    }
    server.shutdown().await;
    Ok(())
}

/// One conversation: a streamed reply, decisions about tools, an answer to a question, and a turn that knows the rest.
async fn talk(client: &Client) -> Result<(), Box<dyn Error>> {
    let card = client.card().ok_or("the agent has no card")?;
    let interface = client.interface();
    let (binding, url) = (&interface.protocol_binding, &interface.url);
    writeln!(
        stdout(),
        "\n== {} ({}) over {binding} at {url}",
        card.name,
        card.description
    )?;
    let mut context_id = String::new();
    for text in [
        "What is a pod?",
        "Clean up.",
        "Deploy.",
        "What have we done?",
    ] {
        let mut message = Message::user(text).with_context_id(&context_id);
        let task = loop {
            let task = person::send(client, message).await?;
            match Pause::of(&task) {
                None => break task,
                Some(Pause::Answerable(pause)) => message = person::answer(&pause)?,
                Some(pause) => return Err(format!("can't answer: {}", pause.text()).into()),
            }
        };
        for artifact in &task.artifacts {
            writeln!(stdout(), "  artifact: {}", describe(artifact))?;
        }
        let total = Usage::of(&task).unwrap_or_default().total();
        let state = task.state().as_str_name();
        writeln!(
            stdout(),
            "  {state}, {} tokens read, {} written",
            total.input,
            total.output
        )?;
        context_id = task.context_id;
    }
    Ok(())
}

fn describe(artifact: &Artifact) -> String {
    let part = artifact.parts.first();
    if let Some(call) = part.and_then(FunctionCall::of) {
        return format!("call of {}", call.name);
    }
    if let Some(result) = part.and_then(FunctionResponse::of) {
        return format!("result of {}", result.name);
    }
    artifact.text()
}
