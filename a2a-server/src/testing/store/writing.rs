//! What is written is there, once, and at the version that was meant.

use std::sync::Arc;

use a2a_proto::v1::{
    Artifact, Message, Part, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use tokio::task::JoinSet;

use super::{Bench, Broken, Outcome, fails, same};
use crate::store::{StoreError, TaskVersion, TaskWrite};

pub(super) async fn a_new_task_is_read_back(bench: &Bench) -> Outcome {
    let mut task = bench.task("a", TaskState::Submitted, 1);
    task.history.push(Message::user("hello"));
    let version = bench.create(&task).await?;
    same("the task", bench.read(&task.id).await?, (task, version))
}

pub(super) async fn an_id_is_taken_once(bench: &Bench) -> Outcome {
    let task = bench.task("a", TaskState::Working, 1);
    let version = bench.create(&task).await?;
    let other = bench.task("a", TaskState::Completed, 2);
    fails(
        "a second creation",
        bench.create(&other).await,
        "AlreadyExists",
        is_taken,
    )?;
    same("the first", bench.read(&task.id).await?, (task, version))
}

pub(super) async fn of_concurrent_creations_one_wins(bench: &Bench) -> Outcome {
    let mut creations = JoinSet::new();
    for seconds in 0..RACERS {
        let (store, call) = (Arc::clone(&bench.store), bench.call());
        let task = bench.task("a", TaskState::Working, seconds);
        creations.spawn(async move { store.create(&call, &task).await.map(|_| task) });
    }
    let winner = one_wins(creations, "AlreadyExists", is_taken).await?;
    same("what is stored", bench.read(&winner.id).await?.0, winner)
}

/// A status, a new artifact, a chunk of it, and the snapshot that takes in a message of the user.
pub(super) async fn each_kind_of_event_is_stored(bench: &Bench) -> Outcome {
    let mut task = bench.task("a", TaskState::Working, 1);
    let mut version = bench.create(&task).await?;
    let mut claimed = bench.task("a", TaskState::Working, 5);
    let question = TaskStatus::with_message(TaskState::InputRequired, Message::agent("which?"));
    let events = [
        vec![artifact(&task, "one", false)],
        vec![artifact(&task, "two", true), artifact(&task, "three", true)],
        vec![artifact(&task, "four", true), status(&task, question)],
    ];
    for events in events {
        for event in &events {
            let applied = task.apply(event);
            applied.map_err(|error| Broken(format!("the rule itself is wrong: {error}")))?;
        }
        version = written(bench, &task, &events, version).await?;
    }
    claimed.artifacts.clone_from(&task.artifacts);
    claimed.history = vec![Message::agent("which?"), Message::user("this")];
    let claim = [StreamResponse::from(claimed.clone())];
    version = written(bench, &claimed, &claim, version).await?;
    let done = status(&claimed, TaskStatus::new(TaskState::Completed));
    let mut ended = claimed;
    let applied = ended.apply(&done);
    applied.map_err(|error| Broken(format!("the rule itself is wrong: {error}")))?;
    written(bench, &ended, &[done], version).await?;
    Ok(())
}

/// Updates, and finds the task as it was written, at a version of its own.
async fn written(
    bench: &Bench,
    task: &Task,
    events: &[StreamResponse],
    expected: TaskVersion,
) -> Result<TaskVersion, Broken> {
    let events: Vec<&StreamResponse> = events.iter().collect();
    let write = TaskWrite::new(task, &events, expected);
    let version = bench.store.update(&bench.call(), write).await?;
    if version == expected {
        return Err(Broken(format!("an update leaves version {version}")));
    }
    let found = bench.read(&task.id).await?;
    same("the task", found, (task.clone(), version))?;
    Ok(version)
}

pub(super) async fn a_stale_version_changes_nothing(bench: &Bench) -> Outcome {
    let task = bench.task("a", TaskState::Submitted, 1);
    let first = bench.create(&task).await?;
    let working = bench.task("a", TaskState::Working, 2);
    let second = bench.replace(&working, first).await?;
    let late = bench.task("a", TaskState::Failed, 3);
    let refused = bench.replace(&late, first).await;
    fails("a stale update", refused, "VersionConflict", is_stale)?;
    same("the task", bench.read(&task.id).await?, (working, second))
}

pub(super) async fn of_concurrent_updates_one_wins(bench: &Bench) -> Outcome {
    let version = bench
        .create(&bench.task("a", TaskState::Submitted, 0))
        .await?;
    let mut updates = JoinSet::new();
    for seconds in 1..=RACERS {
        let (store, call) = (Arc::clone(&bench.store), bench.call());
        let task = bench.task("a", TaskState::Working, seconds);
        updates.spawn(async move {
            let event = StreamResponse::from(task.clone());
            let events = [&event];
            let write = TaskWrite::new(&task, &events, version);
            store.update(&call, write).await.map(|_| task)
        });
    }
    let winner = one_wins(updates, "VersionConflict", is_stale).await?;
    same("what is stored", bench.read(&winner.id).await?.0, winner)
}

pub(super) async fn an_unknown_task_is_not_updated(bench: &Bench) -> Outcome {
    let version = bench
        .create(&bench.task("a", TaskState::Working, 1))
        .await?;
    let unknown = bench.task("b", TaskState::Working, 1);
    let refused = bench.replace(&unknown, version).await;
    fails("an update of none", refused, "NotFound", |error| {
        matches!(error, StoreError::NotFound)
    })?;
    let found = bench.store.get(&bench.call(), &unknown.id).await?;
    same("whether it is there now", found.is_some(), false)
}

pub(super) async fn a_boundary_state_is_settled(bench: &Bench) -> Outcome {
    let first = bench
        .create(&bench.task("a", TaskState::Working, 1))
        .await?;
    let paused = bench.task("a", TaskState::InputRequired, 2);
    let version = bench.replace(&paused, first).await?;
    let call = bench.call();
    // The engine may ask again when the answer was lost.
    bench.store.settle(&call, &paused.id, version).await?;
    bench.store.settle(&call, &paused.id, version).await?;
    let (task, version) = bench.read(&paused.id).await?;
    same("the task", task, paused)?;
    let answered = bench.task("a", TaskState::Working, 3);
    bench.replace(&answered, version).await?;
    same(
        "the answered task",
        bench.read(&answered.id).await?.0,
        answered,
    )
}

fn artifact(task: &Task, text: &str, append: bool) -> StreamResponse {
    StreamResponse::from(TaskArtifactUpdateEvent {
        task_id: task.id.clone(),
        context_id: task.context_id.clone(),
        artifact: Some(Artifact::new("result", [Part::text(text)])),
        append,
        ..TaskArtifactUpdateEvent::default()
    })
}

fn status(task: &Task, status: TaskStatus) -> StreamResponse {
    StreamResponse::from(TaskStatusUpdateEvent {
        task_id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: Some(status),
        metadata: None,
    })
}

/// Of calls that race exactly one succeeds, and each other is told why it does not.
async fn one_wins(
    mut racers: JoinSet<Result<Task, StoreError>>,
    expected: &str,
    is_expected: impl Fn(&StoreError) -> bool,
) -> Result<Task, Broken> {
    let mut winners = Vec::new();
    while let Some(joined) = racers.join_next().await {
        match joined.map_err(|error| Broken(format!("the store panics: {error}")))? {
            Ok(task) => winners.push(task),
            Err(error) => fails("a loser", Err::<(), _>(error), expected, &is_expected)?,
        }
    }
    let count = winners.len();
    match (winners.pop(), count) {
        (Some(winner), 1) => Ok(winner),
        _ => Err(Broken(format!("{count} of {RACERS} calls win"))),
    }
}

fn is_taken(error: &StoreError) -> bool {
    matches!(error, StoreError::AlreadyExists)
}

fn is_stale(error: &StoreError) -> bool {
    matches!(error, StoreError::VersionConflict)
}

const RACERS: i64 = 8;
