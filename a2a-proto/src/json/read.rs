//! Reading ProtoJSON: what the generated code is made of.
//!
//! It goes straight from the text into the messages. On failure each level notes in the [`Trail`] where it was, so that
//! the error can name the field; as long as nothing fails, that costs nothing.

mod place;
mod scalar;

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_core::Deserialize;
use serde_core::de::{Deserializer, Error, IgnoredAny, MapAccess};

use self::place::{MessageVisitor, Seed};
use crate::step::Step;

pub(crate) use scalar::{bytes, enumeration, flag, int32, optional, text, value};

/// A message as the reader sees it: fields by number, in the order of the `.proto` file.
#[expect(unnameable_types, reason = "seals `json::Message`")]
pub trait Readable: Default {
    /// The name of the message.
    const NAME: &'static str;
    /// The proto names of the fields.
    const FIELDS: &'static [&'static str];

    /// The number of the field with that JSON or proto name.
    fn index(name: &str) -> Option<usize>;

    /// Reads the value of a field.
    ///
    /// # Errors
    ///
    /// When the value is not one for that field.
    fn read<'de, A: MapAccess<'de>>(
        &mut self,
        index: usize,
        map: &mut A,
        trail: Trail<'_>,
    ) -> Result<(), A::Error>;
}

/// Where the reader notes, innermost first, at which place it failed; nowhere when nobody will ask.
#[derive(Clone, Copy, Debug)]
#[expect(unnameable_types, reason = "part of a sealed trait")]
pub struct Trail<'a>(Option<&'a RefCell<Vec<Step>>>);

impl<'a> Trail<'a> {
    pub(crate) fn into(steps: &'a RefCell<Vec<Step>>) -> Self {
        Self(Some(steps))
    }

    fn note(self, step: impl FnOnce() -> Step) {
        if let Some(steps) = self.0 {
            steps.borrow_mut().push(step());
        }
    }
}

/// How much an arm of a one-of says: some producers print all arms and leave the others empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    Null,
    Empty,
    Real,
}

impl Weight {
    pub(crate) fn of_content(empty: bool) -> Self {
        if empty { Self::Empty } else { Self::Real }
    }

    pub(crate) fn of_value(null: bool) -> Self {
        if null { Self::Null } else { Self::Real }
    }
}

/// A one-of.
pub(crate) trait OneOf {
    /// The proto names of the arms.
    const ARMS: &'static str;

    fn weight(&self) -> Weight;
}

/// Puts an arm into its one-of: the one that says more stays, and two real ones are an error.
pub(crate) fn arm<O: OneOf, E: Error>(slot: &mut Option<O>, arm: O) -> Result<(), E> {
    match slot.as_ref().map(O::weight) {
        Some(Weight::Real) if arm.weight() == Weight::Real => Err(E::custom(format_args!(
            "only one of {} may be set",
            O::ARMS
        ))),
        Some(known) if known >= arm.weight() => Ok(()),
        _ => {
            *slot = Some(arm);
            Ok(())
        }
    }
}

/// Reads a message whose place nobody will ask for.
pub(crate) fn message_from<'de, M: Readable, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<M, D::Error> {
    message_with(deserializer, Trail(None))
}

/// Reads a message.
pub(crate) fn message_with<'de, M: Readable, D: Deserializer<'de>>(
    deserializer: D,
    trail: Trail<'_>,
) -> Result<M, D::Error> {
    let mut message = M::default();
    message.fill(deserializer, trail)?;
    Ok(message)
}

pub(crate) fn message<'de, M: Readable, A: MapAccess<'de>>(
    map: &mut A,
    trail: Trail<'_>,
    slot: &mut Option<M>,
) -> Result<(), A::Error> {
    map.next_value_seed(Seed::new(slot, trail))
}

pub(crate) fn list<'de, T: Fill, A: MapAccess<'de>>(
    map: &mut A,
    trail: Trail<'_>,
    list: &mut Vec<T>,
) -> Result<(), A::Error> {
    map.next_value_seed(Seed::new(list, trail))
}

pub(crate) fn dictionary<'de, T: Fill, A: MapAccess<'de>>(
    map: &mut A,
    trail: Trail<'_>,
    entries: &mut BTreeMap<String, T>,
) -> Result<(), A::Error> {
    map.next_value_seed(Seed::new(entries, trail))
}

pub(crate) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|_| ())
}

/// What is read in place, since messages are large and would be moved through every level of serde.
pub(crate) trait Fill: Default {
    fn fill<'de, D: Deserializer<'de>>(
        &mut self,
        deserializer: D,
        trail: Trail<'_>,
    ) -> Result<(), D::Error>;
}

impl Fill for String {
    fn fill<'de, D: Deserializer<'de>>(
        &mut self,
        deserializer: D,
        _: Trail<'_>,
    ) -> Result<(), D::Error> {
        *self = Self::deserialize(deserializer)?;
        Ok(())
    }
}

impl<M: Readable> Fill for M {
    fn fill<'de, D: Deserializer<'de>>(
        &mut self,
        deserializer: D,
        trail: Trail<'_>,
    ) -> Result<(), D::Error> {
        deserializer.deserialize_map(MessageVisitor {
            message: self,
            trail,
        })
    }
}

impl<'de> Deserialize<'de> for super::Struct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Self::try_from(value).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for super::Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Self::from(serde_json::Value::deserialize(deserializer)?);
        value.check().map_err(D::Error::custom)?;
        Ok(value)
    }
}
