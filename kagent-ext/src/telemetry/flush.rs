//! Flushing: one at a time, each on a thread of its own, since the exporters' own interface blocks.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
    turns: Arc<Turns>,
}

#[derive(Default)]
struct Turns {
    /// Held by the thread that flushes.
    turn: Arc<Mutex<()>>,
    /// Somebody who does not wait wants a flush that has not begun.
    wanted: AtomicBool,
}

impl Flusher {
    pub(super) fn new(providers: Providers, patience: Duration) -> Self {
        Self {
            providers,
            patience,
            turns: Arc::default(),
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

    /// Begins to flush, behind the flush that is being done.
    pub(super) fn flush_soon(&self) {
        if self.providers.is_empty() {
            return;
        }
        if let Some(turn) = self.turns.wanted() {
            let _ = self.begin(turn, Providers::flush);
        }
    }

    async fn within_patience(&self, work: fn(&Providers)) {
        if self.providers.is_empty() {
            return;
        }
        let done = async {
            let turn = Arc::clone(&self.turns.turn).lock_owned().await;
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
        let turns = Arc::clone(&self.turns);
        // Whoever has asked so far is served by this one.
        turns.wanted.store(false, Ordering::SeqCst);
        let (done, ended) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || {
                work(&providers);
                drop(turn);
                let _ = done.send(());
                while let Some(turn) = turns.next() {
                    providers.flush();
                    drop(turn);
                }
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

impl Turns {
    /// Asks for a flush: the turn, or `None` where whoever has it will see to it.
    fn wanted(&self) -> Option<OwnedMutexGuard<()>> {
        self.wanted.store(true, Ordering::SeqCst);
        Arc::clone(&self.turn).try_lock_owned().ok()
    }

    /// The turn for a flush that somebody wants. To be asked for after a turn was given back: so none is forgotten.
    fn next(&self) -> Option<OwnedMutexGuard<()>> {
        if !self.wanted.load(Ordering::SeqCst) {
            return None;
        }
        let turn = Arc::clone(&self.turn).try_lock_owned().ok()?;
        self.wanted.store(false, Ordering::SeqCst);
        Some(turn)
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
