#![doc = include_str!("../README.md")]
//!
//! Where to look:
//!
//! - [`v1`]: the messages, with their constructors and readers; [`v1::AgentCard::builder`], [`v1::DecodedCard`].
//! - [`json`]: reading and printing; [`Struct`], [`Value`] and [`Timestamp`], the well-known types.
//! - [`Validate`]: whether what is required is there.
//! - [`apply`]: the reducer, [`v1::Task::apply`].
//! - [`Method`], [`Call`], [`ErrorCode`], [`A2aError`]: the operations and the errors as tables and values.
//! - [`wire`], [`header`]: the codecs of JSON-RPC, HTTP+JSON and server-sent events, and the protocol's headers.
#![cfg_attr(docsrs, feature(doc_cfg))]

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

/// The protocol's `.proto` files with all that they import, compiled: an encoded `google.protobuf.FileDescriptorSet`.
///
/// For gRPC reflection, and for tools that take descriptors, such as `grpcurl -protoset`.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("generated/descriptor.bin");
