//! Each fault at each call of the store, in each scenario, under both persist policies.

use std::time::Duration;

use a2a_proto::v1::{Task, TaskState};
use a2a_proto::{A2aError, ErrorCode};
use a2a_server::PersistPolicy;

use super::store::{Fault, FaultyStore};
use super::{Gate, agent};
use crate::harness::*;

/// What was acknowledged to a caller, as far as it came.
#[derive(Default)]
struct Seen {
    /// The last state of each task that a caller got to see in an answer or at the end of a stream.
    states: Vec<(String, TaskState)>,
    /// Chunks of text that were seen before a proper end.
    texts: Vec<(String, String)>,
}

impl Seen {
    fn task(&mut self, task: &Task) {
        self.states.push((task.id.clone(), task.state()));
        if task.state() == TaskState::Completed {
            self.texts.push((task.id.clone(), task.artifact_text()));
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Scenario {
    Plain,
    Stream,
    PauseAndAnswer,
    AuthorizeAndAnswer,
    TwoAnswers,
    CancelRunning,
    CancelParked,
    ReadWhileAnswered,
    Fail,
    Raise,
    Panic,
    List,
}

impl Scenario {
    const ALL: [Self; 12] = [
        Self::Plain,
        Self::Stream,
        Self::PauseAndAnswer,
        Self::AuthorizeAndAnswer,
        Self::TwoAnswers,
        Self::CancelRunning,
        Self::CancelParked,
        Self::ReadWhileAnswered,
        Self::Fail,
        Self::Raise,
        Self::Panic,
        Self::List,
    ];

    /// Plays it to where an error ends it: what a caller is told of the fault is not the point here.
    async fn play(self, peer: &Peer) -> Seen {
        let mut seen = Seen::default();
        // An error is an answer.
        let _ = self.steps(peer, &mut seen).await;
        seen
    }

    async fn steps(self, peer: &Peer, seen: &mut Seen) -> Result<(), A2aError> {
        match self {
            Self::Plain => seen.task(&peer.run(ask("hello")).await?),
            Self::Fail => seen.task(&peer.run(ask("fail")).await?),
            Self::Raise => seen.task(&peer.run(ask("raise")).await?),
            Self::Panic => seen.task(&peer.run(ask("panic")).await?),
            Self::Stream => seen.task(&peer.stream(ask("stream")).await?.fold().await?),
            Self::PauseAndAnswer | Self::AuthorizeAndAnswer => {
                let text = match self {
                    Self::PauseAndAnswer => "pause",
                    _ => "authorize",
                };
                let task = peer.run(ask(text)).await?;
                seen.task(&task);
                seen.task(&peer.run(answer(&task.id, "this")).await?);
            }
            Self::TwoAnswers => {
                let task = peer.run(ask("pause")).await?;
                seen.task(&task);
                let (one, two) = tokio::join!(
                    peer.run(answer(&task.id, "one")),
                    peer.run(answer(&task.id, "two")),
                );
                for task in [one, two].into_iter().flatten() {
                    seen.task(&task);
                }
            }
            Self::CancelRunning => {
                let mut stream = peer.stream(ask("hang")).await?;
                let id = match stream.next().await {
                    Some(event) => first_task(event?).id,
                    None => return Ok(()),
                };
                seen.task(&peer.cancel(&id).await?);
            }
            Self::CancelParked => {
                let task = peer.run(ask("pause")).await?;
                seen.task(&task);
                seen.task(&peer.cancel(&task.id).await?);
            }
            Self::ReadWhileAnswered => {
                let task = peer.run(ask("pause")).await?;
                seen.task(&task);
                let reader = peer.subscribe(&task.id).await?;
                // Where the answer does not arrive, the task rests and its reader goes on waiting.
                let hour = Duration::from_secs(3600);
                let (folded, answered) = tokio::join!(
                    tokio::time::timeout(hour, reader.fold()),
                    peer.run(answer(&task.id, "this")),
                );
                assert!(folded.is_ok() || answered.is_err(), "the reader hangs");
                for task in [folded.ok(), Some(answered)]
                    .into_iter()
                    .flatten()
                    .flatten()
                {
                    seen.task(&task);
                }
            }
            Self::List => {
                seen.task(&peer.run(ask("hello")).await?);
                for task in peer.list(Default::default()).await?.tasks {
                    seen.task(&peer.get(&task.id).await?);
                }
            }
        }
        Ok(())
    }

    /// Whether the agent itself fails its task.
    fn fails(self) -> bool {
        matches!(self, Self::Fail | Self::Raise | Self::Panic)
    }
}

#[tokio::test(start_paused = true)]
async fn every_fault_at_every_call_of_every_scenario_under_both_policies() {
    let mut runs = 0;
    for policy in [PersistPolicy::EveryEvent, PersistPolicy::coalesce()] {
        for scenario in Scenario::ALL {
            for fault in Fault::ALL {
                let mut at = 0;
                loop {
                    let what = format!("{policy:?} {scenario:?}: {fault:?} at call {at}");
                    let store = FaultyStore::new(at, fault);
                    let run = run(policy, scenario, &store, &what);
                    // A day goes by in no time while nothing can go on.
                    let hangs = tokio::time::timeout(Duration::from_secs(86_400), run).await;
                    hangs.unwrap_or_else(|_| panic!("{what}: hangs"));
                    runs += 1;
                    if store.calls() <= at {
                        break;
                    }
                    at += 1;
                    assert!(at < 100, "{what}: the store is called without an end");
                }
            }
        }
    }
    assert!(runs > 500, "{runs} runs");
}

async fn run(policy: PersistPolicy, scenario: Scenario, store: &FaultyStore, what: &str) {
    let builder = agent(&Gate::default()).store(store.clone()).persist(policy);
    let peer = Via::Direct.serve(builder).await;
    let seen = scenario.play(&peer).await;
    let tasks = at_rest(store, what).await;
    store.disarm();
    for (id, state) in &seen.states {
        let stored = tasks.iter().find(|task| task.id == *id);
        let stored = stored.unwrap_or_else(|| panic!("{what}: {id} was acknowledged and is lost"));
        if state.is_terminal() {
            assert_eq!(stored.state(), *state, "{what}: {:?}", stored.status);
        }
    }
    for (id, text) in &seen.texts {
        let stored = tasks.iter().find(|task| task.id == *id);
        assert_eq!(stored.unwrap().artifact_text(), *text, "{what}");
    }
    for task in &tasks {
        let is_failed = task.state() == TaskState::Failed && !scenario.fails();
        if is_failed {
            assert_eq!(status_text(task), "the task store failed", "{what}");
        }
    }
    assert_eq!(store.violations(), [""; 0], "{what}");
    // What rests can be worked on, and the agent still works.
    for task in tasks
        .iter()
        .filter(|task| task.state() == TaskState::InputRequired)
    {
        let done = answered(&peer, &task.id).await;
        assert_state(
            &done.unwrap_or_else(|error| panic!("{what}: {error}")),
            TaskState::Completed,
        );
    }
    assert_state(&peer.run(ask("hello")).await.unwrap(), TaskState::Completed);
    peer.shutdown().await;
}

/// Answers, once it has been found out what is stored.
async fn answered(peer: &Peer, id: &str) -> Result<Task, A2aError> {
    for _ in 0..120 {
        match peer.run(answer(id, "at last")).await {
            Err(error) if error.code() == ErrorCode::Unavailable => {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            answered => return answered,
        }
    }
    peer.run(answer(id, "at last")).await
}

/// Waits until no task is on its way any more, and gives what is stored.
async fn at_rest(store: &FaultyStore, what: &str) -> Vec<Task> {
    for _ in 0..600 {
        let tasks = store.all().await;
        let moving =
            |task: &Task| matches!(task.state(), TaskState::Submitted | TaskState::Working);
        if !tasks.iter().any(moving) {
            return tasks;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("{what}: a task stays running: {:?}", store.all().await);
}
