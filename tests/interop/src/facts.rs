//! Whether the official SDKs still behave on the wire as our tests without them take for granted.

#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value has null for what it lacks"
)]

mod agents;
mod clients;
mod probe;
mod record;
mod web;

use std::error::Error;

use serde_json::{Value, json};

pub(crate) use record::Recorder;

/// What was found about one fact: a line of the runner's input.
pub(crate) struct Finding {
    fact: &'static str,
    what: &'static str,
    /// What was seen instead, if the fact has changed.
    changed: Option<String>,
}

impl Finding {
    pub(crate) fn to_json(&self) -> Value {
        json!({"fact": self.fact, "what": self.what, "changed": self.changed})
    }
}

/// Asks the agent of an SDK, whose card is at that address.
pub(crate) async fn of_agent(sdk: &str, url: &str) -> Result<Vec<Finding>, Box<dyn Error>> {
    agents::ask(sdk, url).await
}

/// Looks through what the client of an SDK has sent, as it was recorded.
pub(crate) fn of_client(sdk: &str, record: &str) -> Result<Vec<Finding>, Box<dyn Error>> {
    clients::look_through(sdk, record)
}
