//! Wire types of the A2A protocol 1.0.

pub mod apply;
pub mod binding;
pub mod call;
pub mod error;
pub mod header;
pub mod json;
pub mod method;
mod step;
pub mod v1;
mod validate;
pub mod wire;

pub use binding::Binding;
pub use call::{Call, Reply, StreamCall};
pub use error::{A2aError, ErrorCode, FieldViolation};
pub use json::{JsonError, Struct, Timestamp, Value};
pub use method::Method;
pub use validate::Validate;
