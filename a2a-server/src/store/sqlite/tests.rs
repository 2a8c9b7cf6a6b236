use std::sync::Arc;
use std::time::Duration;

use a2a_proto::Method;
use a2a_proto::v1::{
    GetTaskRequest, Message, SendMessageConfiguration, SendMessageRequest, StreamResponse,
    TaskState, TaskStatus,
};
use tokio::sync::Notify;

use super::*;
use crate::auth::Principal;
use crate::{Agent, RequestHandler, SendReply, executor_fn};

/// A directory that is removed when the test ends.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let path = std::env::temp_dir().join(crate::execution::new_id());
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("tasks.db")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn within<T>(test: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(60);
    tokio::time::timeout(limit, Box::pin(test))
        .await
        .expect("the test hangs")
}

async fn open(directory: &Directory) -> SqliteStore {
    SqliteStore::open(directory.file()).await.unwrap()
}

fn call() -> CallContext {
    CallContext::new(Method::GetTask).with_principal(Principal::named("owner"))
}

fn task(id: &str, state: TaskState) -> Task {
    Task {
        status: Some(TaskStatus::new(state)),
        ..Task::submitted(id, "c")
    }
}

async fn replace(store: &SqliteStore, task: &Task, expected: TaskVersion) -> TaskVersion {
    let event = StreamResponse::from(task.clone());
    let events = [&event];
    let write = TaskWrite::new(task, &events, expected);
    store.update(&call(), write).await.unwrap()
}

#[cfg(feature = "testing")]
mod conformance {
    use super::*;
    use crate::testing::store::conformance;

    #[tokio::test]
    async fn it_keeps_all_rules() {
        let directory = Directory::new();
        let make = async || {
            let name = crate::execution::new_id();
            SqliteStore::open(directory.0.join(name)).await.unwrap()
        };
        conformance(make).await;
    }

    /// In one file, behind which the tasks of the other rules are.
    #[tokio::test(flavor = "multi_thread", worker_threads = 3)]
    async fn it_keeps_all_rules_in_one_file() {
        let directory = Directory::new();
        let store = Arc::new(open(&directory).await);
        conformance(async || Arc::clone(&store)).await;
    }
}

#[tokio::test]
async fn a_file_that_is_opened_again_has_the_tasks_and_their_versions() {
    within(async {
        let directory = Directory::new();
        let store = open(&directory).await;
        let version = store
            .create(&call(), &task("a", TaskState::Working))
            .await
            .unwrap();
        let parked = task("a", TaskState::InputRequired);
        let version = replace(&store, &parked, version).await;
        store.close().await;
        let refused = store.get(&call(), "a").await.unwrap_err();
        assert!(matches!(refused, StoreError::Backend { .. }), "{refused:?}");

        let store = open(&directory).await;
        let found = store.get(&call(), "a").await.unwrap().unwrap();
        assert_eq!((&*found.task, found.version), (&parked, version));
        replace(&store, &task("a", TaskState::Working), version).await;
    })
    .await;
}

#[tokio::test]
async fn what_is_queued_when_the_store_closes_is_still_done() {
    within(async {
        let directory = Directory::new();
        let store = open(&directory).await;
        let (cx, first) = (call(), task("a", TaskState::Working));
        let mut creation = store.create(&cx, &first);
        // The first poll queues it, and then its caller leaves.
        assert!(
            std::future::poll_fn(|cx| std::task::Poll::Ready(creation.as_mut().poll(cx)))
                .await
                .is_pending()
        );
        drop(creation);
        store.close().await;
        let store = open(&directory).await;
        assert!(store.get(&call(), "a").await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn only_what_another_process_left_running_is_abandoned() {
    within(async {
        let directory = Directory::new();
        let store = open(&directory).await;
        for (id, state) in [
            ("submitted", TaskState::Submitted),
            ("working", TaskState::Working),
            ("input", TaskState::InputRequired),
            ("auth", TaskState::AuthRequired),
            ("done", TaskState::Completed),
        ] {
            store.create(&call(), &task(id, state)).await.unwrap();
        }
        assert!(store.abandoned().await.unwrap().is_empty());
        store.close().await;

        let store = open(&directory).await;
        store
            .create(&call(), &task("new", TaskState::Working))
            .await
            .unwrap();
        let left = store.abandoned().await.unwrap();
        let mut ids: Vec<&str> = left.iter().map(|left| left.task_id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["submitted", "working"]);
        assert!(
            left.iter()
                .all(|left| left.call.principal().name() == Some("owner"))
        );
        let first = TaskVersion::new(1);
        replace(&store, &task("working", TaskState::Failed), first).await;
        replace(&store, &task("submitted", TaskState::Working), first).await;
        assert!(store.abandoned().await.unwrap().is_empty());
    })
    .await;
}

fn send(task_id: &str, text: &str, immediately: bool) -> SendMessageRequest {
    SendMessageRequest {
        message: Some(Message::user(text).with_task_id(task_id)),
        configuration: Some(SendMessageConfiguration {
            return_immediately: immediately,
            ..Default::default()
        }),
        ..Default::default()
    }
}

async fn run(agent: &Agent, request: SendMessageRequest) -> Task {
    match agent.send_message(call(), request).await.unwrap() {
        SendReply::Task(task) => task.into_task(),
        SendReply::Message(message) => panic!("not a task: {message:?}"),
    }
}

/// An agent that asks, hangs or answers, as it is told.
fn agent(store: Arc<SqliteStore>, hangs: &Arc<Notify>) -> Agent {
    let hangs = Arc::clone(hangs);
    let executor = executor_fn(move |cx, out| {
        let hangs = Arc::clone(&hangs);
        async move {
            match cx.message().text().as_str() {
                "ask" => out.input_required("which?").await?,
                "hang" => {
                    out.working("on it").await?;
                    hangs.notify_one();
                    std::future::pending::<()>().await;
                }
                text => out.reply(text).await?,
            }
            Ok(())
        }
    });
    Agent::builder(executor).store(store).build().unwrap()
}

/// The engine of the first process is cut off from its file in the middle of a task, as by a kill.
#[tokio::test]
async fn after_a_restart_what_ran_has_failed_and_what_waited_can_be_answered() {
    within(async {
        let directory = Directory::new();
        let hangs = Arc::new(Notify::new());
        let store = Arc::new(open(&directory).await);
        let first = agent(Arc::clone(&store), &hangs);
        let asked = run(&first, send("", "ask", false)).await;
        let hanging = run(&first, send("", "hang", true)).await;
        hangs.notified().await;
        store.close().await;
        drop(first);

        let second = agent(Arc::new(open(&directory).await), &hangs);
        let request = GetTaskRequest {
            id: hanging.id.clone(),
            ..Default::default()
        };
        let failed = second.get_task(call(), request).await.unwrap().into_task();
        assert_eq!(failed.state(), TaskState::Failed);
        assert_eq!(failed.status_text(), "the agent was restarted");
        let history: Vec<String> = failed.history.iter().map(Message::text).collect();
        assert_eq!(history, ["hang", "on it"]);
        let answered = run(&second, send(&asked.id, "this", false)).await;
        assert_eq!(answered.state(), TaskState::Completed);
        assert_eq!(answered.artifact_text(), "this");
        second.shutdown().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_that_is_no_database_is_damaged() {
    within(async {
        let directory = Directory::new();
        std::fs::write(directory.file(), "not a database, but a text\n".repeat(200)).unwrap();
        let error = SqliteStore::open(directory.file()).await.unwrap_err();
        assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
        let left = std::fs::read_to_string(directory.file()).unwrap();
        assert!(left.starts_with("not a database"), "it is left as it was");
    })
    .await;
}

#[tokio::test]
async fn a_page_that_is_damaged_fails_the_call_with_its_cause() {
    within(async {
        let directory = Directory::new();
        let store = open(&directory).await;
        let mut big = task("a", TaskState::Working);
        big.history.push(Message::user("x".repeat(1 << 20)));
        store.create(&call(), &big).await.unwrap();
        store.close().await;
        let mut bytes = std::fs::read(directory.file()).unwrap();
        // The tables begin in front, the end of the task lies behind.
        let half = bytes.len() / 2;
        bytes[half..].fill(0xff);
        std::fs::write(directory.file(), bytes).unwrap();
        let store = open(&directory).await;
        let error = store.get(&call(), "a").await.unwrap_err();
        assert!(matches!(error, StoreError::Backend { .. }), "{error:?}");
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("malformed"), "{cause}");
    })
    .await;
}

#[tokio::test]
async fn a_file_of_another_application_is_left_alone() {
    within(async {
        let directory = Directory::new();
        let connection = Connection::open(directory.file()).unwrap();
        connection
            .execute_batch("CREATE TABLE notes (text TEXT)")
            .unwrap();
        drop(connection);
        let before = std::fs::read(directory.file()).unwrap();
        let error = SqliteStore::open(directory.file()).await.unwrap_err();
        assert!(matches!(error, OpenError::Foreign { .. }), "{error:?}");
        assert_eq!(std::fs::read(directory.file()).unwrap(), before);
    })
    .await;
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused() {
    within(async {
        let directory = Directory::new();
        open(&directory).await.close().await;
        let connection = Connection::open(directory.file()).unwrap();
        connection.pragma_update(None, "user_version", 2).unwrap();
        drop(connection);
        let error = SqliteStore::open(directory.file()).await.unwrap_err();
        let newer = matches!(
            error,
            OpenError::Newer {
                found: 2,
                known: schema::FORMAT,
                ..
            }
        );
        assert!(newer, "{error:?}");
    })
    .await;
}

#[tokio::test]
async fn a_file_that_is_open_is_in_use() {
    within(async {
        let directory = Directory::new();
        let store = open(&directory).await;
        let error = SqliteStore::open(directory.file()).await.unwrap_err();
        assert!(matches!(error, OpenError::InUse { .. }), "{error:?}");
        store.close().await;
        open(&directory).await;
    })
    .await;
}

/// Permissions would not stop a test that runs as root: the connection itself may not write.
#[tokio::test]
async fn a_file_that_can_not_be_written_is_read_only() {
    within(async {
        let directory = Directory::new();
        open(&directory).await.close().await;
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(directory.file(), flags).unwrap();
        let error = schema::prepare(connection, &directory.file()).unwrap_err();
        assert!(matches!(error, OpenError::ReadOnly { .. }), "{error:?}");
    })
    .await;
}

#[tokio::test]
async fn a_directory_that_is_missing_is_told() {
    within(async {
        let directory = Directory::new();
        let path = directory.0.join("missing").join("tasks.db");
        let error = SqliteStore::open(&path).await.unwrap_err();
        assert!(matches!(error, OpenError::Unopened { .. }), "{error:?}");
        assert!(error.to_string().contains("missing/tasks.db"), "{error}");
    })
    .await;
}

/// Neither is a table read from end to end, nor a list sorted.
#[tokio::test]
async fn each_list_has_an_index_that_has_its_order() {
    within(async {
        let directory = Directory::new();
        open(&directory).await.close().await;
        let connection = Connection::open(directory.file()).unwrap();
        let plan = |sql: &str| {
            let mut statement = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .unwrap();
            for index in 1..=statement.parameter_count() {
                statement.raw_bind_parameter(index, 1).unwrap();
            }
            let (mut rows, mut steps) = (statement.raw_query(), Vec::new());
            while let Some(row) = rows.next().unwrap() {
                steps.push(row.get::<_, String>(3).unwrap());
            }
            steps.join("; ")
        };
        let in_context = ListTasksRequest {
            context_id: "c".into(),
            ..ListTasksRequest::default()
        };
        let in_state = ListTasksRequest {
            status: TaskState::Working.into(),
            ..ListTasksRequest::default()
        };
        let owner = || Scope::Owner {
            tenant: String::new(),
            name: None,
        };
        for (request, scope, index) in [
            (ListTasksRequest::default(), owner(), "tasks_by_owner"),
            (in_context, owner(), "tasks_by_context"),
            (in_state, owner(), "tasks_by_state"),
            (ListTasksRequest::default(), Scope::All, "tasks_by_time"),
        ] {
            let plan = plan(&rows::Condition::of(&request, &scope).page());
            let indexed = plan.contains(&format!("USING INDEX {index}"));
            assert!(indexed && !plan.contains("TEMP B-TREE"), "{plan}");
        }
        let plan = plan(rows::ABANDONED);
        assert!(plan.contains("USING INDEX tasks_running"), "{plan}");
    })
    .await;
}
