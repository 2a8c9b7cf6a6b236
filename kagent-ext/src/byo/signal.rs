use std::io;

use super::ByoError;

/// What asks the process to stop. From its making on a signal is kept until it is waited for.
#[cfg(unix)]
pub(super) struct Stop {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Stop {
    pub(super) fn listen() -> Result<Self, ByoError> {
        use tokio::signal::unix::{SignalKind, signal};

        let listen = |kind| signal(kind).map_err(|source: io::Error| ByoError::Signal { source });
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    pub(super) async fn received(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// What asks the process to stop.
#[cfg(windows)]
pub(super) struct Stop(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Stop {
    pub(super) fn listen() -> Result<Self, ByoError> {
        let listen = tokio::signal::windows::ctrl_c();
        listen
            .map(Self)
            .map_err(|source: io::Error| ByoError::Signal { source })
    }

    pub(super) async fn received(mut self) {
        self.0.recv().await;
    }
}
