use std::fmt;
use std::io;
use std::net::SocketAddr;

use a2a_proto::error::WithCauses;
use a2a_server::{BuildError, ServeError};

use crate::config::ConfigError;
use crate::task_store::ControllerError;

/// Why a byo agent does not start.
///
/// Returned from `main`, it prints itself with all its causes.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ByoError {
    /// The configuration is wrong.
    #[error("the configuration of the agent is wrong")]
    Config(#[from] ConfigError),
    /// The agent can't be put together.
    #[error("the agent can't be put together")]
    Build(#[from] BuildError),
    /// The limits let several executions run at once.
    #[error(
        "an agent of kagent's runs one execution at a time, not {limit}: set `Limits::executions(1)`"
    )]
    Executions {
        /// How many they let run.
        limit: usize,
    },
    /// The agent's address can't be listened on.
    #[error("the agent can't listen; choose another address with `Byo::listen`")]
    Listen(#[from] ServeError),
    /// The port of `/readyz` can't be listened on.
    #[error(
        "the readiness port {port} can't be listened on; stop what listens there, or choose another with \
         `Byo::readiness_port`"
    )]
    Readiness {
        /// The port.
        port: u16,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The environment is that of kagent 0.x.
    #[error(
        "KAGENT_URL without a control_plane_url is kagent 0.x, whose task store is another; kagent 1.0 sets \
         KAGENT_CONFIG_JSON with `runtime.control_plane_url`, `gateway_url`, `name` and `namespace`. To run on this \
         machine only, unset KAGENT_URL or call `byo::run_local`"
    )]
    Kagent0,
    /// The environment is that of a cluster, and does not say where its controller is.
    #[error(
        "this is a kagent cluster, and neither KAGENT_CONFIG_JSON nor `config.json` in the configuration directory has \
         `runtime` with `control_plane_url`, `gateway_url`, `name` and `namespace`, without which tasks would be lost \
         whenever the process is suspended. To run on this machine only, call `byo::run_local`"
    )]
    NoRuntime,
    /// The port that kagent dials can't be listened on.
    #[error(
        "{address} can't be listened on, and kagent dials no other port: {}",
        remedy(source)
    )]
    ClusterPort {
        /// Where the agent was to listen.
        address: SocketAddr,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The configured host is no address of a machine.
    #[error("runtime.host must be an IP address, or empty for all, not `{host}`")]
    Host {
        /// What it is.
        host: String,
    },
    /// A variable that names a port holds something else.
    #[error("{variable} must be a port within 1 to 65535, not `{value}`")]
    Port {
        /// The variable.
        variable: &'static str,
        /// What it holds.
        value: String,
    },
    /// The client of the controller can't be made.
    #[error("the client of the controller's task store can't be made")]
    TaskStore(#[from] ControllerError),
    /// Telemetry can't be set up.
    #[cfg(feature = "otel")]
    #[error("telemetry can't be set up")]
    Telemetry(#[from] crate::telemetry::TelemetryError),
    /// There is a runtime already.
    #[error(
        "`run` makes a runtime of its own; inside of one, call `Byo::new(executor).serve().await`"
    )]
    InsideRuntime,
    /// No runtime can be made.
    #[error("no runtime can be made")]
    Runtime {
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Signals can't be listened to.
    #[error("signals can't be listened to")]
    Signal {
        /// The cause.
        #[source]
        source: io::Error,
    },
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "the image's user may not bind it; give the binary the capability (`setcap cap_net_bind_service=+ep`), or \
             let the kernel (`net.ipv4.ip_unprivileged_port_start=80`)"
        }
        io::ErrorKind::AddrInUse => "something else in the image listens there; stop it",
        _ => "the cause says why",
    }
}

impl fmt::Debug for ByoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&WithCauses(self), f)
    }
}
