//! Printing ProtoJSON: what the generated code needs beside serde's own impls.

use std::marker::PhantomData;

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde_core::{Serialize, Serializer};

/// An enum value: its name, or its number when it has none here.
pub(crate) struct Enum<T> {
    number: i32,
    of: PhantomData<T>,
}

impl<T> Enum<T> {
    pub(crate) fn new(number: i32) -> Self {
        Self {
            number,
            of: PhantomData,
        }
    }
}

impl<T: super::Enum> Serialize for Enum<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match T::name(self.number) {
            Some(name) => serializer.serialize_str(name),
            None => serializer.serialize_i32(self.number),
        }
    }
}

/// Bytes, as base64 with padding.
pub(crate) struct Base64<'a>(pub(crate) &'a [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

impl Serialize for super::Struct {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl Serialize for super::Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl Serialize for super::Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
