//! Token usage of a task over its whole life (kagent contract 4).
//!
//! The agent adds up what each model call reports in a [`UsageMeter`]; `UsageExtension` writes the sum to every event
//! that ends an execution. A client reads it with [`Usage::of`] and replaces what it read before: it never adds.

#[cfg(feature = "server")]
mod extension;
mod meter;
mod provider;

use std::collections::BTreeMap;

use a2a_proto::Struct;
use a2a_proto::v1::Task;
use serde_json::{Map, Value};

use crate::uri;

#[cfg(feature = "server")]
pub use extension::UsageExtension;
pub use meter::UsageMeter;

/// The tokens that a task has used so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    total: TokenCounts,
    models: BTreeMap<String, TokenCounts>,
}

/// Tokens by kind.
///
/// ```
/// use kagent_ext::usage::TokenCounts;
///
/// let counts = TokenCounts::new(300, 60).with_reasoning(40);
/// assert_eq!(counts.total, 0);
/// assert_eq!(counts.with_derived_total().total, 400);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TokenCounts {
    /// What the model read, cached tokens included.
    pub input: u64,
    /// What it wrote, reasoning left out.
    pub output: u64,
    /// What it thought.
    pub reasoning: u64,
    /// The part of `input` that came from a cache.
    pub cached_input: u64,
    /// The provider's own total, which may be more than the sum of the others; 0 where it gave none.
    pub total: u64,
}

impl Usage {
    /// What a task says about itself; `None` where it says nothing.
    #[must_use]
    pub fn of(task: &Task) -> Option<Self> {
        Self::from_metadata(task.metadata.as_ref()?)
    }

    /// What the metadata of a task, or of the event that ends an execution, say.
    #[must_use]
    pub fn from_metadata(metadata: &Struct) -> Option<Self> {
        let payload = metadata.get(uri::USAGE)?.as_object()?;
        let mut usage = Self {
            total: TokenCounts::read(payload),
            models: BTreeMap::new(),
        };
        let models = payload.get("models").and_then(Value::as_array);
        for entry in models.into_iter().flatten().filter_map(Value::as_object) {
            if let Some(model) = entry.get("model").and_then(Value::as_str) {
                usage.add_model(model, TokenCounts::read(entry));
            }
        }
        Some(usage)
    }

    /// Writes the usage into metadata. Without any it writes nothing.
    pub fn write_to(&self, metadata: &mut Struct) {
        if !self.is_zero() {
            metadata.insert(uri::USAGE.to_owned(), self.payload());
        }
    }

    /// All models together.
    #[must_use]
    pub fn total(&self) -> TokenCounts {
        self.total
    }

    /// Each model that was named, in the order of the bytes of their names. Together they may be less than the total.
    pub fn models(&self) -> impl Iterator<Item = (&str, TokenCounts)> {
        self.models
            .iter()
            .map(|(model, counts)| (model.as_str(), *counts))
    }

    /// Whether nothing was used.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.total == TokenCounts::default()
    }

    /// Adds one model call, or several together. An empty model is one without a name.
    pub fn add(&mut self, model: &str, counts: TokenCounts) {
        self.total = self.total.plus(counts);
        self.add_model(model, counts);
    }

    fn add_model(&mut self, model: &str, counts: TokenCounts) {
        if !model.is_empty() {
            let sum = self.models.entry(model.to_owned()).or_default();
            *sum = sum.plus(counts);
        }
    }

    fn payload(&self) -> Value {
        let mut payload = self.total.object();
        if !self.models.is_empty() {
            let entry = |(model, counts): (&String, &TokenCounts)| {
                let mut entry = counts.object();
                entry.insert("model".to_owned(), Value::from(model.as_str()));
                Value::Object(entry)
            };
            let models = self.models.iter().map(entry).collect();
            payload.insert("models".to_owned(), Value::Array(models));
        }
        Value::Object(payload)
    }
}

impl TokenCounts {
    /// Counts of what was read and written.
    #[must_use]
    pub const fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            output,
            reasoning: 0,
            cached_input: 0,
            total: 0,
        }
    }

    /// Sets what was thought.
    #[must_use]
    pub const fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning = tokens;
        self
    }

    /// Sets the part of the input that came from a cache.
    #[must_use]
    pub const fn with_cached_input(mut self, tokens: u64) -> Self {
        self.cached_input = tokens;
        self
    }

    /// Sets the provider's own total.
    #[must_use]
    pub const fn with_total(mut self, tokens: u64) -> Self {
        self.total = tokens;
        self
    }

    /// Fills a missing total with the sum of input, output and reasoning.
    #[must_use]
    pub const fn with_derived_total(mut self) -> Self {
        if self.total == 0 {
            self.total = self
                .input
                .saturating_add(self.output)
                .saturating_add(self.reasoning);
        }
        self
    }

    fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            total: self.total.saturating_add(other.total),
        }
    }

    fn read(object: &Map<String, Value>) -> Self {
        let count = |name| count(object.get(name));
        Self {
            input: count(INPUT),
            output: count(OUTPUT),
            reasoning: count(REASONING),
            cached_input: count(CACHED_INPUT),
            total: count(TOTAL),
        }
    }

    fn object(self) -> Map<String, Value> {
        let counts = [
            (INPUT, self.input),
            (OUTPUT, self.output),
            (REASONING, self.reasoning),
            (CACHED_INPUT, self.cached_input),
            (TOTAL, self.total),
        ];
        counts
            .into_iter()
            .map(|(name, count)| (name.to_owned(), Value::from(count)))
            .collect()
    }
}

/// A count, which a trip through a task store may have made a float. What is no number, or below zero, counts as 0.
fn count(value: Option<&Value>) -> u64 {
    let Some(Value::Number(number)) = value else {
        return 0;
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, as it should"
    )]
    let from_float = |float: f64| float as u64;
    number
        .as_u64()
        .or_else(|| number.as_f64().map(from_float))
        .unwrap_or(0)
}

const INPUT: &str = "inputTokens";
const OUTPUT: &str = "outputTokens";
const REASONING: &str = "reasoningTokens";
const CACHED_INPUT: &str = "cachedInputTokens";
const TOTAL: &str = "totalTokens";

#[cfg(test)]
mod tests;
