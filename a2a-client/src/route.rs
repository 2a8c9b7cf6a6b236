//! Where calls go: one of the agent's interfaces, and others to turn to until one has been reached.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use a2a_proto::v1::AgentInterface;

use crate::Transport;

/// An interface and the way to it.
pub(crate) struct Route {
    pub(crate) interface: AgentInterface,
    /// Reached by TLS.
    pub(crate) secure: bool,
    /// Where the card is that names this address, if it came from another host.
    pub(crate) advertised_by: Option<String>,
    /// The address as it may be printed.
    pub(crate) endpoint: String,
    pub(crate) transport: Arc<dyn Transport>,
}

/// The routes to an agent, best first. Their places are counted from 0.
pub(crate) struct Routes {
    first: Route,
    others: Vec<Route>,
    current: AtomicUsize,
    /// Once an interface has been reached, calls stay with it: a task is where it was made.
    reached: AtomicBool,
}

impl Routes {
    pub(crate) fn new(first: Route, others: Vec<Route>) -> Self {
        Self {
            first,
            others,
            current: AtomicUsize::new(0),
            reached: AtomicBool::new(false),
        }
    }

    /// The place of the route in use.
    pub(crate) fn place(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    pub(crate) fn at(&self, place: usize) -> &Route {
        let other = place
            .checked_sub(1)
            .and_then(|index| self.others.get(index));
        other.unwrap_or(&self.first)
    }

    pub(crate) fn current(&self) -> &Route {
        self.at(self.place())
    }

    /// The place to turn to when the one at `place` can't be reached.
    pub(crate) fn after(&self, place: usize) -> Option<usize> {
        let reached = self.reached.load(Ordering::Relaxed);
        (!reached && place < self.others.len()).then_some(place + 1)
    }

    /// Notes that the route at `place` leads somewhere.
    pub(crate) fn stay(&self, place: usize) {
        if !self.reached.swap(true, Ordering::Relaxed) {
            self.current.store(place, Ordering::Relaxed);
        }
    }
}
