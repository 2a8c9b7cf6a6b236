use std::path::PathBuf;
use std::time::Duration;

/// What is examined, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    pub(super) target: Target,
    pub(super) pause_with: Option<String>,
    pub(super) say: String,
    pub(super) port: Option<u16>,
    pub(super) readiness_port: Option<u16>,
    pub(super) ready_within: Duration,
    pub(super) data_dir: Option<PathBuf>,
    pub(super) identity_file: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub(super) enum Target {
    Url(String),
    Command(String),
}

impl Options {
    /// Examines an agent that runs, as far as that goes.
    #[must_use]
    pub fn url(url: impl Into<String>) -> Self {
        Self::of(Target::Url(url.into()))
    }

    /// Starts an agent by a shell's command line, with the environment that kagent gives it, and examines it.
    #[must_use]
    pub fn run(command: impl Into<String>) -> Self {
        Self::of(Target::Command(command.into()))
    }

    fn of(target: Target) -> Self {
        Self {
            target,
            pause_with: None,
            say: "Hello, are you there?".to_owned(),
            port: None,
            readiness_port: None,
            ready_within: Duration::from_secs(30),
            data_dir: None,
            identity_file: None,
        }
    }

    /// Sets the text of a message that makes the agent ask a person.
    #[must_use]
    pub fn with_pause(mut self, text: impl Into<String>) -> Self {
        self.pause_with = Some(text.into());
        self
    }

    /// Sets the text of the message that is to be answered.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.say = text.into();
        self
    }

    /// Sets the port on which the agent listens whatever it is told; by default it is told a free one as `runtime.port`.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Sets the port of `/readyz`, which the agent is told as `KAGENT_READINESS_PORT`; 8081 by default.
    #[must_use]
    pub fn with_readiness_port(mut self, port: u16) -> Self {
        self.readiness_port = Some(port);
        self
    }

    /// Sets how long the agent may take until it is ready; 30 seconds by default.
    #[must_use]
    pub fn with_ready_within(mut self, limit: Duration) -> Self {
        self.ready_within = limit;
        self
    }

    /// Sets the directory that a restarted agent finds again. It is emptied before. By default it is one of its own, which
    /// the agent is told as `KAGENT_DATA_DIR`; an agent that knows `/data` only wants that here.
    #[must_use]
    pub fn with_data_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(path.into());
        self
    }

    /// Sets the file that names the session to the agent. By default it is one of its own, which the agent is told as
    /// `KAGENT_IDENTITY_FILE`; an agent that knows kagent's own only wants `/run/kagent/identity/name` here.
    #[must_use]
    pub fn with_identity_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.identity_file = Some(path.into());
        self
    }
}
