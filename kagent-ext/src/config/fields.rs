//! Reads an object member by member, and knows where it is when one is wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::{ConfigError, Headers, Secret, Unknown};

/// An object that is being read; what is left at the end is unknown. `null` counts as absent.
pub(super) struct Fields {
    origin: String,
    path: String,
    members: Map<String, Value>,
}

impl Fields {
    pub(super) fn root(origin: &str, document: Value) -> Result<Self, ConfigError> {
        let root = Self::new(origin, "$".to_owned(), document)?;
        Ok(Self {
            path: String::new(),
            ..root
        })
    }

    fn new(origin: &str, path: String, value: Value) -> Result<Self, ConfigError> {
        match value {
            Value::Object(members) => Ok(Self {
                origin: origin.to_owned(),
                path,
                members,
            }),
            other => Err(ConfigError::Field {
                origin: origin.to_owned(),
                path,
                reason: wrong_type("an object", &other),
            }),
        }
    }

    pub(super) fn string(&mut self, name: &str) -> Result<Option<String>, ConfigError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.error(name, wrong_type("a string", &other))),
        }
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String, ConfigError> {
        Ok(self.string(name)?.unwrap_or_default())
    }

    pub(super) fn required(&mut self, name: &str) -> Result<String, ConfigError> {
        self.string(name)?
            .ok_or_else(|| self.error(name, "is required"))
    }

    pub(super) fn secret(&mut self, name: &str) -> Result<Option<Secret>, ConfigError> {
        Ok(self.string(name)?.map(Secret::from))
    }

    pub(super) fn bool(&mut self, name: &str) -> Result<Option<bool>, ConfigError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.error(name, wrong_type("true or false", &other))),
        }
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<bool, ConfigError> {
        Ok(self.bool(name)?.unwrap_or_default())
    }

    /// A whole number, as protobuf JSON may write it: as a number or in a string.
    pub(super) fn integer(&mut self, name: &str) -> Result<Option<i64>, ConfigError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let integer = match &value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        match integer {
            Some(integer) => Ok(Some(integer)),
            None => Err(self.error(name, "must be a whole number")),
        }
    }

    /// A time span, as protobuf JSON writes it (`"30s"`) or as a number of seconds.
    pub(super) fn duration(&mut self, name: &str) -> Result<Option<Duration>, ConfigError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let seconds = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.strip_suffix('s').and_then(|text| text.parse().ok()),
            _ => None,
        };
        match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            Some(duration) => Ok(Some(duration)),
            None => Err(self.error(name, "must be a time span such as \"30s\", or seconds")),
        }
    }

    pub(super) fn strings(&mut self, name: &str) -> Result<Vec<String>, ConfigError> {
        let mut strings = Vec::new();
        for (index, item) in self.list(name)?.into_iter().enumerate() {
            match item {
                Value::String(text) => strings.push(text),
                other => {
                    return Err(
                        self.error(&format!("{name}[{index}]"), wrong_type("a string", &other))
                    );
                }
            }
        }
        Ok(strings)
    }

    pub(super) fn headers(&mut self, name: &str) -> Result<Headers, ConfigError> {
        let headers = self.texts(name)?.into_iter();
        Ok(headers
            .map(|(header, value)| (header, Secret::from(value)))
            .collect())
    }

    /// An object whose members are strings.
    pub(super) fn texts(&mut self, name: &str) -> Result<BTreeMap<String, String>, ConfigError> {
        let mut texts = BTreeMap::new();
        let Some(object) = self.object(name)? else {
            return Ok(texts);
        };
        for (key, value) in &object.members {
            let Value::String(text) = value else {
                return Err(object.error(key, wrong_type("a string", value)));
            };
            texts.insert(key.clone(), text.clone());
        }
        Ok(texts)
    }

    pub(super) fn object(&mut self, name: &str) -> Result<Option<Self>, ConfigError> {
        let value = self.take(name);
        value
            .map(|value| Self::new(&self.origin, self.path_of(name), value))
            .transpose()
    }

    pub(super) fn objects(&mut self, name: &str) -> Result<Vec<Self>, ConfigError> {
        let items = self.list(name)?.into_iter().enumerate();
        items
            .map(|(index, item)| {
                Self::new(
                    &self.origin,
                    self.path_of(&format!("{name}[{index}]")),
                    item,
                )
            })
            .collect()
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let value = self
            .members
            .remove(name)
            .or_else(|| self.members.remove(&camel(name)));
        value.filter(|value| !value.is_null())
    }

    pub(super) fn rest(self) -> Unknown {
        Unknown(self.members)
    }

    pub(super) fn error(&self, name: &str, reason: impl Into<String>) -> ConfigError {
        ConfigError::Field {
            origin: self.origin.clone(),
            path: self.path_of(name),
            reason: reason.into(),
        }
    }

    fn list(&mut self, name: &str) -> Result<Vec<Value>, ConfigError> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(self.error(name, wrong_type("a list", &other))),
        }
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }
}

/// Says what was found by its type only: the value may be a secret.
pub(super) fn wrong_type(wanted: &str, found: &Value) -> String {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("must be {wanted}, not {found}")
}

fn camel(snake: &str) -> String {
    let mut words = snake.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}
