//! The usage objects of model providers, as counts.

use a2a_proto::Struct;
use a2a_proto::v1::StreamResponse;
use a2a_proto::v1::stream_response::Payload;
use serde_json::{Map, Value};

use super::{TokenCounts, count};
use crate::uri::key;

impl TokenCounts {
    /// Reads the `usage` of an OpenAI reply: Chat Completions, Responses, and what is compatible with them.
    ///
    /// OpenAI counts reasoning as output; here it is kept apart.
    #[must_use]
    pub fn from_openai(usage: &Value) -> Self {
        let first = |paths: [&str; 2]| {
            paths
                .into_iter()
                .map(|path| count(usage.pointer(path)))
                .find(|n| *n > 0)
        };
        let either = |paths| first(paths).unwrap_or(0);
        let reasoning = either([
            "/completion_tokens_details/reasoning_tokens",
            "/output_tokens_details/reasoning_tokens",
        ]);
        Self {
            input: either(["/prompt_tokens", "/input_tokens"]),
            output: either(["/completion_tokens", "/output_tokens"]).saturating_sub(reasoning),
            reasoning,
            cached_input: either([
                "/prompt_tokens_details/cached_tokens",
                "/input_tokens_details/cached_tokens",
            ]),
            total: count(usage.get("total_tokens")),
        }
    }

    /// Reads the `usage` of an Anthropic reply.
    ///
    /// Anthropic counts cached tokens apart from input; here they are a part of it. It gives no total.
    #[must_use]
    pub fn from_anthropic(usage: &Value) -> Self {
        let count = |name| count(usage.get(name));
        let cached_input = count("cache_read_input_tokens");
        let written_to_cache = count("cache_creation_input_tokens");
        Self {
            input: count("input_tokens")
                .saturating_add(cached_input)
                .saturating_add(written_to_cache),
            output: count("output_tokens"),
            reasoning: 0,
            cached_input,
            total: 0,
        }
    }

    /// Reads the `usageMetadata` of a Gemini reply.
    #[must_use]
    pub fn from_gemini(usage: &Value) -> Self {
        let count = |camel: &str, snake: &str| count(usage.get(camel).or_else(|| usage.get(snake)));
        Self {
            input: count("promptTokenCount", "prompt_token_count"),
            output: count("candidatesTokenCount", "candidates_token_count"),
            reasoning: count("thoughtsTokenCount", "thoughts_token_count"),
            cached_input: count("cachedContentTokenCount", "cached_content_token_count"),
            total: count("totalTokenCount", "total_token_count"),
        }
    }

    /// What one model call used, as an event tells it; `None` where it tells none.
    ///
    /// It is looked for in the event's metadata, and in those of its artifact, where older runtimes wrote it. The last
    /// one is on the task too: [`of_call`](Self::of_call).
    #[must_use]
    pub fn of_event(event: &StreamResponse) -> Option<Self> {
        let (event, artifact) = match event.payload.as_ref()? {
            Payload::StatusUpdate(update) => (&update.metadata, None),
            Payload::ArtifactUpdate(update) => (&update.metadata, update.artifact.as_ref()),
            Payload::Task(task) => (&task.metadata, None),
            Payload::Message(message) => (&message.metadata, None),
        };
        let artifact = artifact.and_then(|artifact| artifact.metadata.as_ref());
        let mut places = event.as_ref().into_iter().chain(artifact);
        places.find_map(Self::of_call)
    }

    /// What one model call used, as metadata tell it.
    #[must_use]
    pub fn of_call(metadata: &Struct) -> Option<Self> {
        metadata.get(key::CALL_USAGE).map(Self::from_gemini)
    }

    /// Writes what one model call used, in the shape that kagent's runtimes have for all providers: Gemini's.
    pub fn write_to(&self, metadata: &mut Struct) {
        let counts = [
            ("promptTokenCount", self.input),
            ("candidatesTokenCount", self.output),
            ("thoughtsTokenCount", self.reasoning),
            ("cachedContentTokenCount", self.cached_input),
            ("totalTokenCount", self.total),
        ];
        let told = counts.into_iter().filter(|(_, count)| *count > 0);
        let told: Map<String, Value> = told
            .map(|(name, count)| (name.to_owned(), Value::from(count)))
            .collect();
        metadata.insert(key::CALL_USAGE, Value::Object(told));
    }

    /// Adds up what a stream of Anthropic's reports: input with its `message_start`, output with each `message_delta`,
    /// the last of which counts.
    ///
    /// ```
    /// use kagent_ext::usage::TokenCounts;
    /// use serde_json::json;
    ///
    /// let start = json!({"input_tokens": 25, "cache_read_input_tokens": 5, "output_tokens": 1});
    /// let delta = json!({"input_tokens": 25, "output_tokens": 15});
    /// let counts = TokenCounts::from_anthropic(&start).updated_by(TokenCounts::from_anthropic(&delta));
    /// assert_eq!((counts.input, counts.output, counts.cached_input), (30, 15, 5));
    /// ```
    #[must_use]
    pub fn updated_by(self, later: Self) -> Self {
        let newest = |before: u64, later: u64| if later > 0 { later } else { before };
        Self {
            // A report that leaves the cached tokens out has less of them, and means no less.
            input: self.input.max(later.input),
            output: newest(self.output, later.output),
            reasoning: newest(self.reasoning, later.reasoning),
            cached_input: self.cached_input.max(later.cached_input),
            total: newest(self.total, later.total),
        }
    }
}
