//! Which tasks a list has, in which order, and how much of each.

use a2a_proto::Timestamp;
use a2a_proto::v1::{Artifact, ListTasksRequest, Message, Part, Task, TaskState, TaskStatus};
use serde_json::json;

use super::{Bench, Broken, Outcome, page, same};

pub(super) async fn the_newest_status_is_first(bench: &Bench) -> Outcome {
    for (name, seconds, nanos) in [
        ("b", 5, 0),
        ("e", 4, 999_000_000),
        ("d", 5, 1_000_000),
        ("c", 5, 0),
        ("before-1970", -7, 0),
        ("f", 12, 0),
    ] {
        let mut task = bench.task(name, TaskState::Working, seconds);
        task.status = Some(TaskStatus::new(TaskState::Working).at(Timestamp { seconds, nanos }));
        bench.create(&task).await?;
    }
    let expected = ["f", "d", "c", "b", "e", "before-1970"];
    same("the list", bench.names(&page(10, "")).await?, expected)
}

pub(super) async fn the_context_filters(bench: &Bench) -> Outcome {
    mixed(bench).await?;
    let request = ListTasksRequest {
        context_id: bench.id("other"),
        ..page(10, "")
    };
    selected(bench, &request, &["d"]).await?;
    let unknown = ListTasksRequest {
        context_id: bench.id("unknown"),
        ..page(10, "")
    };
    selected(bench, &unknown, &[]).await
}

pub(super) async fn the_state_filters(bench: &Bench) -> Outcome {
    mixed(bench).await?;
    let request = ListTasksRequest {
        status: TaskState::Working.into(),
        ..page(10, "")
    };
    selected(bench, &request, &["d", "a"]).await?;
    let none = ListTasksRequest {
        status: TaskState::Rejected.into(),
        ..page(10, "")
    };
    selected(bench, &none, &[]).await
}

/// A task whose status has no time is older than any.
pub(super) async fn the_time_filters_and_its_bound_counts(bench: &Bench) -> Outcome {
    mixed(bench).await?;
    let after = |seconds, nanos| ListTasksRequest {
        status_timestamp_after: Some(Timestamp { seconds, nanos }),
        ..page(10, "")
    };
    selected(bench, &after(3, 0), &["d", "c"]).await?;
    selected(bench, &after(3, 1), &["d"]).await?;
    selected(bench, &after(-9, 0), &["d", "c", "b", "a"]).await?;
    selected(bench, &page(10, ""), &["d", "c", "b", "a", "timeless"]).await
}

pub(super) async fn filters_join(bench: &Bench) -> Outcome {
    mixed(bench).await?;
    let request = ListTasksRequest {
        context_id: bench.id("context"),
        status: TaskState::Completed.into(),
        status_timestamp_after: Some(Timestamp {
            seconds: 3,
            nanos: 0,
        }),
        ..page(10, "")
    };
    selected(bench, &request, &["c"]).await
}

/// Four tasks, the newest in another context, and one whose status has no time.
async fn mixed(bench: &Bench) -> Outcome {
    bench
        .create(&bench.task("a", TaskState::Working, 1))
        .await?;
    bench
        .create(&bench.task("b", TaskState::Completed, 2))
        .await?;
    bench
        .create(&bench.task("c", TaskState::Completed, 3))
        .await?;
    let mut other = bench.task("d", TaskState::Working, 4);
    other.context_id = bench.id("other");
    bench.create(&other).await?;
    let timeless = Task::submitted(bench.id("timeless"), bench.id("context"));
    bench.create(&timeless).await?;
    Ok(())
}

/// What a request selects, and that it is counted.
async fn selected(bench: &Bench, request: &ListTasksRequest, expected: &[&str]) -> Outcome {
    let response = bench.store.list(&bench.call(), request).await?;
    same("the list", bench.names_of(&response.tasks), expected)?;
    let total = usize::try_from(response.total_size);
    same("total_size", total.ok(), Some(expected.len()))
}

pub(super) async fn artifacts_are_shown_on_request(bench: &Bench) -> Outcome {
    let task = full(bench).await?;
    for (asked, expected) in [
        (None, Vec::new()),
        (Some(false), Vec::new()),
        (Some(true), task.artifacts.clone()),
    ] {
        let request = ListTasksRequest {
            include_artifacts: asked,
            ..page(10, "")
        };
        let shown = only(bench, &request).await?;
        let what = format!("artifacts with include_artifacts {asked:?}");
        same(&what, shown.artifacts, expected)?;
        same("the status", shown.status, task.status.clone())?;
        same("the metadata", shown.metadata, task.metadata.clone())?;
        same("the context", &shown.context_id, &task.context_id)?;
    }
    Ok(())
}

pub(super) async fn the_newest_messages_are_shown(bench: &Bench) -> Outcome {
    full(bench).await?;
    for (length, expected) in [
        (None, vec!["one", "two", "three"]),
        (Some(0), vec![]),
        (Some(1), vec!["three"]),
        (Some(2), vec!["two", "three"]),
        (Some(9), vec!["one", "two", "three"]),
    ] {
        let request = ListTasksRequest {
            history_length: length,
            ..page(10, "")
        };
        let shown = only(bench, &request).await?;
        let texts: Vec<String> = shown.history.iter().map(Message::text).collect();
        let what = format!("history with history_length {length:?}");
        same(&what, texts, expected)?;
    }
    Ok(())
}

pub(super) async fn an_update_is_listed(bench: &Bench) -> Outcome {
    let version = bench
        .create(&bench.task("a", TaskState::Working, 1))
        .await?;
    bench
        .create(&bench.task("b", TaskState::Working, 2))
        .await?;
    let ended = bench.task("a", TaskState::Completed, 3);
    bench.replace(&ended, version).await?;
    same("the list", bench.names(&page(10, "")).await?, ["a", "b"])?;
    let working = ListTasksRequest {
        status: TaskState::Working.into(),
        ..page(10, "")
    };
    selected(bench, &working, &["b"]).await
}

/// Stores one task with artifacts, history and metadata.
async fn full(bench: &Bench) -> Result<Task, Broken> {
    let mut task = bench.task("a", TaskState::Completed, 1);
    task.artifacts
        .push(Artifact::new("r", [Part::text("result")]));
    task.history = ["one", "two", "three"].map(Message::user).to_vec();
    let metadata = json!({"k": 1});
    task.metadata = serde_json::from_value(metadata)
        .map_err(|error| Broken(format!("the rule itself is wrong: {error}")))?;
    bench.create(&task).await?;
    Ok(task)
}

/// The one task that there is, as it is listed.
async fn only(bench: &Bench, request: &ListTasksRequest) -> Result<Task, Broken> {
    let mut response = bench.store.list(&bench.call(), request).await?;
    same("how many are listed", response.tasks.len(), 1)?;
    let task = response.tasks.pop();
    task.ok_or_else(|| Broken("the list is empty".into()))
}
