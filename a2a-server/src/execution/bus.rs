//! The published side of a task: its state as everybody may see it, and the bounded window of events that readers
//! with a cursor go through.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_proto::v1::{StreamResponse, Task, TaskState};
use futures_core::Stream;
use prost::Message as _;
use tokio::sync::{Notify, oneshot};

use crate::event::Event;

/// How much the window holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) events: usize,
    pub(crate) bytes: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            events: 65_536,
            bytes: 16 << 20,
        }
    }
}

/// What ends a wait for the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    Boundary,
    Terminal,
}

pub(crate) type Outcome = Result<Arc<Task>, A2aError>;

pub(crate) struct Bus {
    inner: Mutex<Inner>,
    window: Window,
    max_cursors: usize,
    /// Told when a reader has read.
    space: Notify,
}

struct Inner {
    /// `None` while nothing is known: not yet loaded, or in doubt after a failed save.
    task: Option<Arc<Task>>,
    /// The position of the first slot.
    first: u64,
    slots: VecDeque<Slot>,
    bytes: usize,
    cursors: HashMap<u64, Cursor>,
    next_cursor: u64,
    waiters: Vec<(Until, oneshot::Sender<Outcome>)>,
}

struct Slot {
    item: Result<Event, A2aError>,
    size: usize,
    /// How many cursors have yet to read it.
    unread: usize,
}

struct Cursor {
    position: u64,
    waker: Option<Waker>,
}

impl Bus {
    pub(crate) fn new(window: Window, max_cursors: usize) -> Self {
        let inner = Inner {
            task: None,
            first: 0,
            slots: VecDeque::new(),
            bytes: 0,
            cursors: HashMap::new(),
            next_cursor: 0,
            waiters: Vec::new(),
        };
        Self {
            inner: Mutex::new(inner),
            window,
            max_cursors,
            space: Notify::new(),
        }
    }

    /// The task as published.
    pub(crate) fn task(&self) -> Option<Arc<Task>> {
        self.lock().task.clone()
    }

    /// Sets the task as it has been read from the store. Whoever reads the stream already gets it as a snapshot: it
    /// was changed where nobody here could see it.
    pub(crate) fn load(&self, task: Arc<Task>) {
        let mut inner = self.lock();
        if !inner.cursors.is_empty() {
            let snapshot = Event::from(StreamResponse::from(Task::clone(&task)));
            inner.push(Ok(snapshot), self.window);
        }
        inner.task = Some(task);
    }

    /// Changes the task in place and publishes the event that did it, in one step for every reader.
    ///
    /// `change` runs under the lock and must be quick. When it fails, the task is whatever it left.
    pub(crate) fn change<E>(
        &self,
        event: &Event,
        change: impl FnOnce(&mut Arc<Task>) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        let mut inner = self.lock();
        let outcome = change(inner.task.as_mut()?);
        if outcome.is_ok() {
            inner.push(Ok(event.clone()), self.window);
            inner.resolve_waiters(event.state());
        }
        Some(outcome)
    }

    /// Publishes a task together with the event that led to it.
    pub(crate) fn publish(&self, task: Arc<Task>, event: &Event) {
        let mut inner = self.lock();
        inner.task = Some(task);
        inner.push(Ok(event.clone()), self.window);
        inner.resolve_waiters(event.state());
    }

    /// Ends all streams and waits with an error. With `task` the state becomes that one, without it is unknown.
    pub(crate) fn fail(&self, error: &A2aError, task: Option<Arc<Task>>) {
        let mut inner = self.lock();
        inner.task = task;
        inner.push(Err(error.clone()), self.window);
        for (_, waiter) in inner.waiters.drain(..) {
            let _ = waiter.send(Err(error.clone()));
        }
    }

    /// Takes the snapshot and a cursor behind it in one step, so that nothing falls between.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
    ) -> Option<Result<(Arc<Task>, Subscription), A2aError>> {
        let mut inner = self.lock();
        let task = inner.task.clone()?;
        if inner.cursors.len() >= self.max_cursors {
            return Some(Err(A2aError::resource_exhausted(
                "too many streams on this task",
            )
            .with_retry_after(Duration::from_secs(1))));
        }
        let id = inner.next_cursor;
        inner.next_cursor += 1;
        let position = inner.end();
        inner.cursors.insert(
            id,
            Cursor {
                position,
                waker: None,
            },
        );
        let subscription = Subscription {
            bus: Arc::clone(self),
            cursor: Some(id),
        };
        Some(Ok((task, subscription)))
    }

    /// Waits for the next event of that kind. Called under the task's lock.
    pub(crate) fn wait(&self, until: Until) -> oneshot::Receiver<Outcome> {
        let (sender, receiver) = oneshot::channel();
        let mut inner = self.lock();
        inner.waiters.retain(|(_, waiter)| !waiter.is_closed());
        inner.waiters.push((until, sender));
        receiver
    }

    /// Whether somebody reads the stream.
    pub(crate) fn has_readers(&self) -> bool {
        !self.lock().cursors.is_empty()
    }

    /// Whether nobody reads the stream or waits for the task.
    pub(crate) fn is_deserted(&self) -> bool {
        let inner = self.lock();
        inner.cursors.is_empty() && inner.waiters.iter().all(|(_, waiter)| waiter.is_closed())
    }

    /// Ends when the last reader has left.
    pub(crate) async fn deserted(&self) {
        loop {
            let mut left = std::pin::pin!(self.space.notified());
            left.as_mut().enable();
            if self.is_deserted() {
                return;
            }
            left.await;
        }
    }

    /// Waits until the reader with that cursor is behind by at most half a window, or is gone.
    pub(crate) async fn caught_up(&self, cursor: u64) {
        loop {
            let mut space = std::pin::pin!(self.space.notified());
            space.as_mut().enable();
            if !self.lock().is_behind(cursor, self.window) {
                return;
            }
            space.await;
        }
    }

    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.lock().slots.len()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The position behind the last slot.
    fn end(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    fn push(&mut self, item: Result<Event, A2aError>, window: Window) {
        if self.cursors.is_empty() {
            return;
        }
        let size = item
            .as_ref()
            .map_or(0, |event| event.response().encoded_len());
        self.bytes += size;
        // Those that have fallen behind count too: who leaves gives back what it has not read.
        let unread = self.cursors.len();
        self.slots.push_back(Slot { item, size, unread });
        while self.slots.len() > 1
            && (self.slots.len() > window.events || self.bytes > window.bytes)
        {
            self.pop();
        }
        for cursor in self.cursors.values_mut() {
            if let Some(waker) = cursor.waker.take() {
                waker.wake();
            }
        }
    }

    fn pop(&mut self) {
        if let Some(slot) = self.slots.pop_front() {
            self.bytes -= slot.size;
            self.first += 1;
        }
    }

    /// Frees what every cursor has read.
    fn free(&mut self) {
        while self.slots.front().is_some_and(|slot| slot.unread == 0) {
            self.pop();
        }
    }

    fn resolve_waiters(&mut self, state: Option<TaskState>) {
        let Some(state) = state else { return };
        let Some(task) = self.task.clone() else {
            return;
        };
        let ended = |until: Until| match until {
            Until::Boundary => state.is_boundary(),
            Until::Terminal => state.is_terminal(),
        };
        for (_, waiter) in self.waiters.extract_if(.., |(until, _)| ended(*until)) {
            let _ = waiter.send(Ok(Arc::clone(&task)));
        }
    }

    fn is_behind(&self, cursor: u64, window: Window) -> bool {
        let Some(cursor) = self.cursors.get(&cursor) else {
            return false;
        };
        let backlog = self.end().saturating_sub(cursor.position);
        backlog > 0 && (backlog as usize > window.events / 2 || self.bytes > window.bytes / 2)
    }

    fn slot_mut(&mut self, position: u64) -> Option<&mut Slot> {
        let index = position.checked_sub(self.first)?;
        self.slots.get_mut(usize::try_from(index).ok()?)
    }
}

/// The events of a task from some moment on.
///
/// Ends behind the event that closes the stream, and behind an error. Dropping it ends the subscription only.
pub(crate) struct Subscription {
    bus: Arc<Bus>,
    cursor: Option<u64>,
}

impl Subscription {
    pub(crate) fn cursor(&self) -> Option<u64> {
        self.cursor
    }

    fn leave(&mut self) {
        let Some(id) = self.cursor.take() else { return };
        let mut inner = self.bus.lock();
        if let Some(cursor) = inner.cursors.remove(&id) {
            let from = cursor.position.max(inner.first);
            for position in from..inner.end() {
                if let Some(slot) = inner.slot_mut(position) {
                    slot.unread = slot.unread.saturating_sub(1);
                }
            }
            inner.free();
        }
        drop(inner);
        self.bus.space.notify_waiters();
    }
}

impl Stream for Subscription {
    type Item = Result<Event, A2aError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(id) = self.cursor else {
            return Poll::Ready(None);
        };
        let item = {
            let mut inner = self.bus.lock();
            let (first, end) = (inner.first, inner.end());
            let Some(cursor) = inner.cursors.get_mut(&id) else {
                return Poll::Ready(None);
            };
            if cursor.position < first {
                Err(behind())
            } else if cursor.position >= end {
                if !cursor
                    .waker
                    .as_ref()
                    .is_some_and(|waker| waker.will_wake(cx.waker()))
                {
                    cursor.waker = Some(cx.waker().clone());
                }
                return Poll::Pending;
            } else {
                let position = cursor.position;
                cursor.position += 1;
                let Some(slot) = inner.slot_mut(position) else {
                    return Poll::Ready(None);
                };
                slot.unread = slot.unread.saturating_sub(1);
                let item = slot.item.clone();
                inner.free();
                item
            }
        };
        let ends = item.as_ref().map_or(true, Event::closes);
        if ends {
            self.leave();
        } else {
            self.bus.space.notify_waiters();
        }
        Poll::Ready(Some(item))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.leave();
    }
}

fn behind() -> A2aError {
    A2aError::unavailable("the stream fell too far behind the task; subscribe again")
        .with_retry_after(Duration::ZERO)
}

#[cfg(test)]
mod tests;
