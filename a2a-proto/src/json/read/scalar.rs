//! Numbers, enums, bytes and texts: what JSON may write for them.

use std::fmt;
use std::marker::PhantomData;

use base64::Engine as _;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};
use bytes::Bytes;
use serde_core::Deserialize;
use serde_core::de::value::MapAccessDeserializer;
use serde_core::de::{Deserializer, Error, MapAccess, Unexpected, Visitor};

use crate::json::{Enum, Value};

pub(crate) fn optional<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    map: &mut A,
) -> Result<Option<T>, A::Error> {
    map.next_value()
}

pub(crate) fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
    Ok(optional(map)?.unwrap_or_default())
}

pub(crate) fn flag<'de, A: MapAccess<'de>>(map: &mut A) -> Result<bool, A::Error> {
    Ok(optional(map)?.unwrap_or_default())
}

pub(crate) fn value<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Value, A::Error> {
    map.next_value()
}

pub(crate) fn int32<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<i32>, A::Error> {
    let number: Option<Int32> = map.next_value()?;
    Ok(number.map(|number| number.0))
}

/// The number of an enum value; 0 for `null` and for a name that is unknown here.
pub(crate) fn enumeration<'de, T: Enum, A: MapAccess<'de>>(map: &mut A) -> Result<i32, A::Error> {
    let number: Option<EnumNumber<T>> = map.next_value()?;
    Ok(number.map_or(0, |number| number.0))
}

pub(crate) fn bytes<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Bytes>, A::Error> {
    let content: Option<Base64> = map.next_value()?;
    Ok(content.map(|content| content.0))
}

struct Int32(i32);

impl<'de> Deserialize<'de> for Int32 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |text: &str| text.parse().ok();
        deserializer
            .deserialize_any(NumberVisitor {
                text,
                expected: "a 32-bit integer",
            })
            .map(Self)
    }
}

struct EnumNumber<T>(i32, PhantomData<T>);

impl<'de, T: Enum> Deserialize<'de> for EnumNumber<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |name: &str| Some(T::number(name).unwrap_or(0));
        let number = deserializer.deserialize_any(NumberVisitor {
            text,
            expected: "the name or number of an enum value",
        })?;
        Ok(Self(number, PhantomData))
    }
}

/// Takes an integer however JSON writes it; what a text means is the caller's.
struct NumberVisitor<F> {
    text: F,
    expected: &'static str,
}

impl<'de, F: Fn(&str) -> Option<i32>> Visitor<'de> for NumberVisitor<F> {
    type Value = i32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i32, E> {
        i32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i32, E> {
        i32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<i32, E> {
        integral(number).ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<i32, E> {
        (self.text)(text).ok_or_else(|| E::invalid_value(Unexpected::Other("text"), &self))
    }

    /// With `arbitrary_precision`, serde_json presents each number as a map that only its own `Value` understands.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<i32, A::Error> {
        let value = serde_json::Value::deserialize(MapAccessDeserializer::new(map))?;
        let serde_json::Value::Number(number) = value else {
            return Err(A::Error::invalid_type(Unexpected::Map, &self));
        };
        match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => self.visit_i64(number),
            (None, Some(number)) => self.visit_f64(number),
            (None, None) => Err(A::Error::invalid_value(
                Unexpected::Other("number out of range"),
                &self,
            )),
        }
    }
}

fn integral(number: f64) -> Option<i32> {
    let fits =
        number.fract() == 0.0 && number >= f64::from(i32::MIN) && number <= f64::from(i32::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "just checked")]
    fits.then_some(number as i32)
}

struct Base64(Bytes);

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Base64Visitor)
    }
}

struct Base64Visitor;

impl Visitor<'_> for Base64Visitor {
    type Value = Base64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Base64, E> {
        let engine = if text.bytes().any(|byte| matches!(byte, b'-' | b'_')) {
            &URL_SAFE
        } else {
            &STANDARD
        };
        match engine.decode(text) {
            Ok(bytes) => Ok(Base64(bytes.into())),
            Err(error) => Err(E::custom(format_args!("no base64: {error}"))),
        }
    }
}

/// With or without padding, and whatever the unused bits of the last letter say: other readers take that too.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
static STANDARD: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
static URL_SAFE: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::URL_SAFE, LENIENT);
