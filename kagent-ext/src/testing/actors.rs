//! The agent's processes: one for each session, or one that runs already.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use a2a_client::Client;
use a2a_proto::{A2aError, Binding};
use tempfile::TempDir;

use crate::byo::{Byo, ByoServer};
use crate::config::Environment;

/// Makes an agent, for the environment of a session.
pub(super) type Image = Arc<dyn Fn(&Environment) -> Byo + Send + Sync>;

/// What the gateway sends messages to.
pub(super) struct Actors {
    kind: Mutex<Kind>,
    /// The sessions' directories and running agents.
    sessions: tokio::sync::Mutex<HashMap<String, Actor>>,
    /// The documents that kagent gives its agents.
    config: String,
    card: String,
}

#[derive(Clone)]
enum Kind {
    Nothing,
    Image(Image),
    Running { url: String, identity: PathBuf },
}

struct Actor {
    directory: TempDir,
    server: Option<ByoServer>,
}

impl Actors {
    pub(super) fn new(config: String, card: String) -> Self {
        Self {
            kind: Mutex::new(Kind::Nothing),
            sessions: tokio::sync::Mutex::default(),
            config,
            card,
        }
    }

    pub(super) fn run(&self, image: Image) {
        self.set(Kind::Image(image));
    }

    pub(super) fn attach(&self, url: String, identity: PathBuf) {
        self.set(Kind::Running { url, identity });
    }

    /// A client of the agent of that session, which is started where it does not run.
    pub(super) async fn client(&self, session: &str) -> Result<Client, A2aError> {
        let url = self.url(session).await.map_err(unavailable)?;
        Client::builder()
            .from_endpoint(Binding::Grpc, url)
            .map_err(unavailable)
    }

    /// The environment in which the agent of that session runs.
    pub(super) async fn environment(&self, session: &str) -> io::Result<Environment> {
        let mut sessions = self.sessions.lock().await;
        let actor = actor(&mut sessions, session)?;
        self.environment_in(actor.directory.path())
    }

    /// Stops the agent of a session; its directory stays.
    pub(super) async fn stop(&self, session: &str) {
        let stopped = match self.sessions.lock().await.get_mut(session) {
            Some(actor) => actor.server.take(),
            None => None,
        };
        if let Some(server) = stopped {
            server.shutdown().await;
        }
    }

    /// Drops the agent of a session; its directory stays.
    pub(super) async fn kill(&self, session: &str) {
        if let Some(actor) = self.sessions.lock().await.get_mut(session) {
            actor.server.take();
        }
    }

    /// Stops all agents.
    pub(super) async fn stop_all(&self) {
        let sessions: Vec<String> = self.sessions.lock().await.keys().cloned().collect();
        for session in sessions {
            self.stop(&session).await;
        }
    }

    async fn url(&self, session: &str) -> Result<String, StartError> {
        let kind = self
            .kind
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        match kind {
            Kind::Nothing => Err("no agent runs: call Controller::run or attach".into()),
            Kind::Running { url, identity } => {
                write_identity(&identity, session)?;
                Ok(url)
            }
            Kind::Image(image) => {
                let mut sessions = self.sessions.lock().await;
                let actor = actor(&mut sessions, session)?;
                let server = match &actor.server {
                    Some(server) => server,
                    None => {
                        let environment = self.environment_in(actor.directory.path())?;
                        let byo = image(&environment)
                            .environment(environment)
                            .listen("127.0.0.1:0")
                            .readiness_port(0);
                        actor.server.insert(byo.bind().await?)
                    }
                };
                Ok(format!("http://{}", server.local_addr()))
            }
        }
    }

    fn environment_in(&self, directory: &Path) -> io::Result<Environment> {
        Ok(Environment::empty()
            .with_var("KAGENT_CONFIG_JSON", &self.config)
            .with_var("KAGENT_AGENT_CARD_JSON", &self.card)
            .with_identity_file(directory.join(IDENTITY))
            .with_data_dir(directory.join(DATA)))
    }

    fn set(&self, kind: Kind) {
        *self.kind.lock().unwrap_or_else(PoisonError::into_inner) = kind;
    }
}

impl fmt::Debug for Actors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actors").finish_non_exhaustive()
    }
}

fn actor<'a>(sessions: &'a mut HashMap<String, Actor>, session: &str) -> io::Result<&'a mut Actor> {
    if !sessions.contains_key(session) {
        let directory = tempfile::Builder::new().prefix("kagent-").tempdir()?;
        std::fs::create_dir(directory.path().join(DATA))?;
        write_identity(&directory.path().join(IDENTITY), session)?;
        let actor = Actor {
            directory,
            server: None,
        };
        sessions.insert(session.to_owned(), actor);
    }
    sessions
        .get_mut(session)
        .ok_or_else(|| io::Error::other("the session has ended"))
}

/// Names the session to the agent, in one step: it may be reading.
fn write_identity(file: &Path, session: &str) -> io::Result<()> {
    let beside = file.with_extension("new");
    std::fs::write(&beside, format!("session-{session}\n"))?;
    std::fs::rename(beside, file)
}

type StartError = Box<dyn std::error::Error + Send + Sync>;

fn unavailable(error: impl Into<StartError>) -> A2aError {
    A2aError::internal("failed to connect to Session runtime").with_source(error)
}

const IDENTITY: &str = "identity";
const DATA: &str = "data";
