//! The places of a message that hold other messages, and serde's way to fill them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::marker::PhantomData;

use serde_core::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{Fill, Readable, Trail, skip};
use crate::step::Step;

/// Fills a place in a message, which `null` leaves as it is.
pub(super) struct Seed<'v, 't, V> {
    place: &'v mut V,
    trail: Trail<'t>,
}

impl<'v, 't, V> Seed<'v, 't, V> {
    pub(super) fn new(place: &'v mut V, trail: Trail<'t>) -> Self {
        Self { place, trail }
    }
}

impl<'de, V: Place> DeserializeSeed<'de> for Seed<'_, '_, V> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, V: Place> Visitor<'de> for Seed<'_, '_, V> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.place.put(deserializer, self.trail)
    }
}

/// A place in a message: for one message, several, or several with names.
pub(super) trait Place {
    fn put<'de, D: Deserializer<'de>>(
        &mut self,
        deserializer: D,
        trail: Trail<'_>,
    ) -> Result<(), D::Error>;
}

impl<M: Readable> Place for Option<M> {
    fn put<'de, D: Deserializer<'de>>(
        &mut self,
        deserializer: D,
        trail: Trail<'_>,
    ) -> Result<(), D::Error> {
        self.insert(M::default()).fill(deserializer, trail)
    }
}

impl<T: Fill> Place for Vec<T> {
    fn put<'de, D: Deserializer<'de>>(
        &mut self,
        deserializer: D,
        trail: Trail<'_>,
    ) -> Result<(), D::Error> {
        deserializer.deserialize_seq(ListVisitor { list: self, trail })
    }
}

impl<T: Fill> Place for BTreeMap<String, T> {
    fn put<'de, D: Deserializer<'de>>(
        &mut self,
        deserializer: D,
        trail: Trail<'_>,
    ) -> Result<(), D::Error> {
        deserializer.deserialize_map(MapVisitor {
            entries: self,
            trail,
        })
    }
}

pub(super) struct MessageVisitor<'v, 't, M> {
    pub(super) message: &'v mut M,
    pub(super) trail: Trail<'t>,
}

impl<'de, M: Readable> Visitor<'de> for MessageVisitor<'_, '_, M> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object ({})", M::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = 0u32;
        while let Some(field) = map.next_key_seed(FieldSeed::<M>(PhantomData))? {
            let Some(index) = field else {
                skip(&mut map)?;
                continue;
            };
            let bit = 1 << index;
            let outcome = if seen & bit == 0 {
                self.message.read(index, &mut map, self.trail)
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
        Ok(())
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

struct ListVisitor<'v, 't, T> {
    list: &'v mut Vec<T>,
    trail: Trail<'t>,
}

impl<'de, T: Fill> Visitor<'de> for ListVisitor<'_, '_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut index = 0;
        loop {
            let item = ItemSeed {
                list: &mut *self.list,
                trail: self.trail,
            };
            match seq.next_element_seed(item) {
                Ok(Some(())) => index += 1,
                Ok(None) => return Ok(()),
                Err(error) => {
                    self.trail.note(|| Step::Index(index));
                    return Err(error);
                }
            }
        }
    }
}

struct ItemSeed<'v, 't, T> {
    list: &'v mut Vec<T>,
    trail: Trail<'t>,
}

impl<'de, T: Fill> DeserializeSeed<'de> for ItemSeed<'_, '_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.list.push(T::default());
        match self.list.last_mut() {
            Some(item) => item.fill(deserializer, self.trail),
            None => Ok(()),
        }
    }
}

struct MapVisitor<'v, 't, T> {
    entries: &'v mut BTreeMap<String, T>,
    trail: Trail<'t>,
}

impl<'de, T: Fill> Visitor<'de> for MapVisitor<'_, '_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let outcome = match self.entries.entry(key.clone()) {
                Entry::Occupied(_) => Err(A::Error::custom("the key is given twice")),
                Entry::Vacant(entry) => map.next_value_seed(EntrySeed {
                    value: entry.insert(T::default()),
                    trail: self.trail,
                }),
            };
            if let Err(error) = outcome {
                self.trail.note(|| Step::Key(key));
                return Err(error);
            }
        }
        Ok(())
    }
}

struct EntrySeed<'v, 't, T> {
    value: &'v mut T,
    trail: Trail<'t>,
}

impl<'de, T: Fill> DeserializeSeed<'de> for EntrySeed<'_, '_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.value.fill(deserializer, self.trail)
    }
}
