//! `google.protobuf.Struct` and `Value` in binary, without the messages in between.

use bytes::{Buf, BufMut};
use prost::DecodeError;
use prost::encoding::{self, DecodeContext, WireType};
use serde_json::Map;

use super::{Struct, Value, number_value};

/// The length of a `Struct`, noting that of each body in it.
fn object_len<N: Notes>(map: &Map<String, serde_json::Value>, notes: &mut N) -> usize {
    let mut total = 0;
    for (key, value) in map {
        let place = notes.reserve();
        let body = string_len(key) + delimited_len(value_len(value, notes));
        notes.fill(place, body);
        total += delimited_len(body);
    }
    total
}

/// The length of a `Value`, noting it and that of each body in it.
fn value_len<N: Notes>(value: &serde_json::Value, notes: &mut N) -> usize {
    let place = notes.reserve();
    let body = match value {
        serde_json::Value::Null | serde_json::Value::Bool(_) => 2,
        serde_json::Value::Number(_) => 9,
        serde_json::Value::String(text) => string_len(text),
        serde_json::Value::Array(items) => {
            let inner = notes.reserve();
            let length = items
                .iter()
                .map(|item| delimited_len(value_len(item, notes)))
                .sum();
            notes.fill(inner, length);
            delimited_len(length)
        }
        serde_json::Value::Object(map) => {
            let inner = notes.reserve();
            let length = object_len(map, notes);
            notes.fill(inner, length);
            delimited_len(length)
        }
    };
    notes.fill(place, body);
    body
}

/// Lengths of nested bodies in the order in which they are written: measured once, not again at each level.
trait Notes {
    fn reserve(&mut self) -> usize;
    fn fill(&mut self, place: usize, length: usize);
}

impl Notes for Vec<usize> {
    fn reserve(&mut self) -> usize {
        self.push(0);
        self.len() - 1
    }

    fn fill(&mut self, place: usize, length: usize) {
        if let Some(place) = self.get_mut(place) {
            *place = length;
        }
    }
}

/// For those who want the length of the whole only.
impl Notes for () {
    fn reserve(&mut self) -> usize {
        0
    }

    fn fill(&mut self, _: usize, _: usize) {}
}

struct Writer<'a, B> {
    lengths: std::vec::IntoIter<usize>,
    buf: &'a mut B,
}

impl<B: BufMut> Writer<'_, B> {
    fn object(&mut self, map: &Map<String, serde_json::Value>) {
        for (key, value) in map {
            self.delimited(1);
            self.string(1, key);
            encoding::encode_key(2, WireType::LengthDelimited, self.buf);
            self.value(value);
        }
    }

    /// Writes the length and the body of a `Value`; its key is the caller's.
    fn value(&mut self, value: &serde_json::Value) {
        self.length();
        self.kind(value);
    }

    fn kind(&mut self, value: &serde_json::Value) {
        match value {
            serde_json::Value::Null => {
                encoding::encode_key(1, WireType::Varint, self.buf);
                encoding::encode_varint(0, self.buf);
            }
            serde_json::Value::Bool(flag) => {
                encoding::encode_key(4, WireType::Varint, self.buf);
                encoding::encode_varint(u64::from(*flag), self.buf);
            }
            serde_json::Value::Number(number) => {
                encoding::encode_key(2, WireType::SixtyFourBit, self.buf);
                self.buf.put_f64_le(number.as_f64().unwrap_or(0.0));
            }
            serde_json::Value::String(text) => self.string(3, text),
            serde_json::Value::Array(items) => {
                self.delimited(6);
                for item in items {
                    encoding::encode_key(1, WireType::LengthDelimited, self.buf);
                    self.value(item);
                }
            }
            serde_json::Value::Object(map) => {
                self.delimited(5);
                self.object(map);
            }
        }
    }

    fn delimited(&mut self, tag: u32) {
        encoding::encode_key(tag, WireType::LengthDelimited, self.buf);
        self.length();
    }

    fn length(&mut self) {
        encoding::encode_varint(self.lengths.next().unwrap_or(0) as u64, self.buf);
    }

    fn string(&mut self, tag: u32, text: &str) {
        encoding::encode_key(tag, WireType::LengthDelimited, self.buf);
        encoding::encode_varint(text.len() as u64, self.buf);
        self.buf.put_slice(text.as_bytes());
    }
}

fn string_len(text: &str) -> usize {
    delimited_len(text.len())
}

/// The length of a field with a one-byte key and a body of that many bytes.
fn delimited_len(body: usize) -> usize {
    1 + encoding::encoded_len_varint(body as u64) + body
}

impl prost::Message for Struct {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        let mut lengths = Vec::new();
        object_len(&self.0, &mut lengths);
        let lengths = lengths.into_iter();
        Writer { lengths, buf }.object(&self.0);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        if tag != 1 {
            return encoding::skip_field(wire_type, tag, buf, ctx);
        }
        let mut entry = Entry::default();
        encoding::message::merge(wire_type, &mut entry, buf, ctx)?;
        self.0.insert(entry.key, entry.value.0);
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        object_len(&self.0, &mut ())
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

impl prost::Message for Value {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        let mut lengths = Vec::new();
        value_len(&self.0, &mut lengths);
        let mut lengths = lengths.into_iter();
        // The length of the outermost body is written by whoever holds it.
        lengths.next();
        Writer { lengths, buf }.kind(&self.0);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        match tag {
            1 => {
                let mut null = 0i32;
                encoding::int32::merge(wire_type, &mut null, buf, ctx)?;
                self.0 = serde_json::Value::Null;
            }
            2 => {
                let mut double = 0f64;
                encoding::double::merge(wire_type, &mut double, buf, ctx)?;
                if !double.is_finite() {
                    return Err(invalid("a number in google.protobuf.Value is not finite"));
                }
                self.0 = number_value(double);
            }
            3 => {
                let mut text = String::new();
                encoding::string::merge(wire_type, &mut text, buf, ctx)?;
                self.0 = serde_json::Value::String(text);
            }
            4 => {
                let mut flag = false;
                encoding::bool::merge(wire_type, &mut flag, buf, ctx)?;
                self.0 = serde_json::Value::Bool(flag);
            }
            5 => {
                let mut object = Struct::default();
                encoding::message::merge(wire_type, &mut object, buf, ctx)?;
                self.0 = serde_json::Value::Object(object.0);
            }
            6 => {
                let mut list = List::default();
                encoding::message::merge(wire_type, &mut list, buf, ctx)?;
                self.0 = serde_json::Value::Array(list.0);
            }
            _ => return encoding::skip_field(wire_type, tag, buf, ctx),
        }
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        value_len(&self.0, &mut ())
    }

    fn clear(&mut self) {
        self.0 = serde_json::Value::Null;
    }
}

#[allow(deprecated)]
fn invalid(reason: &'static str) -> DecodeError {
    DecodeError::new(reason)
}

/// An entry of `Struct.fields`; only ever decoded.
#[derive(Debug, Default)]
struct Entry {
    key: String,
    value: Value,
}

impl prost::Message for Entry {
    fn encode_raw(&self, _: &mut impl BufMut) {}

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        match tag {
            1 => encoding::string::merge(wire_type, &mut self.key, buf, ctx),
            2 => encoding::message::merge(wire_type, &mut self.value, buf, ctx),
            _ => encoding::skip_field(wire_type, tag, buf, ctx),
        }
    }

    fn encoded_len(&self) -> usize {
        0
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// `google.protobuf.ListValue`; only ever decoded.
#[derive(Debug, Default)]
struct List(Vec<serde_json::Value>);

impl prost::Message for List {
    fn encode_raw(&self, _: &mut impl BufMut) {}

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        if tag != 1 {
            return encoding::skip_field(wire_type, tag, buf, ctx);
        }
        let mut value = Value::default();
        encoding::message::merge(wire_type, &mut value, buf, ctx)?;
        self.0.push(value.0);
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        0
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_length_is_computed_and_written_once_at_any_depth() {
        let mut value = json!("x".repeat(1_000_000));
        let mut bodies = 1;
        for _ in 0..15 {
            value = json!({"text": "y".repeat(100_000), "inner": [value]});
            // Two entries, a text, the array and its list, and the object around them with its fields.
            bodies += 2 + 1 + 2 + 2;
        }
        let mut lengths = Vec::new();
        value_len(&value, &mut lengths);
        assert_eq!(lengths.len(), bodies);

        let mut out = Vec::new();
        let mut lengths = lengths.into_iter();
        lengths.next();
        let mut writer = Writer {
            lengths,
            buf: &mut out,
        };
        writer.kind(&value);
        assert_eq!(writer.lengths.len(), 0);
        assert_eq!(Value::decode(out.as_slice()).unwrap(), Value::from(value));
    }
}
