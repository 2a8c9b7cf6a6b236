use std::collections::VecDeque;

use a2a_proto::A2aError;
use a2a_proto::v1::{
    Artifact, Message, Part, TaskArtifactUpdateEvent, TaskStatus, TaskStatusUpdateEvent,
};

use super::*;

struct Script(VecDeque<Result<StreamResponse>>);

impl Stream for Script {
    type Item = Result<StreamResponse>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.pop_front())
    }
}

fn script(events: impl IntoIterator<Item = Result<StreamResponse>>) -> EventStream {
    EventStream::new(Script(events.into_iter().collect()))
}

fn task(state: TaskState) -> Result<StreamResponse> {
    let mut task = Task::submitted("t", "c");
    task.status = Some(TaskStatus::new(state));
    Ok(task.into())
}

fn status(state: TaskState) -> Result<StreamResponse> {
    let update = TaskStatusUpdateEvent {
        task_id: "t".into(),
        context_id: "c".into(),
        status: Some(TaskStatus::new(state)),
        metadata: None,
    };
    Ok(update.into())
}

fn chunk(text: &str, append: bool) -> Result<StreamResponse> {
    let update = TaskArtifactUpdateEvent {
        task_id: "t".into(),
        context_id: "c".into(),
        artifact: Some(Artifact::new("a", [Part::text(text)])),
        append,
        last_chunk: false,
        metadata: None,
    };
    Ok(update.into())
}

fn broken() -> Result<StreamResponse> {
    Err(Error::new(Kind::Transport))
}

/// Reads to the end: how many events came, and the error.
async fn read(mut stream: EventStream) -> (usize, Option<Error>) {
    let mut events = 0;
    let mut last = None;
    while let Some(item) = stream.next().await {
        assert!(last.is_none(), "nothing comes after an error");
        match item {
            Ok(_) => events += 1,
            Err(error) => last = Some(error),
        }
    }
    assert!(stream.next().await.is_none());
    (events, last)
}

#[tokio::test]
async fn str_09_an_end_at_rest_is_no_cut() {
    for state in [
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Canceled,
        TaskState::Rejected,
        TaskState::InputRequired,
        TaskState::AuthRequired,
    ] {
        for end in [None, Some(broken())] {
            let events = [task(TaskState::Working), status(state)]
                .into_iter()
                .chain(end);
            let (events, error) = read(script(events)).await;
            assert_eq!(events, 2);
            assert!(error.is_none(), "{state:?}: {error:?}");
        }
    }
    let (_, error) = read(script([Ok(Message::agent("hi").into()), broken()])).await;
    assert!(error.is_none());
    let (_, error) = read(script([task(TaskState::InputRequired)])).await;
    assert!(
        error.is_none(),
        "a subscription to a paused task may be its snapshot only"
    );
}

#[tokio::test]
async fn str_09_w56_an_end_before_that_is_a_cut_that_says_the_last_state() {
    let (events, error) = read(script([
        task(TaskState::Submitted),
        status(TaskState::Working),
        chunk("x", false),
    ]))
    .await;
    let error = error.unwrap();
    assert_eq!(events, 3);
    assert!(
        error.is_cut() && error.to_string().contains("TASK_STATE_WORKING"),
        "{error}"
    );
    for events in [
        vec![],
        vec![chunk("x", false)],
        vec![task(TaskState::Working), broken()],
        vec![broken()],
    ] {
        let (_, error) = read(script(events)).await;
        assert!(error.unwrap().is_cut());
    }
}

#[tokio::test]
async fn w54_a_broken_connection_behind_a_first_paused_snapshot_is_a_cut() {
    let (_, error) = read(script([task(TaskState::InputRequired), broken()])).await;
    assert!(error.unwrap().is_cut());
    let (_, error) = read(script([task(TaskState::Completed), broken()])).await;
    assert!(error.is_none());
}

#[tokio::test]
async fn fb_034_the_agents_error_comes_through_and_ends_the_stream() {
    let failed = Err(A2aError::task_not_found().into());
    let (events, error) = read(script([
        task(TaskState::Completed),
        failed,
        task(TaskState::Completed),
    ]))
    .await;
    assert_eq!(events, 1);
    assert!(error.unwrap().protocol().is_some());
}

#[tokio::test]
async fn into_task_folds_from_any_first_event() {
    let events = [
        chunk("a", false),
        chunk("b", true),
        status(TaskState::Working),
        status(TaskState::Completed),
        status(TaskState::Working),
        task(TaskState::Working),
    ];
    let mut stream = script(events);
    assert_eq!(stream.last_state(), TaskState::Unspecified);
    stream.next().await.unwrap().unwrap();
    assert_eq!(stream.last_state(), TaskState::Unspecified);
    let events = [
        chunk("a", false),
        chunk("b", true),
        status(TaskState::Completed),
        status(TaskState::Completed),
    ];
    let task = script(events).into_task().await.unwrap();
    assert_eq!(task.artifact_text(), "ab");
    assert_eq!(task.state(), TaskState::Completed);
}

#[tokio::test]
async fn fb_049_a_snapshot_replaces_and_another_task_is_an_error() {
    let final_task = {
        let mut task = Task::submitted("t", "c");
        task.status = Some(TaskStatus::new(TaskState::Completed));
        task.artifacts
            .push(Artifact::new("a", [Part::text("whole")]));
        task
    };
    let events = [
        chunk("who", false),
        chunk("le", true),
        Ok(final_task.clone().into()),
    ];
    assert_eq!(script(events).into_task().await.unwrap(), final_task);
    let foreign = Ok(Task::submitted("other", "c").into());
    let error = script([task(TaskState::Working), foreign])
        .into_task()
        .await
        .unwrap_err();
    assert!(error.is_decode(), "{error}");
}

#[tokio::test]
async fn a_message_is_a_response_and_no_task() {
    let message = || script([Ok(Message::agent("hi").into())]);
    let response = message().into_response().await.unwrap();
    assert_eq!(response.text(), "hi");
    assert!(message().into_task().await.unwrap_err().is_decode());
    assert!(script([]).into_task().await.unwrap_err().is_cut());
}

async fn texts(events: impl IntoIterator<Item = Result<StreamResponse>>) -> (Vec<String>, Texts) {
    let mut texts = script(events).into_texts();
    let mut found = Vec::new();
    while let Some(text) = texts.next().await {
        found.push(text.unwrap());
    }
    (found, texts)
}

fn artifact(id: &str, text: &str) -> Artifact {
    Artifact::new(id, [Part::text(text)])
}

fn replace(id: &str, text: &str) -> Result<StreamResponse> {
    let update = TaskArtifactUpdateEvent {
        task_id: "t".into(),
        context_id: "c".into(),
        artifact: Some(artifact(id, text)),
        ..TaskArtifactUpdateEvent::default()
    };
    Ok(update.into())
}

#[tokio::test]
async fn each_piece_of_text_is_given_once_however_it_is_sent() {
    let mut whole = Task::submitted("t", "c");
    whole.status = Some(TaskStatus::new(TaskState::Completed));
    whole.artifacts = vec![artifact("a", "Hello, you"), artifact("b", "B")];
    let events = [
        task(TaskState::Working),
        replace("a", "Hel"),
        status(TaskState::Working),
        chunk("lo", true),
        replace("a", "Hello, "),
        chunk("you", true),
        replace("a", "Hello, you"),
        replace("b", "B"),
        Ok(whole.into()),
    ];
    let (found, texts) = texts(events).await;
    assert_eq!(found, ["Hel", "lo", ", ", "you", "\nB"]);
    assert_eq!(texts.task().unwrap().state(), TaskState::Completed);
}

#[tokio::test]
async fn text_that_comes_all_at_once_and_text_that_changes_are_given_too() {
    let mut whole = Task::submitted("t", "c");
    whole.status = Some(TaskStatus::new(TaskState::Completed));
    whole.artifacts = vec![artifact("a", "A"), artifact("b", "B")];
    let (found, _) = texts([Ok(whole.into())]).await;
    assert_eq!(found, ["A\nB"]);
    let events = [
        chunk("draft", true),
        replace("a", "final"),
        status(TaskState::Completed),
    ];
    assert_eq!(texts(events).await.0, ["draft", "\nfinal"]);
    let (found, texts) = texts([Ok(Message::agent("hi").into())]).await;
    assert_eq!(found, ["hi"]);
    assert!(texts.into_task().is_none());
}

#[tokio::test]
async fn texts_end_with_the_error_of_their_stream() {
    let mut texts = script([chunk("x", true)]).into_texts();
    assert_eq!(texts.next().await.unwrap().unwrap(), "x");
    assert!(texts.next().await.unwrap().unwrap_err().is_cut());
    assert!(texts.next().await.is_none());
    let foreign = Ok(Task::submitted("other", "c").into());
    let mut texts = script([chunk("x", true), foreign, chunk("y", true)]).into_texts();
    assert_eq!(texts.next().await.unwrap().unwrap(), "x");
    assert!(texts.next().await.unwrap().unwrap_err().is_decode());
    assert!(texts.next().await.is_none());
}
