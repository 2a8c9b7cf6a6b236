//! Writes the ProtoJSON codec: `Serialize`, `Deserialize` and what both need of each message.

use std::fmt::Write as _;

use prost_reflect::DescriptorPool;

use super::model::{self, Field, Message, OneOf, Shape, Type};

/// The Rust code of the codec, not yet formatted.
pub(crate) fn generate(pool: &DescriptorPool) -> String {
    let mut out = String::from("use crate::json::{read, write};\n");
    for message in model::messages(pool) {
        assert!(
            message.fields.len() <= 32,
            "the reader keeps a bit for each field"
        );
        serialize(&mut out, &message);
        deserialize(&mut out, &message);
        for oneof in &message.oneofs {
            arms(&mut out, &message, oneof);
        }
    }
    for descriptor in model::enums(pool) {
        let name = model::type_name(descriptor.name());
        emit(
            &mut out,
            format_args!(
                "impl crate::json::Enum for {name} {{
                    fn name(number: i32) -> Option<&'static str> {{
                        Self::try_from(number).ok().map(|value| value.as_str_name())
                    }}
                    fn number(name: &str) -> Option<i32> {{
                        Self::from_str_name(name).map(i32::from)
                    }}
                }}"
            ),
        );
    }
    out
}

fn serialize(out: &mut String, message: &Message) {
    let mut body = String::new();
    for field in &message.fields {
        match &field.arm {
            None => emit(&mut body, format_args!("{}", entry(field))),
            Some((place, _)) => {
                let oneof = &message.oneofs[*place];
                if oneof.arms.first() == Some(&field.index) {
                    oneof_entry(&mut body, message, oneof);
                }
            }
        }
    }
    emit(
        out,
        format_args!(
            "impl serde_core::Serialize for {name} {{
                fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{
                    let mut map = serializer.serialize_map(None)?;
                    {body}
                    serde_core::ser::SerializeMap::end(map)
                }}
            }}",
            name = message.name
        ),
    );
}

/// Writes a field that is no arm: always when it is REQUIRED and has a value to show, else when it differs from its
/// default.
fn entry(field: &Field) -> String {
    let ident = &field.ident;
    let present = match &field.shape {
        Shape::Single(Type::Enum(name)) => {
            let value = format!("&write::Enum::<{name}>::new(self.{ident})");
            return put_if(field, &format!("self.{ident} != 0"), &value);
        }
        Shape::Single(Type::Message | Type::Struct | Type::Timestamp | Type::Value)
        | Shape::Optional(_) => {
            return format!(
                "if let Some(value) = &self.{ident} {{ {} }}",
                put(field, "value")
            );
        }
        Shape::Single(Type::Bool) => format!("self.{ident}"),
        Shape::Single(Type::Int32) => format!("self.{ident} != 0"),
        Shape::Single(Type::String | Type::Bytes) | Shape::List(_) | Shape::Map(_) => {
            format!("!self.{ident}.is_empty()")
        }
    };
    let value = format!("&self.{ident}");
    if field.required {
        put(field, &value)
    } else {
        put_if(field, &present, &value)
    }
}

fn put_if(field: &Field, condition: &str, value: &str) -> String {
    format!("if {condition} {{ {} }}", put(field, value))
}

fn put(field: &Field, value: &str) -> String {
    format!(
        "serde_core::ser::SerializeMap::serialize_entry(&mut map, {:?}, {value})?;",
        field.json
    )
}

fn oneof_entry(out: &mut String, message: &Message, oneof: &OneOf) {
    let mut arms = String::new();
    for field in oneof.arms.iter().map(|index| &message.fields[*index]) {
        let value = match &field.shape {
            Shape::Single(Type::Bytes) => "&write::Base64(value)",
            _ => "value",
        };
        emit(
            &mut arms,
            format_args!(
                "{}::{}(value) => {{ {} }}",
                oneof.path,
                variant(field),
                put(field, value)
            ),
        );
    }
    emit(
        out,
        format_args!(
            "if let Some(arm) = &self.{} {{ match arm {{ {arms} }} }}",
            oneof.ident
        ),
    );
}

fn deserialize(out: &mut String, message: &Message) {
    let mut names = String::new();
    let mut indices = String::new();
    let mut reads = String::new();
    for field in &message.fields {
        let index = field.index;
        emit(&mut names, format_args!("{:?},", field.ident));
        let pattern = if field.json == field.ident {
            format!("{:?}", field.json)
        } else {
            format!("{:?} | {:?}", field.json, field.ident)
        };
        emit(&mut indices, format_args!("{pattern} => Some({index}),"));
        let action = match &field.arm {
            None => read(field),
            Some((place, variant)) => arm_read(field, &message.oneofs[*place], variant),
        };
        emit(&mut reads, format_args!("{index} => {action},"));
    }
    emit(
        out,
        format_args!(
            "impl read::Readable for {name} {{
                const NAME: &'static str = {name:?};
                const FIELDS: &'static [&'static str] = &[{names}];
                fn index(name: &str) -> Option<usize> {{
                    match name {{ {indices} _ => None }}
                }}
                fn read<'de, A: serde_core::de::MapAccess<'de>>(
                    &mut self, index: usize, map: &mut A, trail: read::Trail<'_>,
                ) -> Result<(), A::Error> {{
                    match index {{ {reads} _ => read::skip(map)? }}
                    Ok(())
                }}
            }}
            impl<'de> serde_core::Deserialize<'de> for {name} {{
                fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{
                    read::message_from(deserializer)
                }}
            }}",
            name = message.name
        ),
    );
}

/// The expression that reads the value of a field.
fn read(field: &Field) -> String {
    let place = format!("self.{}", field.ident);
    let value = match &field.shape {
        Shape::Single(Type::Message) => {
            return format!("read::message(map, trail, &mut {place})?");
        }
        Shape::List(_) => return format!("read::list(map, trail, &mut {place})?"),
        Shape::Map(_) => return format!("read::dictionary(map, trail, &mut {place})?"),
        Shape::Single(Type::String) => "read::text(map)?".to_owned(),
        Shape::Single(Type::Bool) => "read::flag(map)?".to_owned(),
        Shape::Single(Type::Int32) => "read::int32(map)?.unwrap_or_default()".to_owned(),
        Shape::Single(Type::Enum(name)) => format!("read::enumeration::<{name}, _>(map)?"),
        Shape::Single(Type::Bytes) => "read::bytes(map)?.unwrap_or_default()".to_owned(),
        Shape::Optional(Type::Int32) => "read::int32(map)?".to_owned(),
        Shape::Single(Type::Struct | Type::Timestamp | Type::Value) | Shape::Optional(_) => {
            "read::optional(map)?".to_owned()
        }
    };
    format!("{place} = {value}")
}

/// The expression that reads an arm: `null` leaves the one-of alone, but for a `Value`, where it is a value.
fn arm_read(field: &Field, oneof: &OneOf, variant: &str) -> String {
    let set = format!(
        "read::arm(&mut self.{}, {}::{variant}(value))?",
        oneof.ident, oneof.path
    );
    match &field.shape {
        Shape::Single(Type::Value) => format!("{{ let value = read::value(map)?; {set} }}"),
        Shape::Single(Type::Bytes) => format!("if let Some(value) = read::bytes(map)? {{ {set} }}"),
        Shape::Single(Type::Message) => format!(
            "{{
                let mut slot = None;
                read::message(map, trail, &mut slot)?;
                if let Some(value) = slot {{ {set} }}
            }}"
        ),
        _ => format!("if let Some(value) = read::optional(map)? {{ {set} }}"),
    }
}

fn arms(out: &mut String, message: &Message, oneof: &OneOf) {
    let mut weights = String::new();
    let mut real = false;
    for field in oneof.arms.iter().map(|index| &message.fields[*index]) {
        match &field.shape {
            Shape::Single(Type::String | Type::Bytes) => emit(
                &mut weights,
                format_args!(
                    "Self::{}(value) => read::Weight::of_content(value.is_empty()),",
                    variant(field)
                ),
            ),
            Shape::Single(Type::Value) => emit(
                &mut weights,
                format_args!(
                    "Self::{}(value) => read::Weight::of_value(value.is_null()),",
                    variant(field)
                ),
            ),
            _ => real = true,
        }
    }
    if real {
        weights.push_str("_ => read::Weight::Real,");
    }
    let names: Vec<&str> = oneof
        .arms
        .iter()
        .map(|index| message.fields[*index].ident.as_str())
        .collect();
    emit(
        out,
        format_args!(
            "impl read::OneOf for {} {{
                const ARMS: &'static str = {:?};
                fn weight(&self) -> read::Weight {{ match self {{ {weights} }} }}
            }}",
            oneof.path,
            names.join(", ")
        ),
    );
}

fn variant(field: &Field) -> &str {
    field.arm.as_ref().map_or("", |(_, variant)| variant)
}

fn emit(out: &mut String, code: std::fmt::Arguments<'_>) {
    writeln!(out, "{code}").expect("a string takes all");
}
