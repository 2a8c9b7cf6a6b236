//! The raw values of a few members of an object, in any order, without a tree in between.

use std::fmt;

use serde_core::Deserializer;
use serde_core::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

pub(super) type Found<'a, const N: usize> = [Option<&'a RawValue>; N];

pub(super) fn read<'a, D: Deserializer<'a>, const N: usize>(
    deserializer: D,
    names: [&'static str; N],
) -> Result<Found<'a, N>, D::Error> {
    // Unlike a derived struct, this takes no array for an object.
    deserializer.deserialize_map(Members(names))
}

struct Members<const N: usize>([&'static str; N]);

impl<'de, const N: usize> Visitor<'de> for Members<N> {
    type Value = Found<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        let mut seen = [false; N];
        while let Some(index) = map.next_key_seed(Name(&self.0))? {
            let place = index.and_then(|index| found.get_mut(index).zip(seen.get_mut(index)));
            match place {
                Some((_, seen)) if *seen => return Err(Error::custom("a member stands twice")),
                Some((value, seen)) => {
                    *value = map.next_value()?;
                    *seen = true;
                }
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

/// Reads the name of a member: its index, or none for a member of no interest.
struct Name<'a, const N: usize>(&'a [&'static str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for Name<'_, N> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<const N: usize> Visitor<'_> for Name<'_, N> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == text))
    }
}
