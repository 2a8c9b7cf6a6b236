//! Kills an agent in the middle of its work, and looks at what it knows when it is started again.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use kagent_ext::a2a_client::{Client, EventStream};
use kagent_ext::a2a_proto::v1::stream_response::Payload;
use kagent_ext::a2a_proto::v1::{
    ListTasksRequest, Message, SendMessageRequest, StreamResponse, Task, TaskState,
};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// The agent in a process of its own, on the file.
struct Agent {
    process: Child,
    client: Client,
}

impl Agent {
    async fn start(file: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_durable_agent"))
            .arg(file)
            .arg("127.0.0.1:0")
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = lines.next_line().await.unwrap();
        let client = Client::connect(url.expect("the agent says where it listens"));
        Self {
            process,
            client: client.await.unwrap(),
        }
    }

    /// Sends SIGKILL and waits until the process is gone.
    async fn kill(mut self) {
        self.process.kill().await.unwrap();
    }

    /// Begins to count further than anybody waits.
    async fn count(&self) -> Counting {
        let mut events = self.client.stream_text("1000000").await.unwrap();
        let first = events.next().await.expect("a stream begins").unwrap();
        let Some(Payload::Task(task)) = first.payload else {
            panic!("the first event is no task");
        };
        Counting {
            id: task.id,
            seen: Vec::new(),
            events,
        }
    }

    async fn task(&self, id: &str) -> Task {
        self.client.get_task(id).await.unwrap()
    }
}

/// A task that counts, and the steps that its caller was told of.
struct Counting {
    id: String,
    seen: Vec<String>,
    events: EventStream,
}

impl Counting {
    async fn read(&mut self, steps: usize) {
        while self.seen.len() < steps {
            let event = self.events.next().await.expect("it counts on");
            self.note(&event.unwrap());
        }
    }

    /// Reads what arrived before the connection was cut.
    async fn read_rest(&mut self) {
        while let Some(Ok(event)) = self.events.next().await {
            self.note(&event);
        }
    }

    fn note(&mut self, event: &StreamResponse) {
        if let Some(Payload::StatusUpdate(update)) = &event.payload {
            let text = update.status.as_ref().unwrap().text();
            self.seen.extend((!text.is_empty()).then_some(text));
        }
    }

    /// The task has failed, and knows every step that was told; those behind were stored and told nobody.
    fn assert_kept(&self, task: &Task) {
        assert_eq!(task.state(), TaskState::Failed);
        assert_eq!(task.status_text(), "the agent was restarted");
        let history: Vec<String> = task.history.iter().map(Message::text).collect();
        let (sent, steps) = history.split_first().expect("the user's message is kept");
        assert_eq!(sent, "1000000");
        assert!(
            steps.starts_with(&self.seen),
            "told {:?}, kept {:?}",
            self.seen.last(),
            steps.last()
        );
        let expected = (1..=steps.len()).map(|step| step.to_string());
        assert!(expected.eq(steps.iter().cloned()), "no step is missing");
    }
}

struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn directory(name: &str) -> Directory {
    let path = std::env::temp_dir().join(format!("durable-{}-{name}", std::process::id()));
    std::fs::create_dir(&path).unwrap();
    Directory(path)
}

async fn within<T>(test: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(60);
    let outcome = tokio::time::timeout(limit, Box::pin(test)).await;
    outcome.expect("the test hangs")
}

#[tokio::test]
async fn every_step_that_was_told_survives_a_kill() {
    within(async {
        let directory = directory("kill");
        let file = directory.0.join("tasks.db");
        let mut counted: Vec<Counting> = Vec::new();
        for steps in [1, 2, 7, 40] {
            let agent = Agent::start(&file).await;
            for counting in &counted {
                counting.assert_kept(&agent.task(&counting.id).await);
            }
            let (mut one, mut other) = (agent.count().await, agent.count().await);
            one.read(steps).await;
            other.read(1).await;
            agent.kill().await;
            one.read_rest().await;
            other.read_rest().await;
            counted.extend([one, other]);
        }
        let agent = Agent::start(&file).await;
        for counting in &counted {
            counting.assert_kept(&agent.task(&counting.id).await);
        }
        let failed = ListTasksRequest {
            status: TaskState::Failed.into(),
            ..ListTasksRequest::default()
        };
        let listed = agent.client.list_tasks(failed).await.unwrap();
        assert_eq!(listed.total_size, 8);
        agent.kill().await;
    })
    .await;
}

#[tokio::test]
async fn what_had_ended_or_waits_for_the_user_is_as_it_was_after_a_kill() {
    within(async {
        let directory = directory("rest");
        let file = directory.0.join("tasks.db");
        let agent = Agent::start(&file).await;
        let ended = agent.client.stream_text("3").await.unwrap();
        let ended = ended.into_task().await.unwrap();
        assert_eq!(ended.artifact_text(), "I counted to 3.");
        let asked = agent.client.stream_text("count!").await.unwrap();
        let asked = asked.into_task().await.unwrap();
        assert_eq!(asked.state(), TaskState::InputRequired);
        agent.kill().await;

        let agent = Agent::start(&file).await;
        assert_eq!(agent.task(&ended.id).await, ended);
        assert_eq!(agent.task(&asked.id).await, asked);
        let answer = SendMessageRequest {
            message: Some(Message::user("2").with_task_id(&asked.id)),
            ..SendMessageRequest::default()
        };
        let answered = agent.client.send_message(answer).await.unwrap();
        let task = agent.task(&asked.id).await;
        assert_eq!(answered.as_task(), Some(&task));
        assert_eq!(task.artifact_text(), "I counted to 2.");
        agent.kill().await;
    })
    .await;
}
