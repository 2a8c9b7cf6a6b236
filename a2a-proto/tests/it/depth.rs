//! How deep JSON values may nest: what is read must be readable by every peer, wherever it stands.

use a2a_proto::v1::{Message, Part, StreamResponse, Task, TaskState, TaskStatus};
use a2a_proto::{Struct, Validate as _, Value, json};
use prost::Message as _;
use serde_json::json;

#[test]
fn thirty_objects_or_forty_five_arrays_are_read_and_no_more() {
    for (text, fits) in [
        (objects(30), true),
        (objects(31), false),
        (arrays(45), true),
        (arrays(46), false),
    ] {
        let document = format!(r#"{{"parts":[{{"data":{text}}}]}}"#);
        let outcome = json::from_str::<Message>(&document);
        assert_eq!(outcome.is_ok(), fits, "{text}");
        if let Err(error) = outcome {
            assert_eq!(error.path(), "parts[0].data");
            assert!(!error.is_syntax());
        }
        let built: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            Message::user("")
                .with_part(Part::data(built))
                .validate()
                .is_ok(),
            fits
        );
    }
}

#[test]
fn what_is_read_decodes_in_the_deepest_place() {
    for text in [objects(30), arrays(45)] {
        let value: Value = serde_json::from_str(&text).unwrap();
        let message = Message::agent("").with_part(Part::data(value));
        let mut task = Task::submitted("t", "c");
        task.status = Some(TaskStatus::with_message(TaskState::Working, message));
        let event = StreamResponse::from(task);
        let update = UpdateTask {
            write: Some(Write { event: Some(event) }),
        };
        let bytes = update.encode_to_vec();
        assert_eq!(UpdateTask::decode(bytes.as_slice()).unwrap(), update);
    }
}

#[test]
fn an_unknown_member_of_any_depth_overflows_nothing() {
    let deep = "[".repeat(200_000);
    let document = format!(r#"{{"text":"x","unknown":{deep}}}"#);
    assert!(json::from_str::<Part>(&document).unwrap_err().is_syntax());
    let closed = format!(r#"{{"text":"x","unknown":{deep}{}}}"#, "]".repeat(200_000));
    // Skipping needs no stack, so the depth of what nobody looks at does not matter.
    let outcome = json::from_str::<Part>(&closed);
    assert!(outcome.is_ok() || outcome.is_err_and(|error| error.is_syntax()));
    let document = format!(r#"{{"metadata":{{"a":{deep}}}}}"#);
    assert!(json::from_str::<Part>(&document).is_err());
}

#[test]
fn too_deep_for_the_parser_is_the_fault_of_a_field_too() {
    let document = format!(r#"{{"parts":[{{"metadata":{}}}]}}"#, objects(500));
    let error = json::from_str::<Message>(&document).unwrap_err();
    assert_eq!(error.path(), "parts[0].metadata");
    assert!(!error.is_syntax(), "{error}");
}

#[test]
fn numbers_that_are_no_doubles_are_errors() {
    for number in ["1e400", "-1e400", "NaN", "Infinity"] {
        let document = format!(r#"{{"metadata":{{"n":{number}}}}}"#);
        assert!(json::from_str::<Task>(&document).is_err(), "{number}");
    }
}

#[test]
fn metadata_survives_the_trip_through_protobuf() {
    let metadata: Struct = json!({
        "i": 1.0, "big": 9_007_199_254_740_993u64, "f": 0.1, "z": -0.0, "n": null, "a": [[], {}, [true]], "s": "é",
    })
    .try_into()
    .unwrap();
    assert_eq!(metadata["i"], 1);
    assert_eq!(metadata["big"].as_f64(), Some(9_007_199_254_740_992.0));
    let bytes = metadata.encode_to_vec();
    assert_eq!(Struct::decode(bytes.as_slice()).unwrap(), metadata);
    let text = serde_json::to_string(&metadata).unwrap();
    assert_eq!(serde_json::from_str::<Struct>(&text).unwrap(), metadata);
    assert!(
        text.contains(r#""i":1,"#) || text.contains(r#""i":1}"#),
        "{text}"
    );
}

fn objects(count: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(count), "}".repeat(count))
}

fn arrays(count: usize) -> String {
    format!("{}1{}", "[".repeat(count), "]".repeat(count))
}

/// A request of a task store: an event stands deeper in it than on the wire.
#[derive(Clone, PartialEq, prost::Message)]
struct UpdateTask {
    #[prost(message, optional, tag = "1")]
    write: Option<Write>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Write {
    #[prost(message, optional, tag = "1")]
    event: Option<StreamResponse>,
}
