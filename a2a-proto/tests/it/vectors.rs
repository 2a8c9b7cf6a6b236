//! The ProtoJSON vectors: what is read, what is refused, what is printed.

use std::fmt::Debug;

use a2a_proto::json;
use a2a_proto::v1;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Vector {
    name: String,
    message: String,
    json_in: String,
    canonical_json: Option<String>,
    binary_base64: Option<String>,
    expect: String,
}

#[test]
fn dm_json_all_vectors_read_and_print_as_they_should() {
    let mut ok = 0;
    let mut error = 0;
    let mut faults = Vec::new();
    for line in include_str!("../data/protojson-vectors.jsonl").lines() {
        let vector: Vector = serde_json::from_str(line).unwrap();
        let outcome = run(&vector);
        let outcome = match vector.expect.as_str() {
            "ok" => outcome.inspect(|()| ok += 1),
            "error" if outcome.is_ok() => Err("accepted".to_owned()),
            "error" => {
                error += 1;
                Ok(())
            }
            // Not scored, but it may not panic.
            _ => Ok(()),
        };
        if let Err(fault) = outcome {
            faults.push(format!("{}: {fault}", vector.name));
        }
    }
    println!("{ok} ok, {error} error");
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!((ok, error), (376, 153));
}

/// Checks one vector against the message type that it names.
fn run(vector: &Vector) -> Result<(), String> {
    macro_rules! dispatch {
        ($($name:ident => $message:ident;)*) => {
            match vector.message.as_str() {
                $(stringify!($name) => check::<v1::$message>(vector),)*
                other => panic!("no message {other}"),
            }
        };
    }
    crate::for_each_message!(dispatch)
}

fn check<M>(vector: &Vector) -> Result<(), String>
where
    M: crate::Message + Debug,
{
    let read: M = json::from_str(&vector.json_in).map_err(|error| error.to_string())?;
    let (Some(canonical), Some(binary)) = (&vector.canonical_json, &vector.binary_base64) else {
        return Ok(());
    };
    let binary = STANDARD.decode(binary).unwrap();
    let decoded = M::decode(binary.as_slice()).map_err(|error| error.to_string())?;
    if read != decoded {
        return Err(format!("read {read:?}, the binary says {decoded:?}"));
    }
    let written = M::decode(read.encode_to_vec().as_slice()).map_err(|error| error.to_string())?;
    if written != decoded {
        return Err(format!("binary written as {written:?}"));
    }
    let printed: Value = serde_json::from_slice(&json::to_vec(&read)).unwrap();
    let canonical: Value = serde_json::from_str(canonical).unwrap();
    if same(&printed, &canonical) {
        Ok(())
    } else {
        Err(format!("printed {printed}, expected {canonical}"))
    }
}

/// Equality by value, where what is printed may have more members if they are defaults: REQUIRED ones always appear.
fn same(printed: &Value, canonical: &Value) -> bool {
    match (printed, canonical) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            b.keys().all(|key| a.contains_key(key))
                && a.iter().all(|(key, value)| match b.get(key) {
                    Some(other) => same(value, other),
                    None => is_default(value),
                })
        }
        (a, b) => a == b,
    }
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}
