use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An instant as seconds and nanoseconds since the Unix epoch (`google.protobuf.Timestamp`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Message)]
#[allow(clippy::exhaustive_structs)]
pub struct Timestamp {
    /// Whole seconds since the epoch, negative before it.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// Nanoseconds after `seconds`, 0 to 999,999,999.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(after) => Self {
                seconds: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
                nanos: i32::try_from(after.subsec_nanos()).unwrap_or(0),
            },
            Err(error) => {
                let before = error.duration();
                let whole = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
                match i32::try_from(before.subsec_nanos()).unwrap_or(0) {
                    0 => Self {
                        seconds: -whole,
                        nanos: 0,
                    },
                    nanos => Self {
                        seconds: -whole - 1,
                        nanos: 1_000_000_000 - nanos,
                    },
                }
            }
        }
    }
}

impl TryFrom<Timestamp> for SystemTime {
    type Error = prost::DecodeError;

    fn try_from(timestamp: Timestamp) -> Result<Self, Self::Error> {
        let nanos = Duration::from_nanos(u64::try_from(timestamp.nanos).unwrap_or(0));
        let whole = Duration::from_secs(timestamp.seconds.unsigned_abs());
        let base = if timestamp.seconds < 0 {
            UNIX_EPOCH.checked_sub(whole)
        } else {
            UNIX_EPOCH.checked_add(whole)
        };
        #[allow(deprecated)]
        base.and_then(|time| time.checked_add(nanos))
            .ok_or_else(|| prost::DecodeError::new("timestamp out of the range of SystemTime"))
    }
}
