//! What the generators need to know about a message, read from its descriptor.

use heck::{ToSnakeCase as _, ToUpperCamelCase as _};
use prost_reflect::{
    DescriptorPool, EnumDescriptor, ExtensionDescriptor, FieldDescriptor, Kind, MessageDescriptor,
    Value,
};

pub(crate) const PACKAGE: &str = "lf.a2a.v1";

/// A message, under the name of its Rust type.
pub(crate) struct Message {
    pub name: String,
    pub fields: Vec<Field>,
    pub oneofs: Vec<OneOf>,
}

/// A field; `index` is its place in the message.
pub(crate) struct Field {
    pub index: usize,
    pub ident: String,
    pub json: String,
    pub required: bool,
    pub shape: Shape,
    /// The number of the one-of it is an arm of, and its variant there.
    pub arm: Option<(usize, String)>,
}

/// A one-of: the field that holds it, its type, and the indices of its arms.
pub(crate) struct OneOf {
    pub ident: String,
    pub path: String,
    pub arms: Vec<usize>,
}

/// How a field is written and held.
pub(crate) enum Shape {
    Single(Type),
    /// A scalar whose absence differs from its default.
    Optional(Type),
    List(Type),
    /// A map with strings as keys.
    Map(Type),
}

pub(crate) enum Type {
    Bool,
    Bytes,
    Enum(String),
    Int32,
    Message,
    String,
    Struct,
    Timestamp,
    Value,
}

/// The messages of the package, in the order of the file.
pub(crate) fn messages(pool: &DescriptorPool) -> Vec<Message> {
    let behavior = pool
        .get_extension_by_name("google.api.field_behavior")
        .expect("field_behavior.proto is imported");
    pool.all_messages()
        .filter(|message| message.package_name() == PACKAGE && !message.is_map_entry())
        .map(|descriptor| message(&descriptor, &behavior))
        .collect()
}

/// The enums of the package.
pub(crate) fn enums(pool: &DescriptorPool) -> Vec<EnumDescriptor> {
    pool.all_enums()
        .filter(|descriptor| descriptor.package_name() == PACKAGE)
        .collect()
}

pub(crate) fn type_name(proto: &str) -> String {
    proto.to_upper_camel_case()
}

fn message(descriptor: &MessageDescriptor, behavior: &ExtensionDescriptor) -> Message {
    let mut oneofs: Vec<OneOf> = descriptor
        .oneofs()
        .filter(|oneof| !oneof.is_synthetic())
        .map(|oneof| OneOf {
            ident: oneof.name().to_snake_case(),
            path: format!(
                "{}::{}",
                descriptor.name().to_snake_case(),
                oneof.name().to_upper_camel_case()
            ),
            arms: Vec::new(),
        })
        .collect();
    let mut by_line: Vec<FieldDescriptor> = descriptor.fields().collect();
    by_line.sort_by_key(|field| field.path().last().copied());
    let fields: Vec<Field> = by_line
        .iter()
        .enumerate()
        .map(|(index, descriptor)| {
            let place = descriptor.containing_oneof().and_then(|oneof| {
                let ident = oneof.name().to_snake_case();
                oneofs.iter().position(|known| known.ident == ident)
            });
            if let Some(place) = place {
                oneofs[place].arms.push(index);
            }
            Field {
                index,
                ident: descriptor.name().to_snake_case(),
                json: descriptor.json_name().to_owned(),
                required: is_required(descriptor, behavior),
                shape: shape(descriptor),
                arm: place.map(|place| (place, descriptor.name().to_upper_camel_case())),
            }
        })
        .collect();
    Message {
        name: type_name(descriptor.name()),
        fields,
        oneofs,
    }
}

fn is_required(field: &FieldDescriptor, behavior: &ExtensionDescriptor) -> bool {
    const REQUIRED: i32 = 2;
    match field.options().get_extension(behavior).as_ref() {
        Value::List(values) => values.contains(&Value::EnumNumber(REQUIRED)),
        _ => false,
    }
}

fn shape(field: &FieldDescriptor) -> Shape {
    if field.is_map() {
        let Kind::Message(entry) = field.kind() else {
            unreachable!("a map is a list of entries")
        };
        return Shape::Map(type_of(&entry.map_entry_value_field().kind()));
    }
    let kind = type_of(&field.kind());
    if field.is_list() {
        Shape::List(kind)
    } else if field.field_descriptor_proto().proto3_optional() {
        Shape::Optional(kind)
    } else {
        Shape::Single(kind)
    }
}

fn type_of(kind: &Kind) -> Type {
    match kind {
        Kind::Bool => Type::Bool,
        Kind::Bytes => Type::Bytes,
        Kind::Enum(descriptor) => Type::Enum(type_name(descriptor.name())),
        Kind::Int32 => Type::Int32,
        Kind::String => Type::String,
        Kind::Message(message) => match message.full_name() {
            "google.protobuf.Struct" => Type::Struct,
            "google.protobuf.Timestamp" => Type::Timestamp,
            "google.protobuf.Value" => Type::Value,
            _ => Type::Message,
        },
        other => panic!("no field of this protocol is a {other:?}"),
    }
}
