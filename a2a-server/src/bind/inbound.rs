//! One call on its way in: the order in which it is checked, whatever the binding.

use std::error::Error as _;

use a2a_proto::header::{Extensions, RequestedVersion};
use a2a_proto::wire::Operation;
use a2a_proto::{A2aError, Binding, Call, ErrorCode, Method, StreamCall};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use tokio::time::Instant;
use tracing::Instrument as _;

use super::check;
use super::reply::Reply;
use super::until::Until;
use super::{Endpoint, Inner};
use crate::agent_router::Routed;
use crate::auth::{AuthError, Principal};
use crate::context::CallContext;
use crate::event::EventStream;
use crate::execution::catch;
use crate::handler::RequestHandler;
use crate::observe::{CallGuard, Observation};
use crate::{trace, version};

/// A request whose caller is known; its body may not have been read yet.
pub(crate) struct Inbound {
    endpoint: Endpoint,
    binding: Binding,
    principal: Principal,
    headers: HeaderMap,
    attached: http::Extensions,
    version: RequestedVersion,
    requested: Extensions,
    activated: Extensions,
    deadline: Option<Instant>,
}

/// Why a caller was turned away.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) error: A2aError,
    /// How it may come in: the value of `WWW-Authenticate`.
    pub(crate) challenge: Option<HeaderValue>,
}

/// What the handler gave.
pub(crate) enum Outcome {
    Reply(Reply),
    Events(EventStream),
}

impl Outcome {
    /// The answer of an operation that has one.
    pub(crate) fn into_reply(self) -> Result<Reply, A2aError> {
        match self {
            Self::Reply(reply) => Ok(reply),
            Self::Events(_) => Err(A2aError::internal("this operation streams")),
        }
    }

    /// The events of an operation that streams.
    pub(crate) fn into_events(self) -> Result<EventStream, A2aError> {
        match self {
            Self::Events(events) => Ok(events),
            Self::Reply(_) => Err(A2aError::internal("this operation does not stream")),
        }
    }
}

impl Endpoint {
    /// Finds out who calls.
    pub(crate) async fn admit(&self, binding: Binding, parts: Parts) -> Result<Inbound, Refusal> {
        let admitted = self.0.authenticate(&parts).await;
        let principal = admitted.inspect_err(|refusal| {
            let error = refusal.error.code();
            self.0.watch.tell(&Observation::Refused { binding, error });
        })?;
        let requested = Extensions::of(&parts.headers);
        let declared = self.0.card.extensions().map(|extension| &*extension.uri);
        let activated = declared.filter(|uri| requested.contains(uri)).collect();
        Ok(Inbound {
            endpoint: self.clone(),
            binding,
            principal,
            version: RequestedVersion::of(&parts.headers, parts.uri.query()),
            headers: parts.headers,
            attached: parts.extensions,
            requested,
            activated,
            deadline: None,
        })
    }
}

impl Inner {
    async fn authenticate(&self, parts: &Parts) -> Result<Principal, Refusal> {
        let Some(authenticator) = &self.authenticator else {
            return Ok(Principal::anonymous());
        };
        match catch(authenticator.authenticate(parts)).await {
            Ok(found) => found.map_err(Refusal::from),
            Err(panicked) => Err(Refusal::from(AuthError::Unavailable {
                source: panicked.into(),
            })),
        }
    }
}

impl From<AuthError> for Refusal {
    fn from(error: AuthError) -> Self {
        let mut challenge = None;
        let error = match error {
            AuthError::Unauthenticated { challenge: value } => {
                challenge = HeaderValue::try_from(value).ok();
                A2aError::unauthenticated("credentials are missing or wrong")
            }
            AuthError::PermissionDenied => {
                A2aError::permission_denied("the caller may not do this")
            }
            AuthError::Unavailable { source } => {
                A2aError::unavailable("credentials can't be checked now")
                    .with_retry_after(RETRY_AFTER)
                    .with_source(source)
            }
        };
        log(&error);
        Self { error, challenge }
    }
}

impl Inbound {
    /// Sets when the caller stops waiting.
    pub(crate) fn with_deadline(mut self, deadline: Option<Instant>) -> Self {
        self.deadline = deadline;
        self
    }

    /// The extensions that are active for this call, to be echoed.
    pub(crate) fn activated(&self) -> &Extensions {
        &self.activated
    }

    /// Checks everything that can be told without the handler, in order. The method is a name if it is not that of an
    /// operation.
    pub(crate) fn check(
        self,
        method: Result<Method, &str>,
        decode: impl FnOnce(Method) -> Result<Operation, A2aError>,
    ) -> Result<Checked, A2aError> {
        let policy = self.endpoint.0.version_policy;
        let binding = self.binding;
        let watch = self.endpoint.0.watch.clone();
        let method = method.map_err(|name| {
            let error = version::unknown_method(policy, &self.version, name);
            let code = error.code();
            watch.tell(&Observation::Refused {
                binding,
                error: code,
            });
            error
        })?;
        let observed = CallGuard::new(&watch, binding, method);
        let operation = match self.operation(method, decode) {
            Ok(operation) => operation,
            Err(error) => {
                observed.end(Some(error.code()));
                return Err(error);
            }
        };
        let strings = |list: &Extensions| list.iter().map(str::to_owned).collect();
        let cx = CallContext::new(method)
            .with_tenant(operation.tenant())
            .with_principal(self.principal)
            .with_a2a_extensions(strings(&self.requested), strings(&self.activated))
            .with_headers(self.headers)
            .with_http_extensions(self.attached)
            .with_deadline(self.deadline);
        Ok(Checked {
            endpoint: self.endpoint,
            binding,
            cx,
            operation: Box::new(operation),
            observed,
        })
    }

    /// Reads the request and checks what it says, in order.
    fn operation(
        &self,
        method: Method,
        decode: impl FnOnce(Method) -> Result<Operation, A2aError>,
    ) -> Result<Operation, A2aError> {
        self.endpoint.0.version_policy.check(&self.version)?;
        let mut operation = decode(method)?;
        if let Some(routed) = self.attached.get::<Routed>() {
            routed.apply(&mut operation);
        }
        check::operation(&self.endpoint.0, &self.requested, &operation)?;
        Ok(operation)
    }
}

/// A call that may be made.
pub(crate) struct Checked {
    endpoint: Endpoint,
    binding: Binding,
    cx: CallContext,
    /// Boxed: a request is large, and is handed on several times.
    operation: Box<Operation>,
    observed: CallGuard,
}

impl Checked {
    /// Calls the handler.
    pub(crate) async fn run(self) -> Result<Outcome, A2aError> {
        let Self {
            endpoint,
            binding,
            cx,
            operation,
            observed,
        } = self;
        let span = trace::call(binding, cx.method());
        // A panic would cut the connection, and with it the other calls on it.
        let outcome = catch(hand_over(&endpoint, cx, operation))
            .instrument(span.clone())
            .await;
        let outcome = outcome.unwrap_or_else(|panicked| {
            Err(A2aError::internal("the call failed").with_source(panicked))
        });
        match outcome {
            Ok(Outcome::Events(events)) => Ok(Outcome::Events(observed.open(events))),
            Ok(reply) => {
                observed.end(None);
                Ok(reply)
            }
            Err(error) => {
                trace::failed(&span, binding, &error);
                log(&error);
                observed.end(Some(error.code()));
                Err(error)
            }
        }
    }
}

async fn hand_over(
    endpoint: &Endpoint,
    cx: CallContext,
    operation: Box<Operation>,
) -> Result<Outcome, A2aError> {
    if endpoint.0.stopping.is_cancelled() {
        let error = A2aError::unavailable("the server is shutting down");
        return Err(error.with_retry_after(RETRY_AFTER));
    }
    let deadline = cx.deadline();
    let call = dispatch(&*endpoint.0.handler, cx, operation);
    let Some(deadline) = deadline else {
        return call.await;
    };
    match tokio::time::timeout_at(deadline, call).await {
        Ok(Ok(Outcome::Events(events))) => {
            let events = Until::new(events, deadline);
            Ok(Outcome::Events(EventStream::new(events)))
        }
        Ok(outcome) => outcome,
        Err(_) => Err(Until::passed()),
    }
}

async fn dispatch(
    handler: &dyn RequestHandler,
    cx: CallContext,
    operation: Box<Operation>,
) -> Result<Outcome, A2aError> {
    let reply = match *operation {
        Operation::Stream(StreamCall::SendStreamingMessage(request)) => {
            return handler
                .send_streaming_message(cx, request)
                .await
                .map(Outcome::Events);
        }
        Operation::Stream(StreamCall::SubscribeToTask(request)) => {
            return handler
                .subscribe_to_task(cx, request)
                .await
                .map(Outcome::Events);
        }
        Operation::Unary(Call::SendMessage(request)) => {
            Reply::Sent(handler.send_message(cx, request).await?)
        }
        Operation::Unary(Call::GetTask(request)) => {
            Reply::Task(handler.get_task(cx, request).await?)
        }
        Operation::Unary(Call::ListTasks(request)) => {
            Reply::Tasks(handler.list_tasks(cx, request).await?)
        }
        Operation::Unary(Call::CancelTask(request)) => {
            Reply::Task(handler.cancel_task(cx, request).await?)
        }
        Operation::Unary(Call::CreateTaskPushNotificationConfig(request)) => Reply::PushConfig(
            handler
                .create_task_push_notification_config(cx, request)
                .await?,
        ),
        Operation::Unary(Call::GetTaskPushNotificationConfig(request)) => Reply::PushConfig(
            handler
                .get_task_push_notification_config(cx, request)
                .await?,
        ),
        Operation::Unary(Call::ListTaskPushNotificationConfigs(request)) => Reply::PushConfigs(
            handler
                .list_task_push_notification_configs(cx, request)
                .await?,
        ),
        Operation::Unary(Call::DeleteTaskPushNotificationConfig(request)) => {
            handler
                .delete_task_push_notification_config(cx, request)
                .await?;
            Reply::Deleted
        }
        Operation::Unary(Call::GetExtendedAgentCard(request)) => Reply::Card(Box::new(
            handler.get_extended_agent_card(cx, request).await?,
        )),
    };
    Ok(Outcome::Reply(reply))
}

/// Notes what the caller is not told.
fn log(error: &A2aError) {
    if let Some(source) = error.source() {
        tracing::warn!(error = %error, cause = source as &(dyn std::error::Error + 'static), "a call failed");
    } else if error.code() == ErrorCode::Internal {
        tracing::warn!(error = %error, "a call failed");
    }
}

const RETRY_AFTER: std::time::Duration = std::time::Duration::from_secs(1);
