//! What `slow` waits for and `release` opens.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

/// Gates by key. One that was opened before somebody came to it is open all the same.
#[derive(Default)]
pub(super) struct Gates(Mutex<BTreeMap<String, Arc<Semaphore>>>);

impl Gates {
    pub(super) fn open(&self, key: &str) {
        self.gate(key).add_permits(1);
    }

    pub(super) async fn pass(&self, key: &str) {
        if let Ok(permit) = self.gate(key).acquire().await {
            permit.forget();
        }
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(key);
    }

    fn gate(&self, key: &str) -> Arc<Semaphore> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = gates
            .entry(key.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(0)));
        Arc::clone(gate)
    }
}
