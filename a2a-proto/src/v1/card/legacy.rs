//! Brings the shapes of cards in the field into ProtoJSON.

use serde_json::{Map, Value, json};

use crate::json;
use crate::v1::SecurityScheme;

/// Tidies a whole card in place.
pub(super) fn tidy(card: &mut Value) {
    prune(card);
    let Some(card) = card.as_object_mut() else {
        return;
    };
    requirements(card);
    if let Some(Value::Array(skills)) = card.get_mut("skills") {
        skills
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(requirements);
    }
    if let Some(Value::Object(schemes)) = card.get_mut("securitySchemes") {
        let all = std::mem::take(schemes);
        *schemes = all
            .into_iter()
            .filter_map(|(name, scheme)| Some((name, security_scheme(scheme)?)))
            .collect();
    }
}

/// Drops what says nothing, at every depth where the protocol defines the members.
fn prune(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(prune);
        }
        Value::Object(members) => {
            members.retain(|name, member| !is_absent(name, member));
            for (name, member) in members.iter_mut() {
                match name.as_str() {
                    "params" | "header" | "schemes" => {}
                    "scopes" => fill_descriptions(member),
                    _ => prune(member),
                }
            }
        }
        _ => {}
    }
}

fn is_absent(name: &str, member: &Value) -> bool {
    match member {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty() && OBJECTS.contains(&name),
        Value::Object(members) => {
            members.is_empty() && (LISTS.contains(&name) || name == "provider")
        }
        _ => false,
    }
}

/// A scope may have no description.
fn fill_descriptions(scopes: &mut Value) {
    if let Value::Object(scopes) = scopes {
        let empty = scopes.values_mut().filter(|text| text.is_null());
        empty.for_each(|text| *text = json!(""));
    }
}

/// Brings the requirements of a card or skill into the form of 1.0, from `security` of 0.3 where there is nothing else.
fn requirements(holder: &mut Map<String, Value>) {
    if !holder.contains_key("securityRequirements")
        && let Some(old) = holder.get("security")
    {
        let old = old.clone();
        holder.insert("securityRequirements".to_owned(), old);
    }
    let Some(Value::Array(requirements)) = holder.get_mut("securityRequirements") else {
        return;
    };
    for requirement in requirements.iter_mut() {
        if !requirement.get("schemes").is_some_and(Value::is_object) {
            *requirement = json!({ "schemes": requirement.take() });
        }
        if let Some(Value::Object(schemes)) = requirement.get_mut("schemes") {
            schemes.values_mut().for_each(scopes);
        }
    }
}

fn scopes(scopes: &mut Value) {
    match scopes {
        Value::Array(_) => *scopes = json!({ "list": scopes.take() }),
        Value::Object(_) => {}
        _ => *scopes = json!({}),
    }
}

/// The scheme in the form of 1.0, if it is one of any form.
fn security_scheme(mut scheme: Value) -> Option<Value> {
    if let Some(tagged) = scheme.get_mut("scheme").filter(|inner| inner.is_object()) {
        let name = tagged.get("$case")?.as_str()?.to_owned();
        scheme = json!({ name: tagged.get_mut("value")?.take() });
    } else if let Some(kind) = scheme.get("type").and_then(Value::as_str) {
        scheme = old_scheme(kind, &scheme)?;
    }
    let known: SecurityScheme = json::from_value(scheme.clone()).ok()?;
    known.scheme.is_some().then_some(scheme)
}

/// A scheme of 0.3, which is tagged by `type`.
fn old_scheme(kind: &str, old: &Value) -> Option<Value> {
    let name = match kind {
        "apiKey" => "apiKeySecurityScheme",
        "http" => "httpAuthSecurityScheme",
        "oauth2" => "oauth2SecurityScheme",
        "openIdConnect" => "openIdConnectSecurityScheme",
        "mutualTLS" => "mtlsSecurityScheme",
        _ => return None,
    };
    let mut new = old.as_object()?.clone();
    if let Some(location) = new.remove("in") {
        new.insert("location".to_owned(), location);
    }
    if let Some(flows) = new.get_mut("flows") {
        let (name, flow) = FLOWS
            .iter()
            .find_map(|name| Some((*name, flows.get(name)?)))?;
        *flows = json!({ name: flow });
    }
    Some(json!({ name: new }))
}

/// Members that are objects: an empty array says nothing there.
const OBJECTS: [&str; 4] = ["flows", "provider", "scopes", "securitySchemes"];

/// Members that are lists: an empty object says nothing there.
const LISTS: [&str; 12] = [
    "defaultInputModes",
    "defaultOutputModes",
    "examples",
    "extensions",
    "inputModes",
    "outputModes",
    "security",
    "securityRequirements",
    "signatures",
    "skills",
    "supportedInterfaces",
    "tags",
];

/// Of the flows that 0.3 may list side by side, 1.0 has one: the best.
const FLOWS: [&str; 5] = [
    "authorizationCode",
    "clientCredentials",
    "deviceCode",
    "implicit",
    "password",
];
