//! Flushing: one at a time, each on a thread of its own, since the exporters' own interface blocks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};

use super::running::Providers;

pub(super) struct Flusher {
    providers: Providers,
    /// How long whoever asks for it waits.
    patience: Duration,
    /// Held by the thread that flushes.
    turn: Arc<Mutex<()>>,
}

impl Flusher {
    pub(super) fn new(providers: Providers, patience: Duration) -> Self {
        Self {
            providers,
            patience,
            turn: Arc::default(),
        }
    }

    pub(super) fn providers(&self) -> &Providers {
        &self.providers
    }

    /// Flushes everything that has been recorded so far; gives up when it takes too long.
    pub(super) async fn flush(&self) {
        self.within_patience(Providers::flush).await;
    }

    /// Flushes, and lets go of all connections.
    pub(super) async fn shut_down(&self) {
        self.within_patience(Providers::shut_down).await;
    }

    /// Begins to flush unless that is being done.
    pub(super) fn flush_soon(&self) {
        if self.providers.is_empty() {
            return;
        }
        if let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() {
            let _ = self.begin(turn, Providers::flush);
        }
    }

    async fn within_patience(&self, work: fn(&Providers)) {
        if self.providers.is_empty() {
            return;
        }
        let done = async {
            let turn = Arc::clone(&self.turn).lock_owned().await;
            if let Some(done) = self.begin(turn, work) {
                let _ = done.await;
            }
        };
        if tokio::time::timeout(self.patience, done).await.is_err() {
            tracing::warn!("telemetry was not flushed in time");
        }
    }

    /// Begins on a thread that outlives a runtime, so that a collector which hangs holds up nobody.
    fn begin(
        &self,
        turn: OwnedMutexGuard<()>,
        work: fn(&Providers),
    ) -> Option<oneshot::Receiver<()>> {
        let providers = self.providers.clone();
        let (done, ended) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || {
                work(&providers);
                drop(turn);
                let _ = done.send(());
            });
        match thread {
            Ok(_detached) => Some(ended),
            Err(error) => {
                tracing::warn!(error = %error, "telemetry can't be flushed");
                None
            }
        }
    }
}

impl Providers {
    /// All signals side by side: one collector that hangs takes nothing from the others.
    fn flush(&self) {
        self.each(
            |traces| drop(traces.force_flush()),
            |metrics| drop(metrics.force_flush()),
            |logs| drop(logs.force_flush()),
        );
    }

    fn shut_down(&self) {
        self.each(
            |traces| drop(traces.shutdown()),
            |metrics| drop(metrics.shutdown()),
            |logs| drop(logs.shutdown()),
        );
    }

    /// A failure is logged where it happens. Afterwards no connection is left that a snapshot would hold.
    fn each(
        &self,
        traces: impl FnOnce(&SdkTracerProvider) + Send,
        metrics: impl FnOnce(&SdkMeterProvider) + Send,
        logs: impl FnOnce(&SdkLoggerProvider) + Send,
    ) {
        std::thread::scope(|scope| {
            if let Some(provider) = &self.traces {
                scope.spawn(|| traces(provider));
            }
            if let Some(provider) = &self.metrics {
                scope.spawn(|| metrics(provider));
            }
            if let Some(provider) = &self.logs {
                scope.spawn(|| logs(provider));
            }
        });
        for let_go in &self.let_go {
            let_go();
        }
    }
}

impl Drop for Flusher {
    /// The last owner of a provider shuts it down and waits for that, which no runtime should.
    fn drop(&mut self) {
        let providers = std::mem::take(&mut self.providers);
        if !providers.is_empty() {
            let _ = std::thread::Builder::new()
                .name("telemetry".to_owned())
                .spawn(move || drop(providers));
        }
    }
}

impl fmt::Debug for Flusher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flusher")
            .field("providers", &self.providers)
            .finish_non_exhaustive()
    }
}
