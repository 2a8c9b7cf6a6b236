//! What kagent tells a byo agent through its environment and its files (kagent contract 1.3 to 1.5, 11.9).
//!
//! The document that kagent 1.0 writes and that of 0.x are read into the same types, with `snake_case` or
//! `lowerCamelCase` names. Unknown members are kept aside and change nothing.

mod agent;
mod environment;
mod fields;
mod runtime;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use a2a_proto::json;
use a2a_proto::v1::AgentCard;
use serde_json::{Map, Value};

pub use agent::{
    AgentConfig, ApprovalPolicy, McpServer, McpTransport, ModelConfig, RemoteAgentConfig,
};
pub use environment::Environment;
pub use runtime::{BaseUrl, OtlpConfig, RuntimeConfig, TelemetryConfig, TokenPropagation};

use fields::Fields;

/// The whole configuration of a byo agent.
///
/// ```
/// use kagent_ext::config::{Config, Environment};
///
/// let environment = Environment::empty()
///     .with_var("MODEL_KEY", "not-a-real-key")
///     .with_var(
///         "KAGENT_CONFIG_JSON",
///         r#"{"agent": {"instruction": "Be brief.", "model": {"model": "m", "api_key": "__KAGENT_ENV[MODEL_KEY]__"}}}"#,
///     );
/// let agent = Config::read(&environment)?.agent.unwrap();
/// assert_eq!(agent.instruction, "Be brief.");
/// assert_eq!(agent.model.unwrap().api_key.unwrap().expose(), "not-a-real-key");
/// # Ok::<(), kagent_ext::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Config {
    /// How the process runs in a cluster; `None` outside of one, and with kagent 0.x.
    pub runtime: Option<RuntimeConfig>,
    /// What the agent is: prompt, model, tools.
    pub agent: Option<AgentConfig>,
    /// The card that kagent compiled.
    pub card: Option<AgentCard>,
    /// Members of the document that this version does not know.
    pub unknown: Unknown,
}

impl Config {
    /// Reads the environment and files of this process. Without any the configuration is empty.
    ///
    /// # Errors
    ///
    /// When something is there and can't be understood.
    pub fn load() -> Result<Self, ConfigError> {
        Self::read(&Environment::process())
    }

    /// Reads an environment. A variable wins over the file that it stands for.
    ///
    /// # Errors
    ///
    /// When something is there and can't be understood.
    pub fn read(environment: &Environment) -> Result<Self, ConfigError> {
        let mut config = match environment.document()? {
            Some((origin, document)) => Self::from_document(&origin, document)?,
            None => Self::default(),
        };
        if let Some((origin, text)) = environment.card_text()? {
            let card = json::from_str(&text).map_err(|error| ConfigError::json(origin, error))?;
            config.card = Some(card);
        }
        Ok(config)
    }

    fn from_document(origin: &str, document: Value) -> Result<Self, ConfigError> {
        let mut document = Fields::root(origin, document)?;
        let runtime = document
            .object("runtime")?
            .map(RuntimeConfig::read)
            .transpose()?;
        let agent = AgentConfig::read(&mut document)?;
        Ok(Self {
            runtime,
            agent,
            card: None,
            unknown: document.rest(),
        })
    }
}

/// A value that is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The value itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Members of an object that this version does not know; printed by name only, since they may hold secrets.
#[derive(Clone, Default, PartialEq)]
pub struct Unknown(Map<String, Value>);

impl Unknown {
    /// The member with that name, as it stands in the document.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl fmt::Debug for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Header values by name; printed by name only.
pub type Headers = BTreeMap<String, Secret>;

/// What is wrong with the configuration, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A document is not JSON, or a card not a card.
    #[error("{origin} can't be parsed")]
    Json {
        /// The variable or file.
        origin: String,
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A member is missing or wrong.
    #[error("{origin}: {path}: {reason}")]
    Field {
        /// The variable or file.
        origin: String,
        /// The JSON path, such as `runtime.port`.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The file that names the session is missing or names none.
    #[error("{}: {reason}", path.display())]
    Identity {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file is there and can't be read.
    #[error("{} can't be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

impl ConfigError {
    fn json(origin: String, error: impl Error + Send + Sync + 'static) -> Self {
        Self::Json {
            origin,
            source: Box::new(error),
        }
    }
}

#[cfg(test)]
mod tests;
