//! The wall clock, for what has no time of its own.

use std::time::SystemTime;

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(super) fn now() -> SystemTime {
    SystemTime::now()
}
