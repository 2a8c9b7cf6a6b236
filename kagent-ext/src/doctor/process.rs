//! The agent under examination: a process of ours, or one that runs.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use a2a_client::{Client, ClientBuilder};
use a2a_proto::Binding;
use serde_json::json;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::options::Target;
use super::{Check, Options, Report, brief, probe};
use crate::testing::Controller;

pub(super) struct Patient {
    pub(super) kagent: Controller,
    /// Where gRPC is.
    pub(super) url: String,
    pub(super) host: String,
    pub(super) readiness_port: u16,
    /// The session that it serves.
    pub(super) session: String,
    ready_within: Duration,
    program: Option<Program>,
}

/// A process that is started as kagent does.
struct Program {
    command: String,
    config: String,
    card: String,
    readiness_port: u16,
    identity: PathBuf,
    data: PathBuf,
    _directory: TempDir,
    child: Option<Child>,
}

impl Patient {
    pub(super) async fn admit(options: &Options) -> io::Result<Self> {
        let kagent = Controller::start().await?;
        let session = kagent.new_session(USER);
        let readiness_port = options.readiness_port.unwrap_or(READINESS_PORT);
        let (url, host, program) = match &options.target {
            Target::Url(url) => {
                let url = if url.contains("://") {
                    url.clone()
                } else {
                    format!("http://{url}")
                };
                let uri: http::Uri = url.parse().map_err(io::Error::other)?;
                let host = uri.host().unwrap_or("127.0.0.1").to_owned();
                (url, host, None)
            }
            Target::Command(command) => {
                let port = match options.port {
                    Some(port) => port,
                    None => free_port()?,
                };
                let mut program = Program::new(command, port, readiness_port, &kagent, options)?;
                program.start()?;
                (
                    format!("http://127.0.0.1:{port}"),
                    "127.0.0.1".to_owned(),
                    Some(program),
                )
            }
        };
        Ok(Self {
            kagent,
            url,
            host,
            readiness_port,
            session,
            ready_within: options.ready_within,
            program,
        })
    }

    /// Whether it was started here, so that the environment is known.
    pub(super) fn is_ours(&self) -> bool {
        self.program.is_some()
    }

    pub(super) async fn wait_until_ready(&mut self, report: &mut Report) {
        if self.program.is_none() {
            return report.skip(Check::ReadyInTime, "the agent runs already: use --run");
        }
        let begun = Instant::now();
        let ready = self.becomes_ready(self.ready_within).await;
        report.tell(Check::ReadyInTime, ready, || match self.exited() {
            Some(status) => format!("the program ended with {status}"),
            None => format!("not ready after {} s", begun.elapsed().as_secs()),
        });
        if !ready {
            // What else is wrong may be seen later than it should.
            self.becomes_ready(MUCH_LATER.saturating_sub(self.ready_within))
                .await;
        }
    }

    async fn becomes_ready(&mut self, limit: Duration) -> bool {
        let wait = async {
            while self.exited().is_none() {
                let ready = probe::ready_on(probe::LOCALHOSTS, self.readiness_port).await;
                if ready.iter().any(Result::is_ok) {
                    return true;
                }
                tokio::time::sleep(POLL).await;
            }
            false
        };
        tokio::time::timeout(limit, wait).await.unwrap_or(false)
    }

    pub(super) fn exited(&mut self) -> Option<ExitStatus> {
        let child = self.program.as_mut()?.child.as_mut()?;
        child.try_wait().ok().flatten()
    }

    pub(super) fn check_quiet_start(&self, report: &mut Report) {
        if !self.is_ours() {
            return report.skip(Check::QuietStart, "the agent runs already: use --run");
        }
        let calls = self.kagent.calls();
        report.tell(Check::QuietStart, calls.is_empty(), || {
            format!("{} calls, the first: {:?}", calls.len(), calls.first())
        });
    }

    /// Names the session to the agent.
    pub(super) fn assign(&self) -> io::Result<()> {
        let Some(program) = &self.program else {
            return Ok(());
        };
        if let Some(directory) = program.identity.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&program.identity, format!("session-{}\n", self.session))
    }

    /// Kills the process and starts it anew, with the directory that kagent keeps.
    pub(super) async fn cold_boot(&mut self) -> io::Result<bool> {
        let Some(program) = &mut self.program else {
            return Ok(false);
        };
        if let Some(mut child) = program.child.take() {
            child.kill().await?;
        }
        program.start()?;
        Ok(self.becomes_ready(MUCH_LATER).await)
    }

    pub(super) async fn discharge(&mut self, report: &mut Report) {
        let Some(program) = &mut self.program else {
            return report.skip(Check::Terminates, "the agent is not ours to end: use --run");
        };
        let Some(mut child) = program.child.take() else {
            return;
        };
        if let Ok(Some(status)) = child.try_wait() {
            return report.fail(
                Check::Terminates,
                format!("it has ended by itself with {status}"),
            );
        }
        if let Err(lacks) = terminate(&child) {
            return report.skip(Check::Terminates, lacks);
        }
        let ended = tokio::time::timeout(TERMINATION, child.wait()).await;
        report.tell(Check::Terminates, ended.is_ok(), || {
            format!("it runs {} s after the signal", TERMINATION.as_secs())
        });
        if ended.is_err() {
            let _ = child.kill().await;
        }
    }

    /// A client of the agent, as the gateway is one.
    pub(super) fn client(&self, builder: ClientBuilder) -> Result<Client, String> {
        let dispatch = self.kagent.dispatch(&self.session);
        builder
            .header("x-kagent-dispatch-id", dispatch)
            .header("x-user-id", USER)
            .from_endpoint(Binding::Grpc, &*self.url)
            .map_err(|error| brief(&error))
    }
}

impl Program {
    fn new(
        command: &str,
        port: u16,
        readiness_port: u16,
        kagent: &Controller,
        options: &Options,
    ) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("byo-doctor-").tempdir()?;
        let own = |name: &str| directory.path().join(name);
        let data = options.data_dir.clone().unwrap_or_else(|| own("data"));
        fs::create_dir_all(&data)?;
        for entry in fs::read_dir(&data)? {
            let path = entry?.path();
            match path.is_dir() {
                true => fs::remove_dir_all(path)?,
                false => fs::remove_file(path)?,
            }
        }
        let config = json!({"runtime": {
            "name": "agent", "namespace": "default", "port": port,
            "control_plane_url": kagent.url(), "gateway_url": kagent.url(),
        }});
        let card = json!({
            "name": "agent", "description": "An agent under examination", "version": "v1",
            "supportedInterfaces": [
                {"url": format!("http://127.0.0.1:{port}"), "protocolBinding": "GRPC", "protocolVersion": "1.0"}
            ],
            "capabilities": {"streaming": true}, "skills": [],
            "defaultInputModes": ["text"], "defaultOutputModes": ["text"],
        });
        Ok(Self {
            command: command.to_owned(),
            config: config.to_string(),
            card: card.to_string(),
            readiness_port,
            identity: options
                .identity_file
                .clone()
                .unwrap_or_else(|| own("identity/name")),
            data,
            _directory: directory,
            child: None,
        })
    }

    fn start(&mut self) -> io::Result<()> {
        let mut shell = if cfg!(windows) {
            Command::new("cmd")
        } else {
            Command::new("sh")
        };
        if cfg!(windows) {
            shell.args(["/C", &self.command]);
        } else {
            // The signal is to reach the program, not a shell that waits for it.
            shell.args(["-c", &format!("exec {}", self.command)]);
        }
        let child = shell
            .env("KAGENT_CONFIG_JSON", &self.config)
            .env("KAGENT_AGENT_CARD_JSON", &self.card)
            .env("KAGENT_IDENTITY_FILE", &self.identity)
            .env("KAGENT_DATA_DIR", &self.data)
            .env("KAGENT_READINESS_PORT", self.readiness_port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        self.child = Some(child);
        Ok(())
    }
}

#[cfg(unix)]
fn terminate(child: &Child) -> Result<(), String> {
    use rustix::process::{Pid, Signal, kill_process};

    let pid = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    let pid = pid.ok_or("the process has no id")?;
    kill_process(pid, Signal::TERM).map_err(|error| error.to_string())
}

#[cfg(not(unix))]
fn terminate(_: &Child) -> Result<(), String> {
    Err("this system has no SIGTERM".to_owned())
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

const USER: &str = "admin@kagent.dev";
const READINESS_PORT: u16 = 8081;
const POLL: Duration = Duration::from_millis(50);
/// How long an agent that is late is waited for.
const MUCH_LATER: Duration = Duration::from_secs(60);
const TERMINATION: Duration = Duration::from_secs(10);
