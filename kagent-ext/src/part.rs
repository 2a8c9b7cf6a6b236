//! Tool calls, code and their results as parts that kagent's UI knows (kagent contract 5).

use a2a_proto::v1::{Part, Task};
use a2a_proto::{Struct, Timestamp};
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

/// Code that the agent runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutableCode {
    /// The language, such as `PYTHON`.
    pub language: String,
    /// The code.
    pub code: String,
}

/// What running [`ExecutableCode`] gave.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeExecutionResult {
    /// Whether it worked, such as `OUTCOME_OK`.
    pub outcome: String,
    /// What it printed.
    pub output: String,
}

impl ExecutableCode {
    /// Code in a language.
    #[must_use]
    pub fn new(language: impl Into<String>, code: impl Into<String>) -> Self {
        Self {
            language: language.into(),
            code: code.into(),
        }
    }

    /// The code in a part; `None` where it is something else.
    #[must_use]
    pub fn of(part: &Part) -> Option<Self> {
        let data = data(part, EXECUTABLE_CODE)?;
        Some(Self::new(text(data, "language"), text(data, "code")))
    }
}

impl CodeExecutionResult {
    /// What code printed that ended well.
    #[must_use]
    pub fn ok(output: impl Into<String>) -> Self {
        Self {
            outcome: OUTCOME_OK.to_owned(),
            output: output.into(),
        }
    }

    /// What code printed that failed.
    #[must_use]
    pub fn failed(output: impl Into<String>) -> Self {
        Self {
            outcome: "OUTCOME_FAILED".to_owned(),
            output: output.into(),
        }
    }

    /// Whether the code ended well.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.outcome == OUTCOME_OK
    }

    /// The result in a part; `None` where it is something else.
    #[must_use]
    pub fn of(part: &Part) -> Option<Self> {
        let data = data(part, CODE_EXECUTION_RESULT)?;
        Some(Self {
            outcome: text(data, "outcome"),
            output: text(data, "output"),
        })
    }
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

    /// The session of the agent that was called, which the UI opens; `None` where the tool is none.
    #[must_use]
    pub fn subagent_session_id(&self) -> Option<&str> {
        self.response
            .get("subagent_session_id")
            .and_then(Value::as_str)
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
        typed(
            FUNCTION_CALL,
            [
                ("id", call.id.into()),
                ("name", call.name.into()),
                ("args", call.args.into()),
            ],
        )
    }
}

impl From<FunctionResponse> for Part {
    fn from(response: FunctionResponse) -> Self {
        typed(
            FUNCTION_RESPONSE,
            [
                ("id", response.id.into()),
                ("name", response.name.into()),
                ("response", response.response.into()),
            ],
        )
    }
}

impl From<ExecutableCode> for Part {
    fn from(code: ExecutableCode) -> Self {
        typed(
            EXECUTABLE_CODE,
            [
                ("language", code.language.into()),
                ("code", code.code.into()),
            ],
        )
    }
}

impl From<CodeExecutionResult> for Part {
    fn from(result: CodeExecutionResult) -> Self {
        typed(
            CODE_EXECUTION_RESULT,
            [
                ("outcome", result.outcome.into()),
                ("output", result.output.into()),
            ],
        )
    }
}

/// Where a message or artifact stands in the transcript; `None` where nobody said.
///
/// The gateway says it of what users send.
#[must_use]
pub fn timeline_position(metadata: Option<&Struct>) -> Option<Timestamp> {
    time(metadata?, key::TIMELINE_POSITION)
}

/// Says where an artifact or message stands in the transcript.
pub fn set_timeline_position(metadata: &mut Option<Struct>, position: Timestamp) {
    metadata
        .get_or_insert_default()
        .insert(key::TIMELINE_POSITION, position.to_string());
}

/// When the gateway took the message that a task began with; `None` where it did not say.
#[must_use]
pub fn task_created_at(task: &Task) -> Option<Timestamp> {
    time(task.metadata.as_ref()?, key::TASK_CREATED_AT)
}

fn time(metadata: &Struct, key: &str) -> Option<Timestamp> {
    metadata.get(key)?.as_str()?.parse().ok()
}

fn typed<const N: usize>(kind: &str, members: [(&str, Value); N]) -> Part {
    let members = members.map(|(name, value)| (name.to_owned(), value));
    let metadata = Map::from_iter([(key::PART_TYPE.to_owned(), Value::from(kind))]);
    Part {
        metadata: Some(metadata.into()),
        ..Part::data(Value::Object(Map::from_iter(members)))
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
const EXECUTABLE_CODE: &str = "executable_code";
const CODE_EXECUTION_RESULT: &str = "code_execution_result";
const OUTCOME_OK: &str = "OUTCOME_OK";

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
    fn code_and_its_result_are_data_parts_of_their_type() {
        let code = ExecutableCode::new("PYTHON", "print(1)");
        let part = Part::from(code.clone());
        assert_eq!(
            part.as_data(),
            Some(&json!({"language": "PYTHON", "code": "print(1)"}))
        );
        assert_eq!(ExecutableCode::of(&part), Some(code));
        assert_eq!(CodeExecutionResult::of(&part), None);
        let result = CodeExecutionResult::ok("1");
        let part = Part::from(result.clone());
        assert_eq!(
            part.metadata.as_ref().unwrap()["kagent.dev/a2a/part-type"],
            "code_execution_result"
        );
        assert_eq!(CodeExecutionResult::of(&part), Some(result));
        assert!(!CodeExecutionResult::failed("no").is_ok());
    }

    #[test]
    fn positions_and_times_are_read_to_the_nanosecond() {
        let position: Timestamp = "2026-11-09T08:07:06.123456789Z".parse().unwrap();
        let mut metadata = None;
        set_timeline_position(&mut metadata, position);
        assert_eq!(timeline_position(metadata.as_ref()), Some(position));
        assert_eq!(timeline_position(None), None);
        let wrong = Struct::from_iter([(key::TIMELINE_POSITION, json!("yesterday"))]);
        assert_eq!(timeline_position(Some(&wrong)), None);
        let task = Task {
            metadata: Some(Struct::from_iter([(
                key::TASK_CREATED_AT,
                json!("2026-11-09T08:07:06Z"),
            )])),
            ..Task::default()
        };
        assert_eq!(
            task_created_at(&task).unwrap().to_string(),
            "2026-11-09T08:07:06Z"
        );
    }

    #[test]
    fn the_session_of_a_called_agent_is_found() {
        let result = json!({"result": "x", "subagent_session_id": "s"});
        let result = FunctionResponse::new("1", "ns__NS__child", result);
        assert_eq!(result.subagent_session_id(), Some("s"));
        assert_eq!(
            FunctionResponse::new("1", "n", "x").subagent_session_id(),
            None
        );
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
