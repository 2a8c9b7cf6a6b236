//! Reading ProtoJSON: what the generated code is made of.
//!
//! It goes straight from the text into the messages. On failure each level notes in the [`Trail`] where it was, so that
//! the error can name the field; as long as nothing fails, that costs nothing.

mod scalar;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

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
    MessageSeed::new(Trail(None)).deserialize(deserializer)
}

pub(crate) fn message<'de, M: Readable, A: MapAccess<'de>>(
    map: &mut A,
    trail: Trail<'_>,
) -> Result<Option<M>, A::Error> {
    map.next_value_seed(Nullable(MessageSeed::new(trail)))
}

pub(crate) fn messages<'de, M: Readable, A: MapAccess<'de>>(
    map: &mut A,
    trail: Trail<'_>,
) -> Result<Vec<M>, A::Error> {
    list(map, MessageSeed::new(trail), trail)
}

pub(crate) fn texts<'de, A: MapAccess<'de>>(
    map: &mut A,
    trail: Trail<'_>,
) -> Result<Vec<String>, A::Error> {
    list(map, PhantomData, trail)
}

pub(crate) fn message_map<'de, M: Readable, A: MapAccess<'de>>(
    map: &mut A,
    trail: Trail<'_>,
) -> Result<BTreeMap<String, M>, A::Error> {
    dictionary(map, MessageSeed::new(trail), trail)
}

pub(crate) fn text_map<'de, A: MapAccess<'de>>(
    map: &mut A,
    trail: Trail<'_>,
) -> Result<BTreeMap<String, String>, A::Error> {
    dictionary(map, PhantomData, trail)
}

pub(crate) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|_| ())
}

fn list<'de, A: MapAccess<'de>, S: DeserializeSeed<'de> + Copy>(
    map: &mut A,
    item: S,
    trail: Trail<'_>,
) -> Result<Vec<S::Value>, A::Error> {
    let list = map.next_value_seed(Nullable(ListSeed { item, trail }))?;
    Ok(list.unwrap_or_default())
}

fn dictionary<'de, A: MapAccess<'de>, S: DeserializeSeed<'de> + Copy>(
    map: &mut A,
    item: S,
    trail: Trail<'_>,
) -> Result<BTreeMap<String, S::Value>, A::Error> {
    let map = map.next_value_seed(Nullable(MapSeed { item, trail }))?;
    Ok(map.unwrap_or_default())
}

/// `null` reads as `None`.
struct Nullable<S>(S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Nullable<S> {
    type Value = Option<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Nullable<S> {
    type Value = Option<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        self.0.deserialize(deserializer).map(Some)
    }
}

pub(crate) struct MessageSeed<'a, M> {
    trail: Trail<'a>,
    message: PhantomData<M>,
}

impl<'a, M> MessageSeed<'a, M> {
    pub(crate) fn new(trail: Trail<'a>) -> Self {
        Self {
            trail,
            message: PhantomData,
        }
    }
}

impl<M> Clone for MessageSeed<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for MessageSeed<'_, M> {}

impl<'de, M: Readable> DeserializeSeed<'de> for MessageSeed<'_, M> {
    type Value = M;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<M, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, M: Readable> Visitor<'de> for MessageSeed<'_, M> {
    type Value = M;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object ({})", M::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<M, A::Error> {
        let mut message = M::default();
        let mut seen = 0u32;
        while let Some(field) = map.next_key_seed(FieldSeed::<M>(PhantomData))? {
            let Some(index) = field else {
                skip(&mut map)?;
                continue;
            };
            let bit = 1 << index;
            let outcome = if seen & bit == 0 {
                message.read(index, &mut map, self.trail)
            } else {
                Err(A::Error::custom("the field is given twice"))
            };
            if let Err(error) = outcome {
                let name = M::FIELDS.get(index).copied().unwrap_or_default();
                self.trail.note(|| Step::Field(name));
                return Err(error);
            }
            seen |= bit;
        }
        Ok(message)
    }
}

struct FieldSeed<M>(PhantomData<M>);

impl<'de, M: Readable> DeserializeSeed<'de> for FieldSeed<M> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<M: Readable> Visitor<'_> for FieldSeed<M> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(M::index(name))
    }
}

struct ListSeed<'a, S> {
    item: S,
    trail: Trail<'a>,
}

impl<'de, S: DeserializeSeed<'de> + Copy> DeserializeSeed<'de> for ListSeed<'_, S> {
    type Value = Vec<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, S: DeserializeSeed<'de> + Copy> Visitor<'de> for ListSeed<'_, S> {
    type Value = Vec<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        loop {
            match seq.next_element_seed(self.item) {
                Ok(Some(item)) => list.push(item),
                Ok(None) => return Ok(list),
                Err(error) => {
                    self.trail.note(|| Step::Index(list.len()));
                    return Err(error);
                }
            }
        }
    }
}

struct MapSeed<'a, S> {
    item: S,
    trail: Trail<'a>,
}

impl<'de, S: DeserializeSeed<'de> + Copy> DeserializeSeed<'de> for MapSeed<'_, S> {
    type Value = BTreeMap<String, S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de> + Copy> Visitor<'de> for MapSeed<'_, S> {
    type Value = BTreeMap<String, S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            let outcome = if entries.contains_key(&key) {
                Err(A::Error::custom("the key is given twice"))
            } else {
                map.next_value_seed(self.item)
            };
            match outcome {
                Ok(value) => entries.insert(key, value),
                Err(error) => {
                    self.trail.note(|| Step::Key(key));
                    return Err(error);
                }
            };
        }
        Ok(entries)
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
