//! A second placement: what a shared store would bring, in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use a2a_proto::Struct;
use async_trait::async_trait;
use tokio::sync::broadcast;

use crate::execution::placement::{Lease, News, OnCancel, Placement, Watch};
use crate::store::StoreError;

#[derive(Default)]
pub(crate) struct Hub {
    tasks: Arc<Mutex<HashMap<String, Place>>>,
}

struct Place {
    holder: Option<OnCancel>,
    news: broadcast::Sender<News>,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            holder: None,
            news: broadcast::channel(16).0,
        }
    }
}

/// Lets the task go when it is dropped.
struct Held {
    tasks: Arc<Mutex<HashMap<String, Place>>>,
    task_id: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(place) = self.tasks.lock().unwrap().get_mut(&self.task_id) {
            place.holder = None;
        }
    }
}

struct Watcher(broadcast::Receiver<News>);

#[async_trait]
impl Watch for Watcher {
    async fn next(&mut self) -> Option<News> {
        match self.0.recv().await {
            Ok(news) => Some(news),
            Err(broadcast::error::RecvError::Lagged(_)) => None,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

#[async_trait]
impl Placement for Hub {
    async fn lease(&self, task_id: &str, on_cancel: OnCancel) -> Result<Option<Lease>, StoreError> {
        let mut tasks = self.tasks.lock().unwrap();
        let place = tasks.entry(task_id.to_owned()).or_default();
        if place.holder.is_some() {
            return Ok(None);
        }
        place.holder = Some(on_cancel);
        let held = Held {
            tasks: Arc::clone(&self.tasks),
            task_id: task_id.to_owned(),
        };
        Ok(Some(Lease::holding(held)))
    }

    fn announce(&self, task_id: &str, news: News) {
        let mut tasks = self.tasks.lock().unwrap();
        let _ = tasks.entry(task_id.to_owned()).or_default().news.send(news);
    }

    fn watch(&self, task_id: &str) -> Option<Box<dyn Watch>> {
        let mut tasks = self.tasks.lock().unwrap();
        let place = tasks.entry(task_id.to_owned()).or_default();
        Some(Box::new(Watcher(place.news.subscribe())))
    }

    async fn request_cancel(
        &self,
        task_id: &str,
        metadata: Option<Struct>,
    ) -> Result<bool, StoreError> {
        let holder = {
            let tasks = self.tasks.lock().unwrap();
            tasks.get(task_id).and_then(|place| place.holder.clone())
        };
        let asked = holder.is_some();
        if let Some(holder) = holder {
            holder(metadata);
        }
        Ok(asked)
    }
}
