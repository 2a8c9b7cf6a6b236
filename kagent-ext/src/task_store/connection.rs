//! The connection to the controller: made when it is needed, and given up at each boundary.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use prost::Message;
use tonic::client::Grpc;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status};

use super::ControllerError;
use super::codec::{Encoded, MESSAGE_BYTES};
use super::fault::{is_passing, unreached};
use crate::config::BaseUrl;

/// The calls of the service.
#[derive(Clone, Copy, Debug)]
pub(super) enum Method {
    CreateTask,
    GetTask,
    UpdateTask,
    ListTasks,
    SettleTask,
}

pub(super) struct Connection {
    endpoint: Endpoint,
    channel: Mutex<Option<Channel>>,
    /// Names of the service, in the order in which they are tried.
    services: [String; 2],
    /// The one that the controller knows, or [`UNKNOWN`].
    known: AtomicUsize,
}

impl Connection {
    pub(super) fn new(controller: &BaseUrl, service: &str) -> Result<Self, ControllerError> {
        let mut endpoint = Endpoint::try_from(controller.to_string())
            .map_err(ControllerError)?
            .connect_timeout(CONNECT_TIME)
            .tcp_nodelay(true)
            // A connection that a snapshot left behind is found dead before the call's time is up.
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIME);
        if controller.is_tls() {
            let tls = ClientTlsConfig::new().with_native_roots();
            endpoint = endpoint.tls_config(tls).map_err(ControllerError)?;
        }
        Ok(Self::of(endpoint, service.to_owned()))
    }

    pub(super) fn with_service(&self, name: String) -> Self {
        Self::of(self.endpoint.clone(), name)
    }

    fn of(endpoint: Endpoint, service: String) -> Self {
        Self {
            endpoint,
            channel: Mutex::new(None),
            services: [service, EARLIER_SERVICE.to_owned()],
            known: AtomicUsize::new(UNKNOWN),
        }
    }

    /// Makes a call, and again where it failed for a passing reason: at most four times.
    pub(super) async fn call<R>(&self, method: Method, message: Bytes) -> Result<R, Status>
    where
        R: Message + Default + Send + 'static,
    {
        let mut pauses = PAUSES.into_iter();
        loop {
            let status = match self.find(method, message.clone()).await {
                Ok(response) => return Ok(response),
                Err(status) => status,
            };
            let (true, Some(pause)) = (is_passing(&status), pauses.next()) else {
                return Err(status);
            };
            tracing::warn!(call = method.name(), status = %status, "the controller did not answer; trying again");
            self.close();
            tokio::time::sleep(pause).await;
        }
    }

    /// Lets go of the connection; the next call makes another.
    pub(super) fn close(&self) {
        self.channel
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// Calls the service that the controller knows, and finds out which that is.
    async fn find<R>(&self, method: Method, message: Bytes) -> Result<R, Status>
    where
        R: Message + Default + Send + 'static,
    {
        let known = self.known.load(Ordering::Relaxed);
        if let Some(service) = self.services.get(known) {
            return self.attempt(service, method, message).await;
        }
        let mut outcome = Err(Status::unimplemented(""));
        for (index, service) in self.services.iter().enumerate() {
            outcome = self.attempt(service, method, message.clone()).await;
            if !matches!(&outcome, Err(status) if status.code() == Code::Unimplemented) {
                if !matches!(&outcome, Err(status) if is_passing(status)) {
                    self.known.store(index, Ordering::Relaxed);
                    tracing::info!(%service, "the controller has this task store");
                }
                return outcome;
            }
        }
        let [service, earlier] = &self.services;
        outcome.map_err(|_| {
            Status::unimplemented(format!(
                "the controller has neither `{service}` nor `{earlier}`: is its kagent older or newer than 1.0?"
            ))
        })
    }

    async fn attempt<R>(&self, service: &str, method: Method, message: Bytes) -> Result<R, Status>
    where
        R: Message + Default + Send + 'static,
    {
        let call = async {
            let mut calls = Grpc::new(self.channel()).max_decoding_message_size(MESSAGE_BYTES);
            calls.ready().await.map_err(unreached)?;
            let mut request = Request::new(message);
            // Substrate puts the identity of the session in its place: nothing secret is in this process's memory.
            request.metadata_mut().insert(
                http::header::AUTHORIZATION.as_str(),
                MetadataValue::from_static(PLACEHOLDER),
            );
            let path = PathAndQuery::try_from(format!("/{service}/{}", method.name()))
                .map_err(|error| Status::invalid_argument(error.to_string()))?;
            calls
                .unary(request, path, Encoded::<R>::default())
                .await
                .map(tonic::Response::into_inner)
        };
        match tokio::time::timeout(ATTEMPT_TIME, call).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => Err(Status::deadline_exceeded(
                "the controller did not answer in time",
            )),
        }
    }

    fn channel(&self) -> Channel {
        self.channel
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| self.endpoint.connect_lazy())
            .clone()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("controller", self.endpoint.uri())
            .field("services", &self.services)
            .finish_non_exhaustive()
    }
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::CreateTask => "CreateTask",
            Self::GetTask => "GetTask",
            Self::UpdateTask => "UpdateTask",
            Self::ListTasks => "ListTasks",
            Self::SettleTask => "SettleTask",
        }
    }
}

/// The service as releases before 1.0 called it.
const EARLIER_SERVICE: &str = "kagent.api.v1alpha1.TaskStoreService";
/// No service has answered yet.
const UNKNOWN: usize = usize::MAX;
const PLACEHOLDER: &str = "Bearer placeholder";

/// How long each attempt may take, and how long to wait between them (kagent contract 2.3).
const ATTEMPT_TIME: Duration = Duration::from_secs(30);
const PAUSES: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
];
/// How long one call may take with all its attempts.
pub(crate) const CALL_TIME: Duration = Duration::from_secs(125);

const CONNECT_TIME: Duration = Duration::from_secs(10);
const PING_INTERVAL: Duration = Duration::from_secs(10);
const PING_TIME: Duration = Duration::from_secs(5);
