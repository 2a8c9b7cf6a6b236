//! What reaches a running execution from outside: the wish that it stops, and further messages.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use a2a_proto::v1::{Message, SendMessageRequest};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::context::CallContext;
use crate::executor::CancelReason;

pub(crate) struct Control {
    cancel: CancellationToken,
    reason: Mutex<Option<CancelReason>>,
    mailbox: Mutex<Mailbox>,
    mail: Notify,
    /// Time in AUTH_REQUIRED is the user's, not the executor's.
    clock_stopped: watch::Sender<bool>,
    time_limit: Option<Duration>,
}

/// A message that is stored in the task and waits for the executor.
pub(crate) struct Accepted {
    pub(crate) call: CallContext,
    /// The request without its message.
    pub(crate) request: SendMessageRequest,
    pub(crate) message: Message,
}

struct Mailbox {
    waiting: VecDeque<Accepted>,
    closed: bool,
    /// The call of the message being served: what is stored is stored in its name.
    serving: CallContext,
}

impl Control {
    pub(crate) fn new(
        serving: CallContext,
        time_limit: Option<Duration>,
        waiting: VecDeque<Accepted>,
    ) -> Self {
        Self {
            cancel: CancellationToken::new(),
            reason: Mutex::new(None),
            mailbox: Mutex::new(Mailbox {
                waiting,
                closed: false,
                serving,
            }),
            mail: Notify::new(),
            clock_stopped: watch::Sender::new(false),
            time_limit,
        }
    }

    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// Asks the execution to stop. The first reason stays.
    pub(crate) fn cancel(&self, reason: CancelReason) {
        lock(&self.reason).get_or_insert(reason);
        self.cancel.cancel();
        self.mail.notify_waiters();
    }

    pub(crate) fn cancel_reason(&self) -> Option<CancelReason> {
        lock(&self.reason).clone()
    }

    pub(crate) async fn cancelled(&self) -> CancelReason {
        self.cancel.cancelled().await;
        self.cancel_reason().unwrap_or(CancelReason::Shutdown)
    }

    /// How many messages wait.
    pub(crate) fn waiting(&self) -> usize {
        lock(&self.mailbox).waiting.len()
    }

    /// Puts a message behind the others. Called under the task's lock, after the message has been stored.
    pub(crate) fn deliver(&self, accepted: Accepted) {
        lock(&self.mailbox).waiting.push_back(accepted);
        self.mail.notify_waiters();
    }

    /// Ends the delivery of messages: the sink is closed.
    pub(crate) fn close(&self) {
        lock(&self.mailbox).closed = true;
        self.mail.notify_waiters();
    }

    pub(crate) async fn next_message(&self) -> Option<Message> {
        loop {
            let mut mail = std::pin::pin!(self.mail.notified());
            // Registered before the look, so that no delivery falls between.
            mail.as_mut().enable();
            if self.cancel.is_cancelled() {
                return None;
            }
            {
                let mut mailbox = lock(&self.mailbox);
                if mailbox.closed {
                    return None;
                }
                if let Some(accepted) = mailbox.waiting.pop_front() {
                    mailbox.serving = accepted.call;
                    return Some(accepted.message);
                }
            }
            mail.await;
        }
    }

    /// Takes the messages that the executor did not.
    pub(crate) fn take_waiting(&self) -> VecDeque<Accepted> {
        std::mem::take(&mut lock(&self.mailbox).waiting)
    }

    pub(crate) fn serving(&self) -> CallContext {
        lock(&self.mailbox).serving.clone()
    }

    pub(crate) fn stop_clock(&self, stopped: bool) {
        self.clock_stopped.send_replace(stopped);
    }

    /// Ends when the execution has run for its time limit.
    pub(crate) async fn out_of_time(&self) {
        let Some(mut left) = self.time_limit else {
            return std::future::pending().await;
        };
        let mut stopped = self.clock_stopped.subscribe();
        loop {
            if *stopped.borrow_and_update() {
                // The sender lives in `self`.
                let _ = stopped.changed().await;
                continue;
            }
            let started = tokio::time::Instant::now();
            tokio::select! {
                () = tokio::time::sleep(left) => return,
                _ = stopped.changed() => left = left.saturating_sub(started.elapsed()),
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
