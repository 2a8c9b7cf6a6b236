//! The one place that reads the wall clock.

use std::time::SystemTime;

use a2a_proto::Timestamp;

/// Now, in whole milliseconds (A2A 1.0 §5.6.1).
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn now() -> Timestamp {
    let mut now = Timestamp::from(SystemTime::now());
    now.nanos -= now.nanos % 1_000_000;
    now
}
