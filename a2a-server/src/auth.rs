//! Who calls.

mod bearer;

use std::fmt;
use std::hash::{Hash, Hasher};

use a2a_proto::v1::AgentCard;
use async_trait::async_trait;

pub use bearer::BearerTokens;

/// The caller of an operation, as the [`Authenticator`] found it.
///
/// Tasks belong to the principal that created them: to any other they do not exist (A2A 1.0 §13.1). Two principals are
/// the same when their names are; what else is attached to them does not count.
///
/// ```
/// use a2a_server::Principal;
///
/// #[derive(Clone)]
/// struct Roles(Vec<String>);
///
/// let principal = Principal::named("alice").with(Roles(vec!["admin".into()]));
/// assert_eq!(principal.get::<Roles>().unwrap().0, ["admin"]);
/// assert_eq!(principal, Principal::named("alice"));
/// ```
#[derive(Clone, Default)]
pub struct Principal {
    name: Option<String>,
    attached: http::Extensions,
}

impl Principal {
    /// The caller of a server without an [`Authenticator`].
    #[must_use]
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// A caller with a name, such as the subject of its token.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            attached: http::Extensions::new(),
        }
    }

    /// Attaches what the authenticator knows besides, such as roles or claims, for the executor to read.
    #[must_use]
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.attached.insert(value);
        self
    }

    /// The name; `None` for the anonymous caller.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What was attached of this type.
    #[must_use]
    pub fn get<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.attached.get()
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.debug_tuple("Principal").field(name).finish(),
            None => f.write_str("Principal(anonymous)"),
        }
    }
}

/// Why a caller is turned away.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// Credentials are missing or wrong: 401 or UNAUTHENTICATED.
    #[error("credentials are missing or wrong")]
    Unauthenticated {
        /// The value of the `WWW-Authenticate` header, such as `Bearer`.
        challenge: String,
    },
    /// The caller is known and may not come in: 403 or PERMISSION_DENIED.
    #[error("the caller may not do this")]
    PermissionDenied,
    /// The credentials can't be checked now: 503 or UNAVAILABLE.
    #[error("credentials can't be checked now")]
    Unavailable {
        /// The cause, for the log.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Finds out who calls, before anything else is read (A2A 1.0 §7.4).
///
/// The same check stands in front of all bindings; gRPC metadata are headers like any others.
#[async_trait]
pub trait Authenticator: Send + Sync + 'static {
    /// The caller behind the head of a request.
    ///
    /// # Errors
    ///
    /// When the caller is turned away.
    async fn authenticate(&self, parts: &http::request::Parts) -> Result<Principal, AuthError>;

    /// Says in the agent's card how callers prove who they are: schemes, and which of them are needed. By default the
    /// card stays as it was configured.
    fn announce(&self, card: &mut AgentCard) {
        let _ = card;
    }
}
