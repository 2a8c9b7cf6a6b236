//! HTTP+JSON (A2A 1.0 §11): operations to verb, path, query and body, and back.
//!
//! Paths are those below the interface's URL. Whatever stands before the known tail of a path is the tenant, which may
//! have several segments.

mod query;

use std::borrow::Cow;
use std::collections::BTreeMap;

use http::Method as Verb;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::{Operation, invalid};
use crate::{A2aError, Call, Method, StreamCall};

/// All that stands for itself in a path segment everywhere; the rest is encoded, `/` and `:` in ids among it.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A request to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The verb. A subscription that a server refuses with 404 or 405 may be tried with GET.
    pub verb: Verb,
    /// The path with its query, to be put behind the interface's URL; it begins with a slash.
    pub path: String,
    /// The JSON body, where there is one.
    pub body: Option<Vec<u8>>,
}

/// Where a path leads, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    method: Method,
    tenant: String,
    /// The id of the task; empty where the path has none.
    task: String,
    /// The id of the push configuration; empty where the path has none.
    config: String,
}

/// Why a path leads nowhere.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RouteError {
    /// No such path: 404.
    NotFound,
    /// A known path with another verb: 405, and the verbs for the `Allow` header.
    WrongVerb {
        /// The verbs that the path takes.
        allow: &'static str,
    },
    /// An id or tenant that is not UTF-8: 400.
    Invalid(A2aError),
}

/// What a kind of path is answered with.
struct Candidate<'a> {
    verbs: &'static [(Verb, Method)],
    allow: &'static str,
    before: &'a [&'a str],
    task: &'a str,
    config: &'a str,
}

impl RouteError {
    /// The HTTP status to answer with.
    #[must_use]
    pub fn http_status(&self) -> u16 {
        match self {
            Self::NotFound => 404,
            Self::WrongVerb { .. } => 405,
            Self::Invalid(_) => 400,
        }
    }

    /// The error for the body. It is not TaskNotFound: that says something about a task.
    #[must_use]
    pub fn to_error(&self) -> A2aError {
        match self {
            Self::NotFound => A2aError::method_not_found("no such path in A2A 1.0"),
            Self::WrongVerb { allow } => {
                A2aError::method_not_found(format!("this path takes {allow} only"))
            }
            Self::Invalid(error) => error.clone(),
        }
    }
}

impl Route {
    /// Finds the operation of a verb and a raw path, which begins below the interface's URL and is without its query.
    ///
    /// ```
    /// # use a2a_proto::{Method, wire::rest::Route};
    /// let route = Route::find(&http::Method::POST, "/acme/eu/tasks/a%2Fb:cancel").unwrap();
    /// assert_eq!(route.method(), Method::CancelTask);
    /// assert_eq!(route.tenant(), "acme/eu");
    /// ```
    ///
    /// # Errors
    ///
    /// Tells an unknown path from a known one with the wrong verb.
    pub fn find(verb: &Verb, path: &str) -> Result<Self, RouteError> {
        let path = path.strip_prefix('/').unwrap_or(path);
        // The Java client lists push configurations with a slash at the end.
        let path = match path.strip_suffix('/') {
            Some(list) if list.ends_with("/pushNotificationConfigs") => list,
            _ => path,
        };
        let segments: Vec<&str> = path.split('/').collect();
        let mut allow = None;
        for candidate in candidates(&segments) {
            match candidate.verbs.iter().find(|(known, _)| known == verb) {
                Some((_, method)) => return candidate.route(*method).map_err(RouteError::Invalid),
                None => allow = allow.or(Some(candidate.allow)),
            }
        }
        Err(
            allow.map_or(RouteError::NotFound, |allow| RouteError::WrongVerb {
                allow,
            }),
        )
    }

    /// The operation.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// The tenant in the path; empty for none.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Puts the request together from path, query and body. Ids in the path win over ids in the body.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::ParseError`](crate::ErrorCode::ParseError) for a body that is no JSON, and
    /// [`ErrorCode::InvalidParams`](crate::ErrorCode::InvalidParams) with the fields that are wrong: also when path,
    /// query and body name different tenants.
    pub fn operation(self, query: Option<&str>, body: &[u8]) -> Result<Operation, A2aError> {
        let body = match self.method {
            Method::SendMessage
            | Method::SendStreamingMessage
            | Method::CancelTask
            | Method::SubscribeToTask
            | Method::CreateTaskPushNotificationConfig => body,
            // Some clients send a body `null` with every request.
            Method::GetTask
            | Method::ListTasks
            | Method::GetTaskPushNotificationConfig
            | Method::ListTaskPushNotificationConfigs
            | Method::DeleteTaskPushNotificationConfig
            | Method::GetExtendedAgentCard => b"",
        };
        let mut operation = Operation::from_json(self.method, body)?;
        let query = query::Query::parse(query.unwrap_or_default());
        let query_tenant = query.apply(&mut operation)?;
        self.fill(&mut operation);
        let tenant = operation.tenant_mut();
        for named in [self.tenant, query_tenant] {
            if named.is_empty() || named == *tenant {
                continue;
            }
            if !tenant.is_empty() {
                return Err(invalid(
                    "tenant",
                    "path, query and body name different tenants",
                ));
            }
            *tenant = named;
        }
        Ok(operation)
    }

    /// Sets the ids that stand in the path.
    fn fill(&self, operation: &mut Operation) {
        let (task, config) = (&self.task, &self.config);
        match operation {
            Operation::Unary(call) => match call {
                Call::GetTask(request) => request.id.clone_from(task),
                Call::CancelTask(request) => request.id.clone_from(task),
                Call::CreateTaskPushNotificationConfig(request) => request.task_id.clone_from(task),
                Call::GetTaskPushNotificationConfig(request) => {
                    request.task_id.clone_from(task);
                    request.id.clone_from(config);
                }
                Call::ListTaskPushNotificationConfigs(request) => request.task_id.clone_from(task),
                Call::DeleteTaskPushNotificationConfig(request) => {
                    request.task_id.clone_from(task);
                    request.id.clone_from(config);
                }
                Call::SendMessage(_) | Call::ListTasks(_) | Call::GetExtendedAgentCard(_) => {}
            },
            Operation::Stream(call) => match call {
                StreamCall::SubscribeToTask(request) => request.id.clone_from(task),
                StreamCall::SendStreamingMessage(_) => {}
            },
        }
    }
}

impl Candidate<'_> {
    fn route(&self, method: Method) -> Result<Route, A2aError> {
        let task_field = match method {
            Method::GetTask | Method::CancelTask | Method::SubscribeToTask => "id",
            _ => "task_id",
        };
        Ok(Route {
            method,
            tenant: decode("tenant", &self.before.join("/"))?,
            task: decode(task_field, self.task)?,
            config: decode("id", self.config)?,
        })
    }
}

fn decode(field: &str, raw: &str) -> Result<String, A2aError> {
    percent_decode_str(raw)
        .decode_utf8()
        .map(Cow::into_owned)
        .map_err(|_| invalid(field, "must be UTF-8"))
}

/// What the path may mean, the longest tail first.
fn candidates<'a>(segments: &'a [&'a str]) -> impl Iterator<Item = Candidate<'a>> {
    let known = |(verbs, allow), before, task, config| Candidate {
        verbs,
        allow,
        before,
        task,
        config,
    };
    let config = match segments {
        [
            before @ ..,
            "tasks",
            task,
            "pushNotificationConfigs",
            config,
        ] if !task.is_empty() && !config.is_empty() => Some(known(CONFIG, before, *task, *config)),
        _ => None,
    };
    let configs = match segments {
        [before @ .., "tasks", task, "pushNotificationConfigs"] if !task.is_empty() => {
            Some(known(CONFIGS, before, *task, ""))
        }
        _ => None,
    };
    let task = match segments {
        [before @ .., "tasks", task] if !task.is_empty() => {
            // Before the percent-encoding is taken off: an id may hold an encoded colon.
            let (id, verbs) = match task.rsplit_once(':') {
                Some((id, "cancel")) => (id, CANCEL),
                Some((id, "subscribe")) => (id, SUBSCRIBE),
                _ => (*task, TASK),
            };
            Some(known(verbs, before, id, ""))
        }
        _ => None,
    };
    let top = match segments {
        [before @ .., "tasks"] => Some(known(TASKS, before, "", "")),
        [
            before @ ..,
            "message:send" | "message%3Asend" | "message%3asend",
        ] => Some(known(SEND, before, "", "")),
        [
            before @ ..,
            "message:stream" | "message%3Astream" | "message%3astream",
        ] => Some(known(STREAM, before, "", "")),
        [before @ .., "extendedAgentCard"] => Some(known(CARD, before, "", "")),
        _ => None,
    };
    [config, configs, task, top].into_iter().flatten()
}

type Verbs = (&'static [(Verb, Method)], &'static str);

const CONFIG: Verbs = (
    &[
        (Verb::GET, Method::GetTaskPushNotificationConfig),
        (Verb::DELETE, Method::DeleteTaskPushNotificationConfig),
    ],
    "GET, DELETE",
);
const CONFIGS: Verbs = (
    &[
        (Verb::GET, Method::ListTaskPushNotificationConfigs),
        (Verb::POST, Method::CreateTaskPushNotificationConfig),
    ],
    "GET, POST",
);
const CANCEL: Verbs = (&[(Verb::POST, Method::CancelTask)], "POST");
// The specification's text says POST, its proto GET.
const SUBSCRIBE: Verbs = (
    &[
        (Verb::POST, Method::SubscribeToTask),
        (Verb::GET, Method::SubscribeToTask),
    ],
    "POST, GET",
);
const TASK: Verbs = (&[(Verb::GET, Method::GetTask)], "GET");
const TASKS: Verbs = (&[(Verb::GET, Method::ListTasks)], "GET");
const SEND: Verbs = (&[(Verb::POST, Method::SendMessage)], "POST");
const STREAM: Verbs = (&[(Verb::POST, Method::SendStreamingMessage)], "POST");
const CARD: Verbs = (&[(Verb::GET, Method::GetExtendedAgentCard)], "GET");

/// Writes the request of an operation. The tenant goes into the path only.
///
/// # Errors
///
/// [`ErrorCode::InvalidParams`](crate::ErrorCode::InvalidParams) for an id that no path can carry: an empty one, `.`
/// and `..`.
pub fn request(mut operation: Operation) -> Result<Request, A2aError> {
    let method = operation.method();
    let tenant = std::mem::take(operation.tenant_mut());
    let mut path = String::with_capacity(64);
    if !tenant.is_empty() {
        path.push('/');
        path.push_str(&match tenant.as_str() {
            // As it is, it would turn `/tasks/tasks` into the path of a task.
            "tasks" => "%74asks".into(),
            tenant => segment("tenant", tenant)?,
        });
    }
    path.push_str(&tail(&operation)?);
    query::write(&operation, &mut path);
    let body = match &operation {
        Operation::Stream(StreamCall::SubscribeToTask(_)) => None,
        // The id stands in the path, and the message would print it here too, empty.
        Operation::Unary(Call::CancelTask(request)) => {
            let metadata = request
                .metadata
                .iter()
                .map(|metadata| ("metadata", metadata));
            Some(serde_json::to_vec(&metadata.collect::<BTreeMap<_, _>>()).unwrap_or_default())
        }
        _ if *method.verb() == Verb::POST => Some(operation.to_json()),
        _ => None,
    };
    Ok(Request {
        verb: method.verb().clone(),
        path,
        body,
    })
}

/// The path below the tenant.
fn tail(operation: &Operation) -> Result<String, A2aError> {
    let configs = |task: &str| {
        segment("task_id", task).map(|task| format!("/tasks/{task}/pushNotificationConfigs"))
    };
    let config = |task: &str, id: &str| Ok(format!("{}/{}", configs(task)?, segment("id", id)?));
    match operation {
        Operation::Unary(call) => match call {
            Call::GetTask(request) => Ok(format!("/tasks/{}", segment("id", &request.id)?)),
            Call::CancelTask(request) => {
                Ok(format!("/tasks/{}:cancel", segment("id", &request.id)?))
            }
            Call::CreateTaskPushNotificationConfig(request) => configs(&request.task_id),
            Call::ListTaskPushNotificationConfigs(request) => configs(&request.task_id),
            Call::GetTaskPushNotificationConfig(request) => config(&request.task_id, &request.id),
            Call::DeleteTaskPushNotificationConfig(request) => {
                config(&request.task_id, &request.id)
            }
            Call::SendMessage(_) | Call::ListTasks(_) | Call::GetExtendedAgentCard(_) => {
                Ok(call.method().template().to_owned())
            }
        },
        Operation::Stream(call) => match call {
            StreamCall::SubscribeToTask(request) => {
                Ok(format!("/tasks/{}:subscribe", segment("id", &request.id)?))
            }
            StreamCall::SendStreamingMessage(_) => Ok(call.method().template().to_owned()),
        },
    }
}

fn segment<'a>(field: &str, text: &'a str) -> Result<Cow<'a, str>, A2aError> {
    match text {
        "" => Err(invalid(field, "must not be empty")),
        // URL parsers take these away, encoded or not.
        "." | ".." => Err(invalid(field, "can't be sent in a path")),
        _ => Ok(utf8_percent_encode(text, SEGMENT).into()),
    }
}

#[cfg(test)]
mod tests;
