//! Finds out what a document is.

use kagent_ext::a2a_proto::v1::{self, DecodedCard};
use kagent_ext::a2a_proto::{FieldViolation, JsonError, Validate, json};
use serde_json::Value;

use crate::{card, message as view};

/// A document as a message of some kind.
pub(crate) struct Found {
    pub(crate) view: String,
    pub(crate) faults: Vec<FieldViolation>,
    /// How many members of the document the message has a place for.
    members: usize,
}

/// Reads the document as the message that has a place for most of it; of two that have, as the first one.
pub(crate) fn read(document: &Value) -> Result<Found, String> {
    let mut readings = vec![agent_card(document)];
    macro_rules! read_as {
        ($check:ident: $($message:ident => $view:expr,)*) => {
            $(readings.push(message(document, v1::$message::$check, $view));)*
        };
    }
    read_as! { validate:
        SendMessageRequest => view::request,
        ListTasksRequest => view::other,
        GetTaskRequest => view::other,
        TaskPushNotificationConfig => view::other,
    }
    read_as! { validate_response:
        StreamResponse => view::event,
        ListTasksResponse => view::tasks,
        Task => view::task,
        Message => view::message,
        TaskStatusUpdateEvent => view::other,
        TaskArtifactUpdateEvent => view::other,
        Artifact => view::other,
        TaskStatus => view::other,
        Part => view::other,
        ListTaskPushNotificationConfigsResponse => view::other,
    }
    // A kind that knows the member at which it failed is a better guess than one that knows none.
    let error = readings
        .iter()
        .filter_map(|reading| reading.as_ref().err())
        .find(|error| !error.path().is_empty())
        .map_or_else(
            || "This is no message of A2A 1.0.".to_owned(),
            JsonError::to_string,
        );
    let best = readings
        .into_iter()
        .flatten()
        .rev()
        .max_by_key(|found| found.members);
    best.filter(|found| found.members > 0).ok_or(error)
}

fn agent_card(document: &Value) -> Result<Found, JsonError> {
    let card = DecodedCard::from_value(document.clone())?;
    Ok(Found {
        view: card::view(&card),
        faults: card.validate_response().err().unwrap_or_default(),
        members: common(&serde_json::to_value(&*card).unwrap_or_default(), document),
    })
}

fn message<M: json::Message>(
    document: &Value,
    check: fn(&M) -> Result<(), Vec<FieldViolation>>,
    view: fn(&M) -> String,
) -> Result<Found, JsonError> {
    let message: M = json::from_value(document.clone())?;
    Ok(Found {
        view: view(&message),
        faults: check(&message).err().unwrap_or_default(),
        members: common(
            &serde_json::to_value(&message).unwrap_or_default(),
            document,
        ),
    })
}

/// How many members the two have in common, at any depth.
fn common(printed: &Value, document: &Value) -> usize {
    match (printed, document) {
        (Value::Object(a), Value::Object(b)) => a
            .iter()
            .filter_map(|(key, a)| Some(1 + common(a, b.get(key)?)))
            .sum(),
        (Value::Array(a), Value::Array(b)) => a.iter().zip(b).map(|(a, b)| common(a, b)).sum(),
        _ => 0,
    }
}
