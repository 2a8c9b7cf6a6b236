use a2a_proto::v1::{StreamResponse, TaskStatus, TaskStatusUpdateEvent};
use a2a_proto::{Method, Timestamp};

use super::*;
use crate::auth::Principal;

fn call() -> CallContext {
    CallContext::new(Method::ListTasks)
}

fn task(id: &str, state: TaskState, seconds: i64) -> Task {
    let mut task = Task::submitted(id, "c");
    let timestamp = Some(Timestamp { seconds, nanos: 0 });
    task.status = Some(TaskStatus {
        state: state.into(),
        message: None,
        timestamp,
    });
    task
}

async fn filled(states: &[(&str, TaskState, i64)]) -> MemoryStore {
    let store = MemoryStore::new();
    for (id, state, seconds) in states {
        store
            .create(&call(), &task(id, *state, *seconds))
            .await
            .unwrap();
    }
    store
}

fn ids(response: &ListTasksResponse) -> Vec<&str> {
    response.tasks.iter().map(|task| task.id.as_str()).collect()
}

fn page(size: i32, token: &str) -> ListTasksRequest {
    ListTasksRequest {
        page_size: Some(size),
        page_token: token.to_owned(),
        ..Default::default()
    }
}

#[tokio::test]
async fn list_02_and_03_pages_are_newest_first_and_lose_nothing() {
    let working = TaskState::Working;
    let store = filled(&[
        ("a", working, 3),
        ("b", working, 5),
        ("c", working, 5),
        ("d", working, 1),
        ("e", working, 4),
    ])
    .await;
    let first = store.list(&call(), &page(2, "")).await.unwrap();
    assert_eq!(ids(&first), ["c", "b"]);
    assert_eq!((first.page_size, first.total_size), (2, 5));
    // A task that moves to the front between two pages is not shown twice, and nothing is skipped.
    let version = store.get(&call(), "d").await.unwrap().unwrap().version;
    let moved = task("d", working, 9);
    let event = StreamResponse::from(moved.clone());
    store
        .update(&call(), TaskWrite::new(&moved, &[&event], version))
        .await
        .unwrap();
    let second = store
        .list(&call(), &page(2, &first.next_page_token))
        .await
        .unwrap();
    assert_eq!(ids(&second), ["e", "a"]);
    assert_eq!(second.next_page_token, "");
    for token in ["zz", "!", "Zm9v"] {
        let refused = store.list(&call(), &page(2, token)).await.unwrap_err();
        assert!(matches!(
            refused,
            StoreError::InvalidRequest {
                field: "page_token",
                ..
            }
        ));
    }
}

#[tokio::test]
async fn list_06_and_08_filters_and_what_is_shown() {
    let store = filled(&[("a", TaskState::Working, 3), ("b", TaskState::Completed, 5)]).await;
    let mut with_artifact = task("x", TaskState::Completed, 7);
    with_artifact.context_id = "other".into();
    with_artifact.artifacts.push(a2a_proto::v1::Artifact::new(
        "r",
        [a2a_proto::v1::Part::text("t")],
    ));
    with_artifact
        .history
        .push(a2a_proto::v1::Message::user("one"));
    with_artifact
        .history
        .push(a2a_proto::v1::Message::user("two"));
    store.create(&call(), &with_artifact).await.unwrap();

    let all = store.list(&call(), &page(50, "")).await.unwrap();
    assert_eq!(ids(&all), ["x", "b", "a"]);
    assert!(all.tasks[0].artifacts.is_empty());
    assert_eq!(all.tasks[0].history.len(), 2);
    let request = ListTasksRequest {
        context_id: "other".into(),
        include_artifacts: Some(true),
        history_length: Some(1),
        ..page(50, "")
    };
    let other = store.list(&call(), &request).await.unwrap();
    assert_eq!((ids(&other), other.total_size), (vec!["x"], 1));
    assert_eq!(other.tasks[0].artifacts.len(), 1);
    assert_eq!(other.tasks[0].history[0].text(), "two");
    let status = ListTasksRequest {
        status: TaskState::Working.into(),
        ..page(50, "")
    };
    assert_eq!(ids(&store.list(&call(), &status).await.unwrap()), ["a"]);
    let after = Some(Timestamp {
        seconds: 5,
        nanos: 0,
    });
    let recent = ListTasksRequest {
        status_timestamp_after: after,
        ..page(50, "")
    };
    assert_eq!(
        ids(&store.list(&call(), &recent).await.unwrap()),
        ["x", "b"],
        "the bound itself counts"
    );
}

#[tokio::test]
async fn list_01_a_foreign_task_is_none() {
    let store = filled(&[("a", TaskState::Working, 3)]).await;
    for other in [
        call().with_tenant("t"),
        call().with_principal(Principal::named("p")),
    ] {
        assert!(store.get(&other, "a").await.unwrap().is_none());
        assert_eq!(
            store.list(&other, &page(50, "")).await.unwrap().total_size,
            0
        );
        let task = task("a", TaskState::Completed, 4);
        let event = StreamResponse::from(task.clone());
        let events = [&event];
        let write = TaskWrite::new(&task, &events, TaskVersion::new(1));
        assert!(matches!(
            store.update(&other, write).await,
            Err(StoreError::NotFound)
        ));
    }
}

#[tokio::test]
async fn versions_are_checked() {
    let store = filled(&[("a", TaskState::Working, 3)]).await;
    let exists = store
        .create(&call(), &task("a", TaskState::Working, 3))
        .await;
    assert!(matches!(exists, Err(StoreError::AlreadyExists)));
    let next = task("a", TaskState::Completed, 4);
    let update = TaskStatusUpdateEvent {
        task_id: "a".into(),
        context_id: "c".into(),
        status: next.status.clone(),
        metadata: None,
    };
    let event = StreamResponse::from(update);
    let events = [&event];
    let write = TaskWrite::new(&next, &events, TaskVersion::new(1));
    let version = store.update(&call(), write).await.unwrap();
    assert!(matches!(
        store.update(&call(), write).await,
        Err(StoreError::VersionConflict)
    ));
    let stored = store.get(&call(), "a").await.unwrap().unwrap();
    assert_eq!((&*stored.task, stored.version), (&next, version));
}

#[tokio::test(start_paused = true)]
async fn finished_tasks_go_after_an_hour_parked_ones_after_a_week_and_running_ones_never() {
    let states = [
        ("done", TaskState::Completed, 1),
        ("parked", TaskState::InputRequired, 1),
        ("running", TaskState::Working, 1),
    ];
    let store = filled(&states).await;
    tokio::time::advance(Duration::from_secs(3_599)).await;
    assert_eq!(store.len(), 3);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(store.get(&call(), "done").await.unwrap().is_none());
    assert!(store.get(&call(), "parked").await.unwrap().is_some());
    tokio::time::advance(Duration::from_secs(168 * 3_600)).await;
    assert!(store.get(&call(), "parked").await.unwrap().is_none());
    assert!(store.get(&call(), "running").await.unwrap().is_some());
}

#[tokio::test]
async fn the_oldest_go_when_there_are_too_many() {
    let retention = Retention {
        finished_count: 2,
        ..Retention::default()
    };
    let store = MemoryStore::with_retention(retention);
    for id in ["a", "b", "c"] {
        store
            .create(&call(), &task(id, TaskState::Completed, 1))
            .await
            .unwrap();
    }
    assert!(store.get(&call(), "a").await.unwrap().is_none());
    assert_eq!(store.len(), 2);
}
