//! JSON inside protobuf: the well-known types as newtypes over `serde_json`.

mod timestamp;
mod value;

pub use timestamp::Timestamp;
pub use value::{Struct, Value};
