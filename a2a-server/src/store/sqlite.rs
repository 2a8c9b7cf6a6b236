//! Tasks in one SQLite file: they outlive the process.

mod rows;
mod schema;

use std::fmt;
use std::path::{Path, PathBuf};

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task};
use async_trait::async_trait;
use prost::Message as _;
use rusqlite::{Connection, ErrorCode};
use tokio::sync::{mpsc, oneshot};

use super::listing::Cursor;
use super::{Abandoned, StoreError, StoredTask, TaskStore, TaskVersion, TaskWrite};
use crate::context::CallContext;
use crate::execution::TaskScope;
use rows::{Row, Scope};

pub use schema::OpenError;

/// Keeps tasks in one SQLite file, until the file is deleted.
///
/// A task that was stored is there after the process or the machine has gone down. What the process worked on then is
/// set FAILED when an agent is next put on the file; what waits for the user can be answered.
///
/// The file belongs to one store of one process at a time. Beside it stands the write-ahead log (`-wal`) while it is
/// open. A thread of its own does all that touches the file; the runtime is never blocked.
///
/// ```no_run
/// use a2a_server::store::SqliteStore;
/// use a2a_server::{Agent, executor_fn};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let echo = executor_fn(|cx, out| async move {
///     out.reply(cx.message().text()).await?;
///     Ok(())
/// });
/// let store = SqliteStore::open("/data/tasks.db").await?;
/// let server = Agent::builder(echo).store(store).bind("127.0.0.1:8080").await?;
/// server.wait().await;
/// # Ok(())
/// # }
/// ```
pub struct SqliteStore {
    jobs: mpsc::Sender<Job>,
    path: PathBuf,
    /// The number of this opening of the file: what carries another one was written by a process that is gone.
    session: i64,
    scope: TaskScope,
}

enum Job {
    Close(oneshot::Sender<()>),
    Run(Box<dyn FnOnce(&Connection) + Send>),
}

impl SqliteStore {
    /// Opens the file, or makes it where there is none.
    ///
    /// # Errors
    ///
    /// When the file can't be opened or written, is damaged, in use, of another application, or of a newer version of
    /// this crate.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let path = path.into();
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (opened, session) = oneshot::channel();
        let file = path.clone();
        let thread = std::thread::Builder::new().name("a2a-sqlite".to_owned());
        let spawned = thread.spawn(move || match schema::open(&file) {
            Ok((connection, session)) => {
                let _ = opened.send(Ok(session));
                work(connection, queue);
            }
            Err(error) => {
                let _ = opened.send(Err(error));
            }
        });
        spawned.map_err(|error| OpenError::unopened(&path, error))?;
        let session = session.await;
        let session = session.unwrap_or_else(|error| Err(OpenError::unopened(&path, error)))?;
        Ok(Self {
            jobs,
            path,
            session,
            scope: TaskScope::Principal,
        })
    }

    /// Sets who may see a task.
    #[must_use]
    pub fn scoped(mut self, scope: TaskScope) -> Self {
        self.scope = scope;
        self
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the file, after what was begun is done. A later call fails. A store that is dropped does so as well, but
    /// nobody can wait for it.
    ///
    /// # Cancel safety
    ///
    /// Dropped before its first wait ends it may have no effect; afterwards the file is closed all the same.
    pub async fn close(&self) {
        let (closed, wait) = oneshot::channel();
        if self.jobs.send(Job::Close(closed)).await.is_ok() {
            let _ = wait.await;
        }
    }

    /// Does something on the thread that has the file. It is done even if the caller leaves meanwhile.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, wait) = oneshot::channel();
        let job = Job::Run(Box::new(move |connection| {
            let _ = done.send(work(connection));
        }));
        let closed = |_| StoreError::Backend {
            source: "the file is closed".into(),
        };
        self.jobs.send(job).await.map_err(closed)?;
        let lost = |_| {
            Err(StoreError::Unknown {
                source: "the thread of the file has ended".into(),
            })
        };
        wait.await.unwrap_or_else(lost)
    }

    fn scope_of(&self, cx: &CallContext) -> Scope {
        match self.scope {
            TaskScope::Principal => Scope::Owner {
                tenant: cx.tenant().to_owned(),
                name: cx.principal().name().map(str::to_owned),
            },
            TaskScope::Server => Scope::All,
        }
    }
}

/// Works off what comes, until the store is closed or dropped.
fn work(connection: Connection, mut queue: mpsc::Receiver<Job>) {
    let mut waiting = Vec::new();
    while let Some(job) = queue.blocking_recv() {
        match job {
            Job::Run(run) => run(&connection),
            Job::Close(closed) => {
                // What is queued already still comes.
                queue.close();
                waiting.push(closed);
            }
        }
    }
    if let Err((_, error)) = connection.close() {
        tracing::warn!(error = %error, "the file of the tasks was not closed well");
    }
    for closed in waiting {
        let _ = closed.send(());
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl TaskStore for SqliteStore {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        let row = Row::of(task, self.session);
        let (tenant, name) = (
            cx.tenant().to_owned(),
            cx.principal().name().map(str::to_owned),
        );
        self.run(move |connection| rows::insert(connection, &row, &tenant, name.as_deref()))
            .await
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        let row = Row::of(write.task, self.session);
        let (scope, expected) = (self.scope_of(cx), write.expected);
        self.run(move |connection| rows::update(connection, &row, &scope, expected))
            .await
    }

    async fn get(&self, cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError> {
        let (scope, id) = (self.scope_of(cx), id.to_owned());
        self.run(move |connection| rows::read(connection, &id, &scope))
            .await
    }

    async fn list(
        &self,
        cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError> {
        let after = Cursor::parse(&request.page_token)?;
        let (scope, request) = (self.scope_of(cx), request.clone());
        self.run(move |connection| rows::list(connection, &request, &scope, after.as_ref()))
            .await
    }

    async fn abandoned(&self) -> Result<Vec<Abandoned>, StoreError> {
        let session = self.session;
        self.run(move |connection| rows::abandoned(connection, session))
            .await
    }
}

/// Whether a write that failed may be there all the same: only where the system would not say.
impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let unknown = error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure);
        let source = Box::new(error);
        match unknown {
            true => Self::Unknown { source },
            false => Self::Backend { source },
        }
    }
}

fn decode(bytes: &[u8]) -> Result<Task, StoreError> {
    Task::decode(bytes).map_err(|error| StoreError::Backend {
        source: Box::new(error),
    })
}

/// How many calls may wait for the file; further ones wait to be let in.
const QUEUE: usize = 64;

#[cfg(test)]
mod tests;
