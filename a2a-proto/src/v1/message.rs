use bytes::Bytes;

use super::part::Content;
use super::{Message, Part, Role, SendMessageRequest};
use crate::Value;

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

    /// The text parts, joined by line breaks.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }
}

impl Part {
    /// A part with text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text(text.into()).into()
    }

    /// A part with bytes.
    #[must_use]
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Content::Raw(bytes.into()).into()
    }

    /// A part that points to a resource.
    #[must_use]
    pub fn url(url: impl Into<String>) -> Self {
        Content::Url(url.into()).into()
    }

    /// A part with any JSON value.
    #[must_use]
    pub fn data(value: impl Into<Value>) -> Self {
        Content::Data(value.into()).into()
    }

    /// The text, if it is a text part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Some(Content::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The value, if it is a data part.
    #[must_use]
    pub fn as_data(&self) -> Option<&serde_json::Value> {
        match &self.content {
            Some(Content::Data(value)) => Some(value),
            _ => None,
        }
    }
}

impl From<Content> for Part {
    fn from(content: Content) -> Self {
        Self {
            content: Some(content),
            ..Self::default()
        }
    }
}

impl From<Message> for SendMessageRequest {
    fn from(message: Message) -> Self {
        Self {
            message: Some(message),
            ..Self::default()
        }
    }
}
