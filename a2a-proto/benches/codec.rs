//! The codec against plain serde derives of the same shape, in the same run: `cargo xtask bench codec`.
//!
//! Rounds of all candidates are interleaved, so that a disturbance hits all of them, and medians are compared.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "it is a program for developers"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use a2a_proto::v1::{
    Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState,
    TaskStatus,
};
use a2a_proto::{Struct, json};

use serde::{Deserialize, Serialize};
use serde_json::json;

fn main() {
    // `cargo test --benches` passes none of this and only wants to see it run.
    let full = std::env::args().any(|argument| argument == "--bench");
    let rounds = if full { 201 } else { 1 };

    let task = task();
    let document = json::to_vec(&task);
    let plain: plain::Task = serde_json::from_slice(&document).unwrap();
    assert_eq!(
        serde_json::to_value(&plain).unwrap(),
        serde_json::to_value(&task).unwrap()
    );
    compare("task of 10 messages", &task, &plain, rounds, 100);

    let event = event();
    let document = json::to_vec(&event);
    let plain: plain::StreamResponse = serde_json::from_slice(&document).unwrap();
    assert_eq!(
        serde_json::to_value(&plain).unwrap(),
        serde_json::to_value(&event).unwrap()
    );
    compare("event of one token", &event, &plain, rounds, 2_000);
}

fn compare<M, P>(name: &str, ours: &M, plain: &P, rounds: usize, times: u32)
where
    M: json::Message + prost::Message,
    P: Serialize + for<'de> Deserialize<'de>,
{
    let text = json::to_vec(ours);
    let binary = ours.encode_to_vec();
    println!("{name}: {} B JSON, {} B binary", text.len(), binary.len());
    let mut buffer = Vec::with_capacity(2 * text.len());
    let mut samples: [Vec<Duration>; 6] = Default::default();
    for _ in 0..rounds {
        let round = [
            time(times, || {
                buffer.clear();
                serde_json::to_writer(&mut buffer, black_box(plain)).unwrap();
            }),
            time(times, || {
                drop(black_box(serde_json::from_slice::<P>(&text).unwrap()));
            }),
            time(times, || {
                buffer.clear();
                json::to_writer(&mut buffer, black_box(ours)).unwrap();
            }),
            time(times, || {
                drop(black_box(json::from_slice::<M>(&text).unwrap()))
            }),
            time(times, || {
                buffer.clear();
                black_box(ours).encode(&mut buffer).unwrap();
            }),
            time(times, || {
                drop(black_box(M::decode(binary.as_slice()).unwrap()))
            }),
        ];
        for (samples, sample) in samples.iter_mut().zip(round) {
            samples.push(sample);
        }
    }
    let [plain_write, plain_read, write, read, encode, decode] = samples.map(median);
    for (what, time, baseline) in [
        ("plain derive, write", plain_write, plain_write),
        ("plain derive, read", plain_read, plain_read),
        ("JSON write", write, plain_write),
        ("JSON read", read, plain_read),
        ("binary encode", encode, plain_write),
        ("binary decode", decode, plain_read),
    ] {
        println!("  {what:20} {:8.0} ns  {:5.2}", time * 1e9, time / baseline);
    }
}

/// The time of one run.
fn time(times: u32, mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        run();
    }
    start.elapsed() / times
}

fn median(mut samples: Vec<Duration>) -> f64 {
    samples.sort_unstable();
    samples
        .get(samples.len() / 2)
        .map_or(0.0, Duration::as_secs_f64)
}

fn task() -> Task {
    let metadata: Struct = json!({
        "trace": "4bf92f3577b34da6a3ce929d0e0e4736", "attempt": 3, "score": 0.75, "final": true,
        "usage": {"input": 1200, "output": 345, "models": ["small", "large"], "cached": null},
    })
    .try_into()
    .unwrap();
    let mut task = Task::submitted(
        "3f1b9c9e-5a44-4a0e-9d8b-2f4d1c0a7b66",
        "c0ffee00-1111-4222-8333-444455556666",
    );
    let status = TaskStatus::with_message(
        TaskState::InputRequired,
        Message::agent("Which of the two?"),
    );
    task.status = Some(TaskStatus {
        timestamp: Some("2026-01-02T03:04:05.678Z".parse().unwrap()),
        ..status
    });
    task.history = (0..10)
        .map(|index| {
            let role = if index % 2 == 0 {
                Role::User
            } else {
                Role::Agent
            };
            let text = format!(
                "Message {index}: the quick brown fox jumps over the lazy dog, and nobody minds."
            );
            let mut message = Message::new(role, [Part::text(text)])
                .with_task_id(&task.id)
                .with_context_id(&task.context_id);
            message.metadata = (index % 3 == 0).then(|| metadata.clone());
            message
        })
        .collect();
    task.artifacts = (0..5)
        .map(|index| {
            let parts = [
                Part::text("first half of the text, "),
                Part::text("and its second half"),
            ];
            Artifact::new(format!("artifact-{index}"), parts).with_name("answer")
        })
        .collect();
    task.metadata = Some(metadata);
    task
}

fn event() -> StreamResponse {
    TaskArtifactUpdateEvent::new(
        "3f1b9c9e-5a44-4a0e-9d8b-2f4d1c0a7b66",
        "c0ffee00-1111-4222-8333-444455556666",
        Artifact::new("answer", [Part::text(" token")]),
    )
    .appended()
    .into()
}

/// What one would write by hand for these two documents.
mod plain {
    use super::{BTreeMap, Deserialize, Serialize};

    type Object = BTreeMap<String, serde_json::Value>;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct Task {
        id: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        context_id: String,
        status: Option<TaskStatus>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        artifacts: Vec<Artifact>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        history: Vec<Message>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
    }

    #[derive(Serialize, Deserialize)]
    struct TaskStatus {
        state: State,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<Message>,
        #[serde(skip_serializing_if = "Option::is_none")]
        timestamp: Option<String>,
    }

    #[derive(Serialize, Deserialize)]
    enum State {
        #[serde(rename = "TASK_STATE_WORKING")]
        Working,
        #[serde(rename = "TASK_STATE_INPUT_REQUIRED")]
        InputRequired,
    }

    #[derive(Serialize, Deserialize)]
    enum Role {
        #[serde(rename = "ROLE_USER")]
        User,
        #[serde(rename = "ROLE_AGENT")]
        Agent,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Message {
        message_id: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        context_id: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        task_id: String,
        role: Role,
        parts: Vec<Part>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        extensions: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reference_task_ids: Vec<String>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Part {
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<serde_json::Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        filename: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        media_type: String,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Artifact {
        artifact_id: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        name: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        description: String,
        parts: Vec<Part>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        extensions: Vec<String>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct StreamResponse {
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<Task>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<Message>,
        #[serde(skip_serializing_if = "Option::is_none")]
        artifact_update: Option<ArtifactUpdate>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ArtifactUpdate {
        task_id: String,
        context_id: String,
        artifact: Artifact,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        append: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last_chunk: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
    }
}
