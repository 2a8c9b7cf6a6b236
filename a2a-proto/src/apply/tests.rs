use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::v1::{Part, Role};

const TASK: &str = "task";
const CONTEXT: &str = "context";

fn start() -> Task {
    Task::submitted(TASK, CONTEXT)
}

fn fold(mut task: Task, events: &[StreamResponse]) -> Task {
    for event in events {
        // What a terminal task refuses leaves it as it is.
        let _ = task.apply(event);
    }
    task
}

fn status(state: TaskState, message: Option<Message>) -> StreamResponse {
    let mut status = TaskStatus::new(state);
    status.message = message;
    TaskStatusUpdateEvent::new(TASK, CONTEXT, status).into()
}

fn chunk(id: &str, text: &str, append: bool) -> TaskArtifactUpdateEvent {
    let artifact = Artifact::new(id, [Part::text(text)]);
    let mut event = TaskArtifactUpdateEvent::new(TASK, CONTEXT, artifact);
    event.append = append;
    event
}

fn message(id: &str) -> Message {
    let mut message = Message::new(Role::Agent, [Part::text(id)]);
    message.message_id = id.to_owned();
    message
}

fn metadata() -> impl Strategy<Value = Option<Struct>> {
    let entries = prop::collection::btree_map("[a-c]", 0..9i32, 0..3);
    prop::option::of(entries.prop_map(|entries| entries.into_iter().collect()))
}

fn states(of: &'static [TaskState]) -> impl Strategy<Value = TaskState> {
    prop::sample::select(of)
}

fn any_status(of: &'static [TaskState]) -> impl Strategy<Value = StreamResponse> {
    let message = prop::option::of("[m-p]").prop_map(|id| id.map(|id| message(&id)));
    (states(of), message, metadata()).prop_map(|(state, message, metadata)| {
        let mut status = TaskStatus::new(state);
        status.message = message;
        let mut update = TaskStatusUpdateEvent::new(TASK, CONTEXT, status);
        update.metadata = metadata;
        update.into()
    })
}

fn any_artifact() -> impl Strategy<Value = TaskArtifactUpdateEvent> {
    let extensions = prop::collection::vec("[x-z]", 0..3);
    (
        "[a-c]",
        "[a-z ]{0,4}",
        any::<bool>(),
        metadata(),
        extensions,
        "[n]?",
    )
        .prop_map(|(id, text, append, metadata, extensions, name)| {
            let mut update = chunk(&id, &text, append);
            let artifact = update.artifact.as_mut().unwrap();
            artifact.metadata = metadata;
            artifact.extensions = extensions;
            artifact.name = name;
            update
        })
}

fn any_event() -> impl Strategy<Value = StreamResponse> {
    prop_oneof![
        4 => any_artifact().prop_map(StreamResponse::from),
        3 => any_status(&OPEN),
        1 => any_status(&TERMINAL),
        1 => "[m-p]".prop_map(|id| StreamResponse::from(message(&id))),
    ]
}

fn any_events() -> impl Strategy<Value = Vec<StreamResponse>> {
    prop::collection::vec(any_event(), 0..24)
}

const OPEN: [TaskState; 4] = [
    TaskState::Submitted,
    TaskState::Working,
    TaskState::InputRequired,
    TaskState::AuthRequired,
];
const TERMINAL: [TaskState; 4] = [
    TaskState::Completed,
    TaskState::Failed,
    TaskState::Canceled,
    TaskState::Rejected,
];

proptest! {
    #[test]
    fn art_02_art_07_chunks_concatenate_and_stay_parts(texts in prop::collection::vec("[a-z ]{0,8}", 1..20)) {
        let mut task = start();
        for (index, text) in texts.iter().enumerate() {
            task.apply(&chunk("a", text, index > 0).into()).unwrap();
        }
        prop_assert_eq!(task.artifact("a").unwrap().parts.len(), texts.len());
        prop_assert_eq!(task.artifact("a").unwrap().text(), texts.concat());
    }

    #[test]
    fn art_01_the_last_replacement_wins(events in any_events(), last in any_artifact()) {
        let mut task = fold(start(), &events);
        prop_assume!(!task.state().is_terminal());
        let mut last = last;
        last.append = false;
        let artifact = last.artifact.clone().unwrap();
        task.apply(&last.into()).unwrap();
        prop_assert_eq!(task.artifact(&artifact.artifact_id), Some(&artifact));
        let ids: BTreeSet<&str> = task.artifacts.iter().map(|known| known.artifact_id.as_str()).collect();
        prop_assert_eq!(ids.len(), task.artifacts.len());
    }

    #[test]
    fn art_04_an_append_merges_metadata_and_unites_extensions(first in any_artifact(), second in any_artifact()) {
        let (mut first, mut second) = (first, second);
        let id = "a".to_owned();
        first.artifact.as_mut().unwrap().artifact_id.clone_from(&id);
        second.artifact.as_mut().unwrap().artifact_id = id;
        second.append = true;
        let task = fold(start(), &[first.clone().into(), second.clone().into()]);
        let (first, second) = (first.artifact.unwrap(), second.artifact.unwrap());

        let mut expected = first.metadata.clone().unwrap_or_default();
        expected.extend(second.metadata.clone().unwrap_or_default());
        let merged = task.artifacts[0].clone();
        prop_assert_eq!(merged.metadata.unwrap_or_default(), expected);

        let both: BTreeSet<&String> = first.extensions.iter().chain(&second.extensions).collect();
        let known: BTreeSet<&String> = merged.extensions.iter().collect();
        prop_assert_eq!(known, both);
        let name = if second.name.is_empty() { first.name } else { second.name };
        prop_assert_eq!(merged.name, name);
    }

    #[test]
    fn task_01_task_02_a_terminal_task_never_changes(
        before in any_events(),
        end in any_status(&TERMINAL),
        after in any_events(),
    ) {
        let mut task = fold(start(), &before);
        let _ = task.apply(&end);
        prop_assert!(task.state().is_terminal());
        prop_assert_eq!(fold(task.clone(), &after), task);
    }

    #[test]
    fn task_02_a_snapshot_does_not_reopen_or_alter_an_end(end in states(&TERMINAL), other in any_event()) {
        let task = fold(start(), &[status(end, None)]);
        let mut snapshot = fold(start(), &[other]);
        prop_assume!(snapshot.state() != end);
        let mut applied = task.clone();
        prop_assert_eq!(applied.apply(&snapshot.clone().into()), Err(ApplyError::Terminal(end)));
        prop_assert_eq!(&applied, &task);

        snapshot.status = task.status;
        prop_assert_eq!(applied.apply(&snapshot.clone().into()), Ok(()));
        prop_assert_eq!(applied, snapshot);
    }

    #[test]
    fn a_snapshot_then_the_rest_is_the_whole(events in any_events(), at in any::<prop::sample::Index>()) {
        let (before, after) = events.split_at(at.index(events.len() + 1));
        let snapshot = StreamResponse::from(fold(start(), before));
        let joined = fold(Task::from_event(&snapshot).unwrap(), after);
        prop_assert_eq!(joined, fold(start(), &events));
    }

    #[test]
    fn a_status_twice_is_a_status_once(events in any_events(), last in any_status(&OPEN)) {
        let once = fold(fold(start(), &events), std::slice::from_ref(&last));
        let twice = fold(once.clone(), &[last]);
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn task_03_every_status_message_ends_in_the_history(ids in prop::collection::vec("[a-z]{6}", 1..12)) {
        let events: Vec<StreamResponse> =
            ids.iter().map(|id| status(TaskState::Working, Some(message(id)))).collect();
        let task = fold(start(), &events);
        let mut said: Vec<&str> = task.history.iter().map(|message| message.message_id.as_str()).collect();
        said.push(&task.status_message().unwrap().message_id);
        let mut expected: Vec<&str> = ids.iter().map(String::as_str).collect();
        expected.dedup();
        prop_assert_eq!(said, expected);
    }
}

#[test]
fn art_03_an_append_to_nothing_makes_the_artifact() {
    let task = fold(start(), &[chunk("a", "x", true).into()]);
    assert_eq!(task.artifact_text(), "x");
}

#[test]
fn art_05_a_chunk_after_the_last_one_still_counts() {
    let last = chunk("a", "x", false).last();
    let task = fold(start(), &[last.into(), chunk("a", "y", true).into()]);
    assert_eq!(task.artifact_text(), "xy");
}

#[test]
fn foreign_and_incomplete_events_change_nothing() {
    let task = start();
    let foreign: [(StreamResponse, ApplyError); 4] = [
        (
            TaskStatusUpdateEvent::new("other", CONTEXT, TaskStatus::new(TaskState::Working))
                .into(),
            ApplyError::ForeignTask,
        ),
        (
            Task::submitted(TASK, "other").into(),
            ApplyError::ForeignContext,
        ),
        (StreamResponse::default(), ApplyError::Incomplete),
        (
            TaskArtifactUpdateEvent {
                task_id: TASK.to_owned(),
                ..Default::default()
            }
            .into(),
            ApplyError::Incomplete,
        ),
    ];
    for (event, expected) in foreign {
        let mut applied = task.clone();
        assert_eq!(applied.apply(&event), Err(expected));
        assert_eq!(applied, task);
    }
}

#[test]
fn a_fold_may_start_at_any_event_but_a_message() {
    let task = Task::from_event(&chunk("a", "x", true).into()).unwrap();
    assert_eq!(
        (task.id.as_str(), task.context_id.as_str()),
        (TASK, CONTEXT)
    );
    assert_eq!(
        (task.status.clone(), task.artifact_text()),
        (None, "x".to_owned())
    );

    let task = Task::from_event(&status(TaskState::Completed, None)).unwrap();
    assert_eq!(task.state(), TaskState::Completed);

    assert_eq!(Task::from_event(&message("m").into()), None);
    assert_eq!(Task::from_event(&StreamResponse::default()), None);
}
