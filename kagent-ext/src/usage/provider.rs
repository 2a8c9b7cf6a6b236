//! The usage objects of model providers, as counts.

use serde_json::Value;

use super::{TokenCounts, count};

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
}
