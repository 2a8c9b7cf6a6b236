//! Who calls an agent on kagent, and what goes with the calls that the agent makes (kagent contract 1.7, 11.1).

use std::borrow::Cow;
use std::fmt;

use a2a_server::ExecutionContext;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::config::{McpServer, Secret};
use crate::uri::header;

/// The caller of an agent, as kagent's gateway describes it.
///
/// It says who speaks and decides nothing: on a byo agent everybody whom the gateway lets through may see and answer
/// the tasks of the session.
#[derive(Clone)]
pub struct Caller {
    headers: HeaderMap,
    context_id: String,
    #[cfg(feature = "otel")]
    invocation: Option<std::sync::Arc<crate::telemetry::Invocation>>,
}

impl Caller {
    /// The caller of the message that is being worked on.
    #[must_use]
    pub fn of(cx: &ExecutionContext) -> Self {
        Self {
            #[cfg(feature = "otel")]
            invocation: crate::telemetry::Invocation::of(cx),
            ..Self::new(cx.headers().clone(), cx.context_id())
        }
    }

    fn new(headers: HeaderMap, context_id: impl Into<String>) -> Self {
        Self {
            headers,
            context_id: context_id.into(),
            #[cfg(feature = "otel")]
            invocation: None,
        }
    }

    /// The user; a name made of the context where the gateway names none.
    #[must_use]
    pub fn user(&self) -> String {
        match self.text(header::USER_ID) {
            Some(user) => user.into_owned(),
            None => format!("A2A_USER_{}", self.context_id),
        }
    }

    /// Whether another agent makes the call.
    #[must_use]
    pub fn is_agent(&self) -> bool {
        self.text(header::SOURCE)
            .is_some_and(|source| source == AGENT)
    }

    /// The fence of this delivery, which the controller wants back with each save.
    #[must_use]
    pub fn dispatch_id(&self) -> Option<String> {
        self.text(header::DISPATCH_ID).map(Cow::into_owned)
    }

    /// The context of the agent that calls.
    #[must_use]
    pub fn parent_context_id(&self) -> Option<String> {
        self.text(header::PARENT_CONTEXT_ID).map(Cow::into_owned)
    }

    /// The context in which the outermost agent was called; this one where no other agent calls.
    #[must_use]
    pub fn root_context_id(&self) -> String {
        match self.text(header::ROOT_CONTEXT_ID) {
            Some(root) => root.into_owned(),
            None => self.context_id.clone(),
        }
    }

    /// The caller's credential, as it stands in `authorization`.
    #[must_use]
    pub fn credential(&self) -> Option<Secret> {
        self.text(AUTHORIZATION.as_str())
            .map(|value| Secret::from(value.into_owned()))
    }

    /// The headers that go with a call which the agent makes on behalf of this caller.
    #[must_use]
    pub fn outgoing_headers(&self, policy: &HeaderPolicy) -> HeaderMap {
        let mut outgoing = HeaderMap::new();
        let passed = TRACE
            .into_iter()
            .chain(policy.allowed.iter().map(HeaderName::as_str));
        for name in passed.filter(|name| *name != AUTHORIZATION) {
            self.pass(name, &mut outgoing);
        }
        #[cfg(feature = "otel")]
        if let Some(invocation) = &self.invocation {
            invocation.inject(&mut outgoing);
        }
        if policy.token {
            self.pass(AUTHORIZATION.as_str(), &mut outgoing);
        }
        if policy.agent {
            let mut set = |name, value: &str| {
                if let Ok(value) = HeaderValue::from_str(value) {
                    outgoing.insert(HeaderName::from_static(name), value);
                }
            };
            set(header::SOURCE, AGENT);
            set(header::USER_ID, &self.user());
            set(header::PARENT_CONTEXT_ID, &self.context_id);
            set(header::ROOT_CONTEXT_ID, &self.root_context_id());
        }
        outgoing
    }

    fn pass(&self, name: &str, outgoing: &mut HeaderMap) {
        let Ok(name) = HeaderName::try_from(name) else {
            return;
        };
        outgoing.remove(&name);
        for value in self.headers.get_all(&name) {
            let mut value = value.clone();
            value.set_sensitive(name == AUTHORIZATION);
            outgoing.append(name.clone(), value);
        }
    }

    fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        let value = self.headers.get(name)?.as_bytes().trim_ascii();
        (!value.is_empty()).then(|| String::from_utf8_lossy(value))
    }
}

/// What an executor asks its context about kagent.
pub trait CallerContext: sealed::Sealed {
    /// The caller of the message that is being worked on.
    fn caller(&self) -> Caller;

    /// The headers that go with a call which the agent makes on behalf of this caller:
    /// [`Caller::outgoing_headers`].
    fn outgoing_headers(&self, policy: &HeaderPolicy) -> HeaderMap {
        self.caller().outgoing_headers(policy)
    }
}

impl CallerContext for ExecutionContext {
    fn caller(&self) -> Caller {
        Caller::of(self)
    }
}

mod sealed {
    #[expect(unnameable_types, reason = "only this crate may implement the trait")]
    pub trait Sealed {}

    impl Sealed for a2a_server::ExecutionContext {}
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("user", &self.user())
            .field("is_agent", &self.is_agent())
            .finish_non_exhaustive()
    }
}

/// What of a caller is passed on.
///
/// The trace always is, with the current span in place of the caller's where spans are made. The credential never is unless [`with_token`](Self::with_token) says so, not even as one of
/// the allowed headers.
#[derive(Clone, Debug, Default)]
pub struct HeaderPolicy {
    allowed: Vec<HeaderName>,
    token: bool,
    agent: bool,
}

impl HeaderPolicy {
    /// For calls of models and tools: the trace alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For calls of other agents: who the user is, that an agent calls, and from which context.
    #[must_use]
    pub fn for_agents() -> Self {
        Self {
            agent: true,
            ..Self::default()
        }
    }

    /// Passes these headers of the caller on. What is no header name is left out.
    #[must_use]
    pub fn allow(mut self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let names = names
            .into_iter()
            .filter_map(|name| name.as_ref().parse().ok());
        self.allowed.extend(names);
        self
    }

    /// Passes the caller's credential on.
    #[must_use]
    pub fn with_token(mut self) -> Self {
        self.token = true;
        self
    }
}

impl From<&McpServer> for HeaderPolicy {
    fn from(server: &McpServer) -> Self {
        let policy = Self::new().allow(&server.allowed_headers);
        Self {
            token: server.token_passthrough,
            ..policy
        }
    }
}

const AGENT: &str = "agent";
const TRACE: [&str; 2] = ["traceparent", "tracestate"];

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(headers: &[(&'static str, &'static str)]) -> Caller {
        let headers = headers.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        Caller::new(headers.collect(), "ctx")
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_caller_is_read_from_the_headers_of_the_gateway() {
        let caller = caller(&[
            ("x-user-id", "ada@example.com"),
            ("x-kagent-source", "agent"),
            ("x-kagent-dispatch-id", "d-1"),
            ("x-kagent-parent-context-id", "p"),
            ("x-kagent-root-context-id", "r"),
            ("authorization", "Bearer not-a-real-token"),
        ]);
        assert_eq!(caller.user(), "ada@example.com");
        assert!(caller.is_agent());
        assert_eq!(caller.dispatch_id().as_deref(), Some("d-1"));
        assert_eq!(caller.parent_context_id().as_deref(), Some("p"));
        assert_eq!(caller.root_context_id(), "r");
        assert_eq!(
            caller.credential().unwrap().expose(),
            "Bearer not-a-real-token"
        );
        assert!(!format!("{caller:?}").contains("not-a-real-token"));
    }

    #[test]
    fn a_caller_without_headers_is_named_after_the_context() {
        let caller = caller(&[("x-user-id", "  ")]);
        assert_eq!(caller.user(), "A2A_USER_ctx");
        assert_eq!(caller.root_context_id(), "ctx");
        assert!(!caller.is_agent());
        assert_eq!((caller.dispatch_id(), caller.credential()), (None, None));
    }

    #[test]
    fn a_credential_is_passed_on_only_where_the_policy_says_so() {
        let caller = caller(&[
            ("traceparent", "00-1-2-01"),
            ("authorization", "Bearer not-a-real-token"),
            ("x-tenant", "t"),
            ("x-user-id", "ada"),
        ]);
        let policy =
            HeaderPolicy::new().allow(["X-Tenant", "Authorization", "not a name", "x-absent"]);
        assert_eq!(
            names(&caller.outgoing_headers(&HeaderPolicy::new())),
            ["traceparent"]
        );
        assert_eq!(
            names(&caller.outgoing_headers(&policy)),
            ["traceparent", "x-tenant"]
        );
        assert_eq!(
            names(&caller.outgoing_headers(&policy.with_token())),
            ["authorization", "traceparent", "x-tenant"],
        );
    }

    #[test]
    fn calls_of_agents_say_where_they_come_from() {
        let headers = caller(&[("x-user-id", "ada")]).outgoing_headers(&HeaderPolicy::for_agents());
        assert_eq!(headers["x-kagent-source"], "agent");
        assert_eq!(headers["x-user-id"], "ada");
        assert_eq!(headers["x-kagent-parent-context-id"], "ctx");
        assert_eq!(headers["x-kagent-root-context-id"], "ctx");

        let nested = caller(&[("x-kagent-root-context-id", "r")]);
        let headers = nested.outgoing_headers(&HeaderPolicy::for_agents());
        assert_eq!(headers["x-kagent-root-context-id"], "r");
        assert_eq!(headers["x-user-id"], "A2A_USER_ctx");
    }
}
