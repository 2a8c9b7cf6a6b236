//! One scenario on one side: what the task store was asked, and what the client saw.

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use a2a_client::{Binding, Client};
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{Artifact, Message, SendMessageRequest, StreamResponse, TaskState};
use kagent_ext::byo::Byo;
use kagent_ext::testing::{Controller, StoreCall, StoreMethod};

use super::script::{Script, answer};
use super::{Oracle, process};

pub(super) const ALL: [&str; 11] = [
    "reply", "stream", "progress", "pause", "auth", "fail", "reject", "wait", "unknown", "twice",
    "over",
];

/// What happened.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The calls that changed something; appended chunks of one artifact count as one, and so do the saves of an answer
    /// and of the WORKING behind it.
    calls: Vec<String>,
    /// The events of each stream, and the error with which one ended.
    streams: Vec<Vec<String>>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.calls, self.streams)
    }
}

pub(super) async fn on_ours(scenario: &str) -> Result<Outcome, Box<dyn Error>> {
    let kagent = Controller::start().await?;
    let session = kagent.new_session(USER);
    let agent = Byo::new(Script)
        .environment(kagent.environment(&session).await?)
        .listen("127.0.0.1:0")
        .readiness_port(0)
        .bind()
        .await?;
    run(
        scenario,
        &kagent,
        &session,
        &format!("http://{}", agent.local_addr()),
    )
    .await
}

pub(super) async fn on_theirs(
    scenario: &str,
    oracle: &Oracle<'_>,
) -> Result<Outcome, Box<dyn Error>> {
    let kagent = Controller::start().await?;
    let session = kagent.new_session(USER);
    let identity = std::env::temp_dir().join(format!("kagent-oracle-{}", std::process::id()));
    std::fs::write(&identity, format!("session-{session}\n"))?;
    let outcome = with_agent(scenario, oracle, &kagent, &session, &identity).await;
    std::fs::remove_file(&identity)?;
    outcome
}

async fn with_agent(
    scenario: &str,
    oracle: &Oracle<'_>,
    kagent: &Controller,
    session: &str,
    identity: &Path,
) -> Result<Outcome, Box<dyn Error>> {
    let agent = process::Agent::start(oracle, &kagent.url(), identity).await?;
    run(scenario, kagent, session, &agent.url).await
}

async fn run(
    scenario: &str,
    kagent: &Controller,
    session: &str,
    url: &str,
) -> Result<Outcome, Box<dyn Error>> {
    let call = Conversation {
        kagent,
        session,
        url,
    };
    let streams = tokio::time::timeout(LIMIT, call.streams(scenario)).await??;
    Ok(Outcome {
        calls: folded(&kagent.calls()),
        streams,
    })
}

struct Conversation<'a> {
    kagent: &'a Controller,
    session: &'a str,
    url: &'a str,
}

impl Conversation<'_> {
    async fn streams(&self, scenario: &str) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
        let new = |word: &str| Message::user(word).with_context_id(self.session);
        Ok(match scenario {
            "pause" | "auth" => {
                let first = self.stream(new(scenario)).await?;
                let task = self.task_id()?;
                vec![
                    first,
                    self.stream(answer(&task).with_context_id(self.session))
                        .await?,
                ]
            }
            "wait" => vec![self.canceled(new(scenario)).await?],
            "twice" => vec![
                self.stream(new("reply")).await?,
                self.stream(new("reply")).await?,
            ],
            "over" => {
                let first = self.stream(new("reply")).await?;
                let task = self.task_id()?;
                vec![
                    first,
                    self.stream(answer(&task).with_context_id(self.session))
                        .await?,
                ]
            }
            word => vec![self.stream(new(word)).await?],
        })
    }

    /// Each call is a delivery of its own, as the gateway makes them.
    fn client(&self) -> Result<Client, Box<dyn Error>> {
        let dispatch = self.kagent.dispatch(self.session);
        let builder = kagent_ext::client::preset(Client::builder());
        Ok(builder
            .header("x-kagent-dispatch-id", dispatch)
            .from_endpoint(Binding::Grpc, self.url)?)
    }

    async fn stream(&self, message: Message) -> Result<Vec<String>, Box<dyn Error>> {
        let client = self.client()?;
        let request = SendMessageRequest::from(message);
        let mut seen = Vec::new();
        match client.send_streaming_message(request).await {
            Ok(mut events) => {
                while let Some(event) = events.next().await {
                    seen.push(match event {
                        Ok(event) => told(&event),
                        Err(error) => refusal(&error),
                    });
                }
            }
            Err(error) => seen.push(refusal(&error)),
        }
        Ok(seen)
    }

    /// A stream whose task is canceled as soon as it is WORKING.
    async fn canceled(&self, message: Message) -> Result<Vec<String>, Box<dyn Error>> {
        let client = self.client()?;
        let mut events = client
            .send_streaming_message(SendMessageRequest::from(message))
            .await?;
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            let event = event?;
            seen.push(told(&event));
            if event.state() == Some(TaskState::Working) {
                let canceled = self.client()?.cancel_task(event.task_id()).await?;
                seen.push(format!("cancel: {:?}", canceled.state()));
            }
        }
        // Which of the two is seen first is nobody's promise.
        seen.sort();
        Ok(seen)
    }

    fn task_id(&self) -> Result<String, Box<dyn Error>> {
        let calls = self.kagent.calls();
        let created = calls.iter().find(|call| call.method == StoreMethod::Create);
        Ok(created.ok_or("no task was created")?.task_id.clone())
    }
}

fn told(event: &StreamResponse) -> String {
    let artifact = |artifact: &Artifact| format!("{}={:?}", artifact.artifact_id, artifact.text());
    match &event.payload {
        Some(Payload::Task(task)) => {
            let artifacts: Vec<String> = task.artifacts.iter().map(artifact).collect();
            format!("task {:?} {artifacts:?}", task.state())
        }
        Some(Payload::StatusUpdate(update)) => {
            let text = update.status.as_ref().map(|status| status.text());
            format!("{:?} {:?}", event.state(), text.unwrap_or_default())
        }
        Some(Payload::ArtifactUpdate(update)) => {
            let artifact = update.artifact.as_ref().map(artifact).unwrap_or_default();
            format!(
                "{artifact} append={} last={}",
                update.append, update.last_chunk
            )
        }
        Some(Payload::Message(message)) => format!("message {:?}", message.text()),
        None => "nothing".to_owned(),
    }
}

fn refusal(error: &a2a_client::Error) -> String {
    format!("error {:?}", error.code())
}

/// The calls that count, without reads.
fn folded(calls: &[StoreCall]) -> Vec<String> {
    let mut folded: Vec<(String, String)> = Vec::new();
    for call in calls {
        if matches!(call.method, StoreMethod::Get | StoreMethod::List) {
            continue;
        }
        let artifacts = call.task.iter().flat_map(|task| &task.artifacts);
        let artifacts: Vec<&str> = artifacts.map(|artifact| &*artifact.artifact_id).collect();
        let history = call.task.as_ref().map_or(0, |task| task.history.len());
        let name = call.to_string();
        // How many saves the chunks of one artifact take is the store's policy.
        let chunks = format!("{name} {artifacts:?}");
        let is_chunk = !artifacts.is_empty() && name == "Update(WORKING)";
        if is_chunk && folded.last().is_some_and(|(last, _)| *last == chunks) {
            continue;
        }
        let answered = match folded.last() {
            Some((last, _)) => {
                last.starts_with("Update(INPUT_REQUIRED)")
                    || last.starts_with("Update(AUTH_REQUIRED)")
            }
            None => false,
        };
        if answered && name == "Update(WORKING)" {
            // The answer was saved by itself.
            folded.pop();
        }
        folded.push((chunks, format!("{name} history={history}")));
    }
    folded
        .into_iter()
        .map(|(chunks, name)| format!("{chunks} {}", name.rsplit(' ').next().unwrap_or_default()))
        .collect()
}

const USER: &str = "admin@kagent.dev";
const LIMIT: Duration = Duration::from_secs(60);
