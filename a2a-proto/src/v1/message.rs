use std::fmt;
use std::str::FromStr;

use super::{Message, Part, Role};
use crate::Struct;

impl Message {
    /// A message of the user with one text part and a fresh id.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, [Part::text(text)])
    }

    /// A message of the agent with one text part and a fresh id.
    #[must_use]
    pub fn agent(text: impl Into<String>) -> Self {
        Self::new(Role::Agent, [Part::text(text)])
    }

    /// A message with a fresh id.
    #[must_use]
    pub fn new(role: Role, parts: impl IntoIterator<Item = Part>) -> Self {
        Self {
            message_id: uuid::Uuid::new_v4().to_string(),
            role: role.into(),
            parts: parts.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds a part.
    #[must_use]
    pub fn with_part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Puts the message into a context: a conversation.
    #[must_use]
    pub fn with_context_id(mut self, id: impl Into<String>) -> Self {
        self.context_id = id.into();
        self
    }

    /// Makes the message the continuation of a task.
    #[must_use]
    pub fn with_task_id(mut self, id: impl Into<String>) -> Self {
        self.task_id = id.into();
        self
    }

    /// Names a task that the message refers to.
    #[must_use]
    pub fn with_reference_task(mut self, id: impl Into<String>) -> Self {
        self.reference_task_ids.push(id.into());
        self
    }

    /// Names an extension that the message makes use of, once.
    #[must_use]
    pub fn with_extension(mut self, uri: impl Into<String>) -> Self {
        let uri = uri.into();
        if !self.extensions.contains(&uri) {
            self.extensions.push(uri);
        }
        self
    }

    /// Sets a metadata entry.
    #[must_use]
    pub fn with_metadata(
        mut self,
        key: impl Into<String>,
        value: impl Into<serde_json::Value>,
    ) -> Self {
        self.metadata
            .get_or_insert_with(Struct::new)
            .insert(key, value);
        self
    }

    /// The text parts, joined by line breaks.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }
}

/// What a user says.
impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

/// What a user says.
impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::user(text)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str_name())
    }
}

impl FromStr for Role {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::from_str_name(name).ok_or(UnknownName)
    }
}

/// The text is no name of a value of that enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownName;

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no value of that enum has this name")
    }
}

impl std::error::Error for UnknownName {}
