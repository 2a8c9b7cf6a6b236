//! The task store of kagent's controller, as a [`TaskStore`] of an agent (kagent contract 2, 11.3 to 11.8).
//!
//! Inside a cluster [`byo::run`](crate::byo::run) uses it by itself. The session is the scope: whoever the gateway lets
//! through may see its tasks, whatever user calls.
//!
//! **Unconfirmed**: kagent has not published the definition of `kagent.runtime.v1.TaskStoreService`. The names are those
//! that its own Python helper calls, the field numbers those of the last published `kagent.api.v1alpha1`.

mod codec;
mod connection;
mod fault;
#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    reason = "generated"
)]
pub(crate) mod wire {
    include!("generated/kagent.runtime.v1.rs");
}

use std::fmt;
use std::sync::Arc;

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task};
use a2a_server::store::{StoredTask, TaskVersion, TaskWrite};
use a2a_server::{CallContext, StoreError, TaskStore, async_trait};
use prost::Message as _;

use crate::config::{BaseUrl, Environment};
use crate::uri::header;

use codec::SaveTask;
use connection::{Connection, Method};

pub(crate) use connection::CALL_TIME;
use fault::{Access, fault};

/// Keeps tasks with kagent's controller.
///
/// A save that fails for a passing reason is sent again, byte for byte, so that the controller can tell it from another
/// one. The session and the connection are found anew where it matters: a process that was restored from a snapshot may
/// serve another session, and its old connections are dead.
#[derive(Clone)]
pub struct ControllerTaskStore {
    connection: Arc<Connection>,
    environment: Environment,
}

impl ControllerTaskStore {
    /// The store of the controller at that address, for the session that the environment names. Nothing is dialled
    /// before the first call.
    ///
    /// # Errors
    ///
    /// When no TLS can be set up for an `https` address.
    pub fn new(controller: &BaseUrl, environment: Environment) -> Result<Self, ControllerError> {
        Ok(Self {
            connection: Arc::new(Connection::new(controller, SERVICE)?),
            environment,
        })
    }

    /// Sets the full name of the service, `kagent.runtime.v1.TaskStoreService` by default. Where the controller has no
    /// such service, that of earlier releases is tried once.
    #[must_use]
    pub fn with_service(mut self, name: impl Into<String>) -> Self {
        self.connection = Arc::new(self.connection.with_service(name.into()));
        self
    }

    /// The session, read anew: blocking, since it is in a file.
    async fn session(&self) -> Result<String, StoreError> {
        let environment = self.environment.clone();
        let read = tokio::task::spawn_blocking(move || environment.session_id()).await;
        let backend = |source| StoreError::Backend { source };
        match read {
            Ok(Ok(session)) => Ok(session),
            Ok(Err(error)) => Err(backend(error.into())),
            Err(error) => Err(backend(error.into())),
        }
    }
}

#[async_trait]
impl TaskStore for ControllerTaskStore {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        let session = self.session().await?;
        let request = SaveTask::create(&session, task, dispatch_id(cx)).encode()?;
        let response: wire::TaskStoreServiceCreateTaskResponse = self
            .connection
            .call(Method::CreateTask, request)
            .await
            .map_err(|status| fault(status, Access::Write))?;
        Ok(TaskVersion::new(response.version))
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        let session = self.session().await?;
        let request =
            SaveTask::update(&session, write.task, write.expected, dispatch_id(cx)).encode()?;
        let response: wire::TaskStoreServiceUpdateTaskResponse = self
            .connection
            .call(Method::UpdateTask, request)
            .await
            .map_err(|status| fault(status, Access::Write))?;
        Ok(TaskVersion::new(response.version))
    }

    async fn get(&self, _cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError> {
        let request = wire::TaskStoreServiceGetTaskRequest {
            session_id: self.session().await?,
            task_id: id.to_owned(),
        };
        let outcome = self
            .connection
            .call(Method::GetTask, request.encode_to_vec().into())
            .await;
        let response: wire::TaskStoreServiceGetTaskResponse = match outcome {
            Ok(response) => response,
            Err(status) => match fault(status, Access::Read) {
                StoreError::NotFound => return Ok(None),
                error => return Err(error),
            },
        };
        let stored = response.stored.ok_or_else(|| incomplete("`stored`"))?;
        let task = stored.task.ok_or_else(|| incomplete("`stored.task`"))?;
        Ok(Some(StoredTask {
            task: Arc::new(task),
            version: TaskVersion::new(stored.version),
        }))
    }

    async fn list(
        &self,
        _cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError> {
        let session_id = self.session().await?;
        let mut request = request.clone();
        if request.context_id.is_empty() {
            request.context_id.clone_from(&session_id);
        }
        let request = wire::TaskStoreServiceListTasksRequest {
            session_id,
            request: Some(request),
        };
        let response: wire::TaskStoreServiceListTasksResponse = self
            .connection
            .call(Method::ListTasks, request.encode_to_vec().into())
            .await
            .map_err(|status| fault(status, Access::Read))?;
        response.result.ok_or_else(|| incomplete("`result`"))
    }

    async fn settle(
        &self,
        _cx: &CallContext,
        id: &str,
        version: TaskVersion,
    ) -> Result<(), StoreError> {
        let request = wire::TaskStoreServiceSettleTaskRequest {
            session_id: self.session().await?,
            task_id: id.to_owned(),
            version: version.number(),
        };
        let _: wire::TaskStoreServiceSettleTaskResponse = self
            .connection
            .call(Method::SettleTask, request.encode_to_vec().into())
            .await
            .map_err(|status| fault(status, Access::Write))?;
        // What is settled may be suspended: no connection should be part of the snapshot.
        self.connection.close();
        Ok(())
    }

    fn task_bytes(&self) -> Option<usize> {
        Some(codec::TASK_BYTES)
    }
}

impl fmt::Debug for ControllerTaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerTaskStore")
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}

/// Why a client of the controller can't be made.
#[derive(Debug, thiserror::Error)]
#[error("no connection to the controller can be set up")]
pub struct ControllerError(#[source] tonic::transport::Error);

/// The fence of the delivery that this call is.
fn dispatch_id(cx: &CallContext) -> Option<String> {
    let value = cx.headers().get(header::DISPATCH_ID)?.to_str().ok()?;
    Some(value.to_owned()).filter(|id| !id.is_empty())
}

fn incomplete(field: &str) -> StoreError {
    StoreError::Backend {
        source: format!("the controller's answer lacks {field}").into(),
    }
}

/// The service as kagent 1.0 calls it.
pub const SERVICE: &str = "kagent.runtime.v1.TaskStoreService";
