//! Whether a message has what the protocol requires, apart from whether it can be read.

use std::collections::BTreeMap;

use crate::error::FieldViolation;
use crate::json::{self, Enum, InvalidValue, Struct, Timestamp, Value};
use crate::step::{self, Step};

/// Checks what the `.proto` file calls REQUIRED, at every depth. Only this crate implements it.
///
/// ```
/// use a2a_proto::v1::{Message, Part, Role, SendMessageRequest};
/// use a2a_proto::Validate;
///
/// let request = SendMessageRequest::from(Message::new(Role::User, [Part::default()]));
/// let faults = request.validate().unwrap_err();
/// assert_eq!(faults[0].field, "message.parts[0]");
/// ```
pub trait Validate: Check {
    /// Checks a request (A2A 1.0 §5.7).
    ///
    /// REQUIRED members must be there and not empty, enum values known, one-ofs set, and JSON values such that every
    /// peer can read them.
    ///
    /// # Errors
    ///
    /// All faults with their places, or the first 64 of them.
    fn validate(&self) -> Result<(), Vec<FieldViolation>> {
        Faults::of(self, Strictness::Request)
    }

    /// Checks a response or an agent card: as [`validate`](Self::validate), but REQUIRED lists and maps may be empty
    /// and enum values unknown.
    ///
    /// # Errors
    ///
    /// All faults with their places, or the first 64 of them.
    fn validate_response(&self) -> Result<(), Vec<FieldViolation>> {
        Faults::of(self, Strictness::Response)
    }
}

impl<M: Check> Validate for M {}

/// What is generated for each message.
#[expect(unnameable_types, reason = "seals `Validate`")]
pub trait Check {
    /// Notes what is wrong with the message.
    fn check(&self, faults: &mut Faults);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strictness {
    Request,
    Response,
}

/// The faults found so far, and the place that is being looked at.
#[derive(Debug)]
#[expect(unnameable_types, reason = "part of a sealed trait")]
pub struct Faults {
    strictness: Strictness,
    place: Vec<Step>,
    violations: Vec<FieldViolation>,
}

impl Faults {
    fn of<M: Check + ?Sized>(
        message: &M,
        strictness: Strictness,
    ) -> Result<(), Vec<FieldViolation>> {
        let mut faults = Self {
            strictness,
            place: Vec::new(),
            violations: Vec::new(),
        };
        message.check(&mut faults);
        if faults.violations.is_empty() {
            Ok(())
        } else {
            Err(faults.violations)
        }
    }

    pub(crate) fn required_text(&mut self, field: &'static str, text: &str) {
        if text.is_empty() {
            self.missing(field);
        }
    }

    pub(crate) fn required_list<T>(&mut self, field: &'static str, list: &[T]) {
        if list.is_empty() {
            self.empty(field);
        }
    }

    pub(crate) fn required_map<T>(&mut self, field: &'static str, map: &BTreeMap<String, T>) {
        if map.is_empty() {
            self.empty(field);
        }
    }

    pub(crate) fn required_message<M: Check>(&mut self, field: &'static str, value: &Option<M>) {
        match value {
            Some(value) => self.nested(field, value),
            None => self.missing(field),
        }
    }

    pub(crate) fn required_messages<M: Check>(&mut self, field: &'static str, list: &[M]) {
        self.required_list(field, list);
        self.messages(field, list);
    }

    pub(crate) fn enumeration<T: Enum>(
        &mut self,
        field: &'static str,
        number: i32,
        required: bool,
    ) {
        if number == 0 && required {
            // A name that is unknown in JSON reads as no value.
            let names: Vec<&str> = (1..).map_while(T::name).collect();
            let description = format!("is required, and must be one of {}", names.join(", "));
            self.add(field, description);
        } else if self.strictness == Strictness::Request && T::name(number).is_none() {
            self.add(field, "has an unknown value");
        }
    }

    pub(crate) fn message<M: Check>(&mut self, field: &'static str, value: &Option<M>) {
        if let Some(value) = value {
            self.nested(field, value);
        }
    }

    pub(crate) fn messages<M: Check>(&mut self, field: &'static str, list: &[M]) {
        self.place.push(Step::Field(field));
        for (index, value) in list.iter().enumerate() {
            self.within(Step::Index(index), value);
        }
        self.place.pop();
    }

    pub(crate) fn message_map<M: Check>(&mut self, field: &'static str, map: &BTreeMap<String, M>) {
        self.place.push(Step::Field(field));
        for (key, value) in map {
            self.within(Step::Key(key.clone()), value);
        }
        self.place.pop();
    }

    pub(crate) fn nested<M: Check>(&mut self, field: &'static str, value: &M) {
        self.within(Step::Field(field), value);
    }

    pub(crate) fn object(&mut self, field: &'static str, value: &Option<Struct>) {
        self.json(field, value.as_ref().map_or(Ok(()), Struct::check));
    }

    pub(crate) fn value(&mut self, field: &'static str, value: &Value) {
        self.json(field, value.check());
    }

    pub(crate) fn timestamp(&mut self, field: &'static str, value: &Option<Timestamp>) {
        if value.is_some_and(|timestamp| !timestamp.is_valid()) {
            self.add(field, json::InvalidTimestamp.to_string());
        }
    }

    /// A one-of has no name in JSON, so the fault is that of the message around it, if that has a name.
    pub(crate) fn missing_arm(&mut self, oneof: &'static str, arms: &str) {
        let description = format!("needs one of {arms}");
        if self.place.is_empty() {
            self.add(oneof, description);
        } else {
            self.note(description);
        }
    }

    fn json(&mut self, field: &'static str, outcome: Result<(), InvalidValue>) {
        if let Err(error) = outcome {
            self.add(field, error.to_string());
        }
    }

    fn within<M: Check>(&mut self, step: Step, value: &M) {
        self.place.push(step);
        value.check(self);
        self.place.pop();
    }

    fn missing(&mut self, field: &'static str) {
        self.add(field, "is required");
    }

    fn empty(&mut self, field: &'static str) {
        if self.strictness == Strictness::Request {
            self.add(field, "must not be empty");
        }
    }

    fn add(&mut self, field: &'static str, description: impl Into<String>) {
        self.place.push(Step::Field(field));
        self.note(description);
        self.place.pop();
    }

    /// Adds a fault of the place itself.
    fn note(&mut self, description: impl Into<String>) {
        if self.violations.len() < LIMIT {
            let path = step::path(self.place.iter());
            self.violations.push(FieldViolation::new(path, description));
        }
    }
}

/// More faults than these help nobody, and a request may have a fault in each of a million parts.
const LIMIT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1::{AgentCard, ListTasksResponse, Message, Part, Role, SendMessageRequest};

    fn fields(outcome: Result<(), Vec<FieldViolation>>) -> Vec<String> {
        let faults = outcome.err().unwrap_or_default();
        faults.into_iter().map(|fault| fault.field).collect()
    }

    #[test]
    fn dm_val_01_to_03_name_what_a_request_lacks() {
        let request = SendMessageRequest::default();
        assert_eq!(fields(request.validate()), ["message"]);

        let request = SendMessageRequest::from(Message::default());
        let expected = ["message.message_id", "message.role", "message.parts"];
        assert_eq!(fields(request.validate()), expected);

        let mut message = Message::user("hello");
        assert_eq!(message.validate(), Ok(()));
        message.role = 7;
        assert_eq!(fields(message.validate()), ["role"]);
        assert_eq!(message.validate_response(), Ok(()));
    }

    #[test]
    fn dm_json_13_a_part_needs_content() {
        let message = Message::new(Role::User, [Part::text(""), Part::default()]);
        let faults = SendMessageRequest::from(message).validate().unwrap_err();
        assert_eq!(faults[0].field, "message.parts[1]");
        assert_eq!(faults[0].description, "needs one of text, raw, url, data");
    }

    #[test]
    fn amb_05_lists_of_responses_may_be_empty() {
        assert_eq!(ListTasksResponse::default().validate_response(), Ok(()));
        assert_eq!(fields(ListTasksResponse::default().validate()), ["tasks"]);
        let expected = ["name", "description", "version", "capabilities"];
        assert_eq!(fields(AgentCard::default().validate_response()), expected);
    }

    #[test]
    fn too_deep_values_are_named_and_faults_are_bounded() {
        let nested = (0..46).fold(serde_json::json!(1), |value, _| serde_json::json!([value]));
        let message = Message::new(Role::User, [Part::data(nested)]);
        assert_eq!(fields(message.validate()), ["parts[0].data"]);

        let message = Message::new(Role::User, vec![Part::default(); 1000]);
        assert_eq!(fields(message.validate()).len(), LIMIT);
    }
}
