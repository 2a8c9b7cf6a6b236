//! Writes the checks that the REQUIRED annotations and the one-ofs ask for.

use std::fmt::Write as _;

use prost_reflect::DescriptorPool;

use super::model::{self, Field, Message, Shape, Type};

/// The Rust code of the checks, not yet formatted.
pub(crate) fn generate(pool: &DescriptorPool) -> String {
    let mut out = String::from("use crate::validate::{Check, Faults};\n");
    for message in model::messages(pool) {
        let checks: String = message
            .fields
            .iter()
            .filter_map(|field| check(&message, field))
            .collect();
        let name = &message.name;
        writeln!(
            out,
            "impl Check for {name} {{ fn check(&self, faults: &mut Faults) {{ {checks} }} }}"
        )
        .expect("a string takes all");
    }
    out
}

/// The statement that checks a field, if there is anything to check.
fn check(message: &Message, field: &Field) -> Option<String> {
    if let Some((place, _)) = field.arm {
        let first = message.oneofs[place].arms.first() == Some(&field.index);
        return first.then(|| oneof(message, place));
    }
    let call = match &field.shape {
        Shape::Single(Type::Message) if field.required => "required_message",
        Shape::Single(Type::Message) => "message",
        Shape::List(Type::Message) if field.required => "required_messages",
        Shape::List(Type::Message) => "messages",
        Shape::Map(Type::Message) => "message_map",
        Shape::Single(Type::Struct) => "object",
        Shape::Single(Type::Timestamp) => "timestamp",
        Shape::Single(Type::Enum(name)) => {
            let required = field.required;
            return Some(format!(
                "faults.enumeration::<{name}>({ident:?}, self.{ident}, {required});",
                ident = field.ident
            ));
        }
        Shape::Single(Type::String)
            if field.required && !EMPTY_MEANS_SOMETHING.contains(&field.ident.as_str()) =>
        {
            "required_text"
        }
        Shape::List(_) if field.required => "required_list",
        Shape::Map(_) if field.required => "required_map",
        _ => return None,
    };
    let ident = &field.ident;
    Some(format!("faults.{call}({ident:?}, &self.{ident});"))
}

fn oneof(message: &Message, place: usize) -> String {
    let oneof = &message.oneofs[place];
    let arms = || oneof.arms.iter().map(|index| &message.fields[*index]);
    let names: Vec<&str> = arms().map(|field| field.ident.as_str()).collect();
    let mut matches = String::new();
    for field in arms() {
        let call = match &field.shape {
            Shape::Single(Type::Message) => "nested",
            Shape::Single(Type::Value) => "value",
            _ => continue,
        };
        let (_, variant) = field.arm.as_ref().expect("it is an arm");
        let ident = &field.ident;
        write!(
            matches,
            "Some({}::{variant}(value)) => faults.{call}({ident:?}, value),",
            oneof.path
        )
        .expect("a string takes all");
    }
    if matches.matches("Some(").count() < oneof.arms.len() {
        matches.push_str("Some(_) => {}");
    }
    format!(
        "match &self.{ident} {{ {matches} None => faults.missing_arm({ident:?}, {names:?}) }}",
        ident = oneof.ident,
        names = names.join(", ")
    )
}

/// REQUIRED texts that are complete when empty: there is no next page.
const EMPTY_MEANS_SOMETHING: [&str; 1] = ["next_page_token"];
