//! Our `.proto` file against the protocol as data, field by field.

use std::sync::LazyLock;

use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, EnumDescriptor, ExtensionDescriptor,
    FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor, Value as Reflected,
};
use serde_json::{Map, Value, json};

/// The descriptor that the code is generated from.
pub(crate) static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    let bytes = include_bytes!("../../src/generated/descriptor.bin");
    DescriptorPool::decode(bytes.as_slice()).unwrap()
});

#[test]
fn the_descriptor_says_what_the_protocol_says() {
    let data: Value = serde_json::from_str(include_str!("../data/a2a-v1.json")).unwrap();
    let package = data["package"].as_str().unwrap();
    let extension = |name: &str| POOL.get_extension_by_name(name).unwrap();
    let options = Options {
        behavior: extension("google.api.field_behavior"),
        http: extension("google.api.http"),
        signature: extension("google.api.method_signature"),
    };

    let messages: Map<String, Value> = POOL
        .all_messages()
        .filter(|message| message.package_name() == package && !message.is_map_entry())
        .map(|message| (message.full_name().to_owned(), options.message(&message)))
        .collect();
    assert_eq!(messages.len(), 44);
    assert_eq!(Value::Object(messages), data["messages"]);

    let enums: Map<String, Value> = POOL
        .all_enums()
        .filter(|descriptor| descriptor.package_name() == package)
        .map(|descriptor| (descriptor.full_name().to_owned(), values(&descriptor)))
        .collect();
    assert_eq!(Value::Object(enums), data["enums"]);

    let services: Map<String, Value> = POOL
        .services()
        .filter(|service| service.package_name() == package)
        .map(|service| {
            let methods: Map<String, Value> = service
                .methods()
                .map(|method| (method.name().to_owned(), options.method(&method)))
                .collect();
            (
                service.full_name().to_owned(),
                json!({ "methods": methods }),
            )
        })
        .collect();
    assert_eq!(Value::Object(services), data["services"]);
}

/// The options of Google's API protos, which are extensions.
struct Options {
    behavior: ExtensionDescriptor,
    http: ExtensionDescriptor,
    signature: ExtensionDescriptor,
}

impl Options {
    fn message(&self, message: &MessageDescriptor) -> Value {
        let mut fields: Vec<FieldDescriptor> = message.fields().collect();
        fields.sort_by_key(|field| field.path().last().copied());
        let fields: Vec<Value> = fields.iter().map(|field| self.field(field)).collect();
        let mut described = json!({ "fields": fields });
        let oneofs: Vec<String> = message
            .oneofs()
            .filter(|oneof| !oneof.is_synthetic())
            .map(|oneof| oneof.name().to_owned())
            .collect();
        if !oneofs.is_empty() {
            described["oneofs"] = json!(oneofs);
        }
        described
    }

    fn field(&self, field: &FieldDescriptor) -> Value {
        let mut described = json!({
            "name": field.name(),
            "number": field.number(),
            "json_name": field.json_name(),
            "label": match field.cardinality() {
                Cardinality::Repeated => "repeated",
                Cardinality::Optional | Cardinality::Required => "optional",
            },
            "type": type_name(&field.kind()),
            "presence": field.supports_presence(),
        });
        match field.kind() {
            Kind::Message(message) => described["type_name"] = json!(message.full_name()),
            Kind::Enum(descriptor) => described["type_name"] = json!(descriptor.full_name()),
            _ => {}
        }
        if let Kind::Message(entry) = field.kind()
            && entry.is_map_entry()
        {
            let value = entry.map_entry_value_field().kind();
            described["map"] = json!({
                "key": type_name(&entry.map_entry_key_field().kind()),
                "value": type_name(&value),
            });
            if let Kind::Message(value) = value {
                described["map"]["value_type"] = json!(value.full_name());
            }
        }
        if field.field_descriptor_proto().proto3_optional() {
            described["proto3_optional"] = json!(true);
        } else if let Some(oneof) = field.containing_oneof() {
            described["oneof"] = json!(oneof.name());
        }
        if field
            .field_descriptor_proto()
            .options
            .as_ref()
            .is_some_and(|options| options.deprecated())
        {
            described["deprecated"] = json!(true);
        }
        let behavior = self.behavior(&field.options());
        described["required"] = json!(behavior.contains(&"REQUIRED".to_owned()));
        if !behavior.is_empty() {
            described["behavior"] = json!(behavior);
        }
        described
    }

    fn behavior(&self, options: &DynamicMessage) -> Vec<String> {
        let Kind::Enum(names) = self.behavior.kind() else {
            panic!("field_behavior is an enum")
        };
        let values = options.get_extension(&self.behavior);
        values
            .as_list()
            .unwrap()
            .iter()
            .map(|value| {
                names
                    .get_value(value.as_enum_number().unwrap())
                    .unwrap()
                    .name()
                    .to_owned()
            })
            .collect()
    }

    fn method(&self, method: &MethodDescriptor) -> Value {
        let options = method.options();
        let rule = options.get_extension(&self.http);
        let rule = rule.as_message().unwrap();
        let more = rule.get_field_by_name("additional_bindings").unwrap();
        let mut bindings = vec![binding(rule)];
        bindings.extend(
            more.as_list()
                .unwrap()
                .iter()
                .map(|rule| binding(rule.as_message().unwrap())),
        );
        let mut described = json!({
            "request": method.input().full_name(),
            "response": method.output().full_name(),
            "client_streaming": method.is_client_streaming(),
            "server_streaming": method.is_server_streaming(),
            "http": bindings,
        });
        let signature = options.get_extension(&self.signature);
        let signature: Vec<&str> = signature
            .as_list()
            .unwrap()
            .iter()
            .filter_map(Reflected::as_str)
            .collect();
        if !signature.is_empty() {
            described["method_signature"] = json!(signature);
        }
        described
    }
}

fn binding(rule: &DynamicMessage) -> Value {
    let (pattern, path) = rule
        .fields()
        .find(|(field, _)| field.containing_oneof().is_some())
        .unwrap();
    let mut described = json!({
        "verb": pattern.name().to_uppercase(),
        "path": path.as_str().unwrap(),
    });
    let body = rule.get_field_by_name("body").unwrap();
    if body.as_str() != Some("") {
        described["body"] = json!(body.as_str().unwrap());
    }
    described
}

fn values(descriptor: &EnumDescriptor) -> Value {
    let values: Map<String, Value> = descriptor
        .values()
        .map(|value| (value.name().to_owned(), json!(value.number())))
        .collect();
    json!({ "values": values })
}

fn type_name(kind: &Kind) -> String {
    match kind {
        Kind::Message(_) => "message".to_owned(),
        Kind::Enum(_) => "enum".to_owned(),
        scalar => format!("{scalar:?}").to_lowercase(),
    }
}
