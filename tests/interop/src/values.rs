//! What the contract fixes and agent and client both need.

use serde_json::Value;

/// The extension that every agent of the contract declares.
pub(crate) const ECHO: &str = "https://example.com/ext/echo/v1";

/// The text with everything in it that an encoder could get wrong.
pub(crate) const UNICODE: &str = "żółw 🐢 \u{2028} \" \\ <&>";

pub(crate) const FILE_URL: &str = "https://example.com/a.png";

/// The object of the verb `data`.
pub(crate) fn data() -> Value {
    serde_json::json!({
        "text": UNICODE,
        "integer": 42,
        "negative": -7,
        "float": 1.5,
        "small": 1e-7,
        "safe": 9_007_199_254_740_991_i64,
        "null": null,
        "true": true,
        "list": [1, "two", null, [], {}],
        "object": {},
        "empty": "",
    })
}

/// The bytes of the verb `file`: each once.
pub(crate) fn bytes() -> Vec<u8> {
    (0..=u8::MAX).collect()
}
