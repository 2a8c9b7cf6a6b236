use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{ConfigError, Secret};

/// Where configuration comes from: variables and files of this process, or of a test.
#[derive(Clone)]
pub struct Environment {
    /// `None` stands for those of this process.
    given: Option<Given>,
    config_dir: PathBuf,
    /// A file of this machine, whatever the rest is.
    identity_file: Option<PathBuf>,
    data_dir: Option<PathBuf>,
}

#[derive(Clone, Default)]
struct Given {
    vars: BTreeMap<String, String>,
    files: BTreeMap<PathBuf, String>,
}

impl Environment {
    /// The variables and files of this process.
    #[must_use]
    pub fn process() -> Self {
        Self {
            given: None,
            config_dir: CONFIG_DIR.into(),
            identity_file: None,
            data_dir: None,
        }
    }

    /// Neither variables nor files, for tests.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            given: Some(Given::default()),
            ..Self::process()
        }
    }

    /// Sets a variable. The process's own, if they were in use, are left behind.
    #[must_use]
    pub fn with_var(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.given
            .get_or_insert_default()
            .vars
            .insert(name.into(), value.into());
        self
    }

    /// Adds a file. The process's own, if they were in use, are left behind.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.given
            .get_or_insert_default()
            .files
            .insert(path.into(), text.into());
        self
    }

    /// Sets the directory of `config.json` and `agent-card.json`; `/config` by default.
    #[must_use]
    pub fn with_config_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.config_dir = path.into();
        self
    }

    /// Sets the file of this machine that names the session; otherwise `KAGENT_IDENTITY_FILE` does, and without that it
    /// is kagent's own `/run/kagent/identity/name`.
    #[must_use]
    pub fn with_identity_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.identity_file = Some(path.into());
        self
    }

    /// Sets the directory of [`data_dir`](Self::data_dir).
    #[must_use]
    pub fn with_data_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(path.into());
        self
    }

    /// The one directory that a restarted agent finds as it left it: `KAGENT_DATA_DIR`, or kagent's own `/data` where it
    /// is there (kagent contract 1.8).
    #[must_use]
    pub fn data_dir(&self) -> Option<PathBuf> {
        let told = self.data_dir.clone();
        let told = told.or_else(|| self.var("KAGENT_DATA_DIR").map(PathBuf::from));
        told.or_else(|| self.exists(Path::new(DATA_DIR)).then(|| DATA_DIR.into()))
    }

    /// The value of a variable without surrounding white space; a blank one counts as unset.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<String> {
        let value = self.raw_var(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The token for kagent's controller, from `KAGENT_TOKEN` or its file.
    ///
    /// Read again at each call: a process that was restored from a snapshot has another one.
    ///
    /// # Errors
    ///
    /// When its file is there and can't be read.
    pub fn token(&self) -> Result<Option<Secret>, ConfigError> {
        let text = match self.var("KAGENT_TOKEN") {
            Some(token) => Some(token),
            None => self
                .file(Path::new(TOKEN_FILE))?
                .map(|text| text.trim().to_owned()),
        };
        Ok(text.filter(|text| !text.is_empty()).map(Secret::from))
    }

    /// The session that this process serves, a UUID in lower case.
    ///
    /// Read again at each call: a process that was restored from a snapshot may serve another (kagent contract 1.6).
    ///
    /// # Errors
    ///
    /// When its file is missing, can't be read, or holds anything else than `session-` and a UUID.
    #[cfg(feature = "server")]
    pub fn session_id(&self) -> Result<String, ConfigError> {
        let told = self
            .identity_file
            .clone()
            .or_else(|| self.var("KAGENT_IDENTITY_FILE").map(PathBuf::from));
        let (path, text) = match told {
            Some(path) => {
                let text = read(&path)?;
                (path, text)
            }
            None => {
                let path = PathBuf::from(IDENTITY_FILE);
                let text = self.file(&path)?;
                (path, text)
            }
        };
        let identity = |reason: &str| ConfigError::Identity {
            path: path.clone(),
            reason: reason.to_owned(),
        };
        let text = text.ok_or_else(|| {
            identity("the file that names the session is missing; kagent puts it there when it starts a session")
        })?;
        text.trim()
            .strip_prefix("session-")
            .and_then(|id| uuid::Uuid::parse_str(id).ok())
            .map(|id| id.to_string())
            .ok_or_else(|| {
                identity("unexpected runtime actor name: it must be `session-` and a UUID")
            })
    }

    /// Whether a file or directory is there.
    pub(crate) fn exists(&self, path: &Path) -> bool {
        match &self.given {
            Some(given) => given.files.keys().any(|file| file.starts_with(path)),
            None => path.exists(),
        }
    }

    /// The configuration and where it comes from.
    pub(super) fn document(&self) -> Result<Option<(String, Value)>, ConfigError> {
        let Some((origin, text)) = self.text(CONFIG_VAR, "config.json")? else {
            return Ok(None);
        };
        let mut document = serde_json::from_str(&text)
            .map_err(|error| ConfigError::json(origin.clone(), error))?;
        if origin == CONFIG_VAR {
            self.expand(&mut document, &mut String::new())?;
        }
        Ok(Some((origin, document)))
    }

    /// The text of the card and where it comes from.
    pub(super) fn card_text(&self) -> Result<Option<(String, String)>, ConfigError> {
        self.text("KAGENT_AGENT_CARD_JSON", "agent-card.json")
    }

    fn text(&self, var: &str, file: &str) -> Result<Option<(String, String)>, ConfigError> {
        if let Some(text) = self.var(var) {
            return Ok(Some((var.to_owned(), text)));
        }
        let path = self.config_dir.join(file);
        let text = self.file(&path)?.filter(|text| !text.trim().is_empty());
        Ok(text.map(|text| (path.display().to_string(), text)))
    }

    fn file(&self, path: &Path) -> Result<Option<String>, ConfigError> {
        if let Some(given) = &self.given {
            return Ok(given.files.get(path).cloned());
        }
        read(path)
    }

    fn raw_var(&self, name: &str) -> Option<String> {
        match &self.given {
            Some(given) => given.vars.get(name).cloned(),
            None => std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
        }
    }

    /// Replaces each string that is a placeholder as a whole by the variable that it names, once and not again in
    /// what that holds (kagent contract 1.5).
    fn expand(&self, value: &mut Value, path: &mut String) -> Result<(), ConfigError> {
        let length = path.len();
        match value {
            Value::String(text) => {
                let name = text
                    .strip_prefix("__KAGENT_ENV[")
                    .and_then(|rest| rest.strip_suffix("]__"));
                if let Some(name) = name {
                    *text = self.raw_var(name).ok_or_else(|| ConfigError::Field {
                        origin: CONFIG_VAR.to_owned(),
                        path: path.clone(),
                        reason: format!("required environment variable {name} is not set"),
                    })?;
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    path.push_str(&format!("[{index}]"));
                    self.expand(item, path)?;
                    path.truncate(length);
                }
            }
            Value::Object(members) => {
                for (name, member) in members.iter_mut() {
                    if length > 0 {
                        path.push('.');
                    }
                    path.push_str(name);
                    self.expand(member, path)?;
                    path.truncate(length);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("config_dir", &self.config_dir)
            .finish_non_exhaustive()
    }
}

fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ConfigError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

const CONFIG_VAR: &str = "KAGENT_CONFIG_JSON";
const DATA_DIR: &str = "/data";
const CONFIG_DIR: &str = "/config";
#[cfg(feature = "server")]
const IDENTITY_FILE: &str = "/run/kagent/identity/name";
const TOKEN_FILE: &str = "/var/run/secrets/tokens/kagent-token";
