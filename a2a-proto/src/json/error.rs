use std::error::Error;
use std::fmt::{self, Write as _};

use super::read::Step;
use crate::FieldViolation;

/// Why JSON is not the message that it should be, and where.
///
/// The texts quote nothing that stood in the JSON, but for names: it may hold secrets.
pub struct JsonError(Box<Inner>);

struct Inner {
    path: String,
    text: String,
    syntax: bool,
}

impl JsonError {
    pub(super) fn new(error: serde_json::Error, steps: Vec<Step>) -> Self {
        Self(Box::new(Inner {
            path: path(steps),
            text: redact(&error.to_string()),
            syntax: !error.is_data(),
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

fn path(steps: Vec<Step>) -> String {
    let mut path = String::new();
    for step in steps.into_iter().rev() {
        let dot = if path.is_empty() { "" } else { "." };
        let _ = match step {
            Step::Field(name) => write!(path, "{dot}{name}"),
            Step::Index(index) => write!(path, "[{index}]"),
            Step::Key(key) => write!(
                path,
                "[{:?}]",
                key.chars().take(KEY_LIMIT).collect::<String>()
            ),
        };
    }
    path
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

const KEY_LIMIT: usize = 64;
