use std::error::Error;
use std::fmt;

use crate::FieldViolation;
use crate::step::{self, Step};

/// Why JSON is not the message that it should be, and where.
///
/// The text quotes no string of the JSON: it may hold secrets.
#[derive(Clone)]
pub struct JsonError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    path: String,
    text: String,
    syntax: bool,
}

impl JsonError {
    /// The steps lead from the place of the error outwards.
    pub(crate) fn new(error: &serde_json::Error, steps: &[Step]) -> Self {
        let text = error.to_string();
        // Too deep to be read is still JSON, whatever serde_json calls it.
        let too_deep = text.starts_with("recursion limit exceeded");
        Self(Box::new(Inner {
            path: step::path(steps.iter().rev()),
            text: redact(&text),
            syntax: !error.is_data() && !too_deep,
        }))
    }

    /// The place of the error in proto names, such as `message.parts[0].text`; empty at the top.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What is wrong there.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Whether it is no JSON at all, rather than JSON of another shape.
    #[must_use]
    pub fn is_syntax(&self) -> bool {
        self.0.syntax
    }
}

impl fmt::Debug for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonError")
            .field("path", &self.0.path)
            .field("text", &self.0.text)
            .field("syntax", &self.0.syntax)
            .finish()
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            "" => f.write_str(self.text()),
            path => write!(f, "{path}: {}", self.text()),
        }
    }
}

impl Error for JsonError {}

impl From<JsonError> for FieldViolation {
    fn from(error: JsonError) -> Self {
        Self::new(error.0.path, error.0.text)
    }
}

/// Cuts out the text that serde quotes where a string stands in the wrong place.
fn redact(text: &str) -> String {
    let quote = text.find("string \"").map(|start| start + "string".len());
    match (quote, text.rfind("\", expected ")) {
        (Some(start), Some(end)) if start < end => {
            let (before, _) = text.split_at(start);
            let (_, after) = text.split_at(end + 1);
            format!("{before}{after}")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::json;
    use crate::v1::{SendMessageRequest, TaskPushNotificationConfig};

    #[test]
    fn an_error_names_the_field_and_quotes_no_string() {
        let secret = r#"{"authentication":"s3cr\"et, expected "}"#;
        let error = json::from_str::<TaskPushNotificationConfig>(secret).unwrap_err();
        assert_eq!(error.path(), "authentication");
        assert_eq!(
            error.text(),
            "invalid type: string, expected an object (AuthenticationInfo) at line 1 column 39"
        );
        assert!(!error.is_syntax());

        for (text, path) in [
            (
                r#"{"message":{"parts":[{"text":"a"},{"raw":"!"}]}}"#,
                "message.parts[1].raw",
            ),
            (
                r#"{"message":{"parts":[{"text":"a"},null]}}"#,
                "message.parts[1]",
            ),
            (
                r#"{"message":{"messageId":"a","message_id":"b"}}"#,
                "message.message_id",
            ),
            (
                r#"{"configuration":{"historyLength":1.5}}"#,
                "configuration.history_length",
            ),
        ] {
            let error = json::from_str::<SendMessageRequest>(text).unwrap_err();
            assert_eq!(error.path(), path, "{error}");
        }
        assert!(
            json::from_str::<SendMessageRequest>("{")
                .unwrap_err()
                .is_syntax()
        );
        assert!(
            json::from_str::<SendMessageRequest>("{} {}")
                .unwrap_err()
                .is_syntax()
        );
    }
}
