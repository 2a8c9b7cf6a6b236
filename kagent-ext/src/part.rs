//! Tool calls and their results as parts that kagent's UI knows (kagent contract 5).

use a2a_proto::v1::Part;
use serde_json::{Map, Value};

use crate::uri::key;

/// A call of a tool, shown in the transcript.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FunctionCall {
    /// Pairs the call with its result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub args: Map<String, Value>,
}

/// The result of a [`FunctionCall`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FunctionResponse {
    /// The id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it returned. The UI shows `result`, and an error where `isError` is true.
    pub response: Map<String, Value>,
}

impl FunctionCall {
    /// A call without arguments.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            args: Map::new(),
        }
    }

    /// Sets the arguments.
    #[must_use]
    pub fn with_args(mut self, args: Map<String, Value>) -> Self {
        self.args = args;
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.args.insert(name.into(), value.into());
        self
    }

    /// The call in a part; `None` where it is something else.
    #[must_use]
    pub fn of(part: &Part) -> Option<Self> {
        let data = data(part, FUNCTION_CALL)?;
        Some(Self {
            id: text(data, "id"),
            name: text(data, "name"),
            args: object(data, "args"),
        })
    }
}

impl FunctionResponse {
    /// What the call returned. A value that is no object is put under `result`.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, result: impl Into<Value>) -> Self {
        let response = match result.into() {
            Value::Object(response) => response,
            result => Map::from_iter([("result".to_owned(), result)]),
        };
        Self {
            id: id.into(),
            name: name.into(),
            response,
        }
    }

    /// That the call failed, and why.
    #[must_use]
    pub fn error(
        id: impl Into<String>,
        name: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        let response = Map::from_iter([
            ("isError".to_owned(), Value::Bool(true)),
            ("result".to_owned(), Value::String(reason.into())),
        ]);
        Self {
            id: id.into(),
            name: name.into(),
            response,
        }
    }

    /// Whether the call failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.response
            .get("isError")
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }

    /// The result in a part; `None` where it is something else.
    #[must_use]
    pub fn of(part: &Part) -> Option<Self> {
        let data = data(part, FUNCTION_RESPONSE)?;
        Some(Self {
            id: text(data, "id"),
            name: text(data, "name"),
            response: object(data, "response"),
        })
    }
}

impl From<FunctionCall> for Part {
    fn from(call: FunctionCall) -> Self {
        typed(FUNCTION_CALL, call.id, call.name, "args", call.args)
    }
}

impl From<FunctionResponse> for Part {
    fn from(response: FunctionResponse) -> Self {
        typed(
            FUNCTION_RESPONSE,
            response.id,
            response.name,
            "response",
            response.response,
        )
    }
}

fn typed(kind: &str, id: String, name: String, body_key: &str, body: Map<String, Value>) -> Part {
    let data = Map::from_iter([
        ("id".to_owned(), Value::String(id)),
        ("name".to_owned(), Value::String(name)),
        (body_key.to_owned(), Value::Object(body)),
    ]);
    let metadata = Map::from_iter([(key::PART_TYPE.to_owned(), Value::from(kind))]);
    Part {
        metadata: Some(metadata.into()),
        ..Part::data(Value::Object(data))
    }
}

fn data<'a>(part: &'a Part, kind: &str) -> Option<&'a Map<String, Value>> {
    let found = part.metadata.as_ref()?.get(key::PART_TYPE)?.as_str()?;
    if found == kind {
        part.as_data()?.as_object()
    } else {
        None
    }
}

fn text(data: &Map<String, Value>, name: &str) -> String {
    data.get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn object(data: &Map<String, Value>, name: &str) -> Map<String, Value> {
    data.get(name)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

const FUNCTION_CALL: &str = "function_call";
const FUNCTION_RESPONSE: &str = "function_response";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_and_its_result_are_data_parts_of_their_type() {
        let call = FunctionCall::new("call-1", "get_pods").arg("ns", "default");
        let part = Part::from(call.clone());
        assert_eq!(
            part.as_data(),
            Some(&json!({"id": "call-1", "name": "get_pods", "args": {"ns": "default"}})),
        );
        assert_eq!(
            part.metadata.as_ref().unwrap()["kagent.dev/a2a/part-type"],
            "function_call"
        );
        assert_eq!(FunctionCall::of(&part), Some(call));
        assert_eq!(FunctionResponse::of(&part), None);

        let result = FunctionResponse::new("call-1", "get_pods", "two pods");
        let part = Part::from(result.clone());
        assert_eq!(
            part.as_data(),
            Some(&json!({"id": "call-1", "name": "get_pods", "response": {"result": "two pods"}})),
        );
        assert_eq!(
            part.metadata.as_ref().unwrap()["kagent.dev/a2a/part-type"],
            "function_response"
        );
        assert_eq!(FunctionResponse::of(&part), Some(result));
    }

    #[test]
    fn a_failed_call_is_marked_for_the_ui() {
        let part = Part::from(FunctionResponse::error("1", "n", "no such pod"));
        let read = FunctionResponse::of(&part).unwrap();
        assert!(read.is_error());
        assert_eq!(read.response["result"], "no such pod");
        let object = json!({"content": [{"text": "x"}]});
        assert!(!FunctionResponse::new("1", "n", object).is_error());
    }

    #[test]
    fn other_parts_are_neither() {
        for part in [
            Part::text("x"),
            Part::data(json!({"id": "1", "name": "n", "args": {}})),
        ] {
            assert_eq!(
                (FunctionCall::of(&part), FunctionResponse::of(&part)),
                (None, None)
            );
        }
    }
}
