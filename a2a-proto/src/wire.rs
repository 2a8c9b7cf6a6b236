//! Pure codecs of the HTTP bindings: bytes to operations and back, without I/O.

pub mod sse;
