use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_core::de::{Deserialize, Deserializer, Visitor};

/// An instant as seconds and nanoseconds since the Unix epoch (`google.protobuf.Timestamp`).
///
/// As text it is RFC 3339 in UTC, with as many fractional digits as it needs: none, three, six or nine.
///
/// ```
/// # use a2a_proto::Timestamp;
/// let timestamp: Timestamp = "2026-01-02T03:04:05.5+02:00".parse().unwrap();
/// assert_eq!(timestamp.to_string(), "2026-01-02T01:04:05.500Z");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Message)]
#[expect(clippy::exhaustive_structs, reason = "the set of fields is protobuf's")]
pub struct Timestamp {
    /// Whole seconds since the epoch, negative before it.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// Nanoseconds after `seconds`, 0 to 999,999,999.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

/// The text is no RFC 3339 timestamp, or the instant is out of the range of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidTimestamp;

impl fmt::Display for InvalidTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an RFC 3339 timestamp in the years 1 to 9999")
    }
}

impl Error for InvalidTimestamp {}

impl Timestamp {
    /// Whether it is in the years 1 to 9999, with 0 to 999,999,999 nanoseconds.
    #[must_use]
    pub fn is_valid(self) -> bool {
        (MIN_SECONDS..=MAX_SECONDS).contains(&self.seconds)
            && (0..NANOS_PER_SECOND).contains(&self.nanos)
    }

    /// The same instant without what is finer than a millisecond.
    #[must_use]
    pub fn truncated_to_millis(self) -> Self {
        Self {
            nanos: self.nanos - self.nanos % 1_000_000,
            ..self
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.seconds.div_euclid(DAY));
        let second = self.seconds.rem_euclid(DAY);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
            second / 3600,
            second / 60 % 60,
            second % 60
        )?;
        match self.nanos {
            0 => f.write_str("Z"),
            nanos if nanos % 1_000_000 == 0 => write!(f, ".{:03}Z", nanos / 1_000_000),
            nanos if nanos % 1_000 == 0 => write!(f, ".{:06}Z", nanos / 1_000),
            nanos => write!(f, ".{nanos:09}Z"),
        }
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text.as_bytes())
            .filter(|timestamp| timestamp.is_valid())
            .ok_or(InvalidTimestamp)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl Visitor<'_> for TextVisitor {
            type Value = Timestamp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an RFC 3339 timestamp")
            }

            fn visit_str<E: serde_core::de::Error>(self, text: &str) -> Result<Timestamp, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let (seconds, nanos) = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => (after.as_secs().cast_signed(), after.subsec_nanos()),
            Err(error) => {
                let before = error.duration();
                let whole = -before.as_secs().cast_signed();
                match before.subsec_nanos() {
                    0 => (whole, 0),
                    nanos => (whole - 1, NANOS_PER_SECOND.cast_unsigned() - nanos),
                }
            }
        };
        Self {
            seconds,
            nanos: nanos.cast_signed(),
        }
    }
}

impl TryFrom<Timestamp> for SystemTime {
    type Error = InvalidTimestamp;

    fn try_from(timestamp: Timestamp) -> Result<Self, Self::Error> {
        let whole = Duration::from_secs(timestamp.seconds.unsigned_abs());
        let nanos = u64::try_from(timestamp.nanos).map_err(|_| InvalidTimestamp)?;
        let base = if timestamp.seconds < 0 {
            UNIX_EPOCH.checked_sub(whole)
        } else {
            UNIX_EPOCH.checked_add(whole)
        };
        base.and_then(|time| time.checked_add(Duration::from_nanos(nanos)))
            .ok_or(InvalidTimestamp)
    }
}

/// `YYYY-MM-DDTHH:MM:SS`, up to nine fractional digits, and `Z` or an offset.
fn parse(text: &[u8]) -> Option<Timestamp> {
    let (date, rest) = text.split_at_checked(10)?;
    let (time, mut rest) = rest.split_at_checked(9)?;
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = date else {
        return None;
    };
    let &[b'T', h0, h1, b':', n0, n1, b':', s0, s1] = time else {
        return None;
    };
    let year = number(&[y0, y1, y2, y3])?;
    let month = bounded(&[m0, m1], 12).filter(|month| *month > 0)?;
    let day = bounded(&[d0, d1], days_in_month(year, month)).filter(|day| *day > 0)?;
    let second =
        bounded(&[h0, h1], 23)? * 3600 + bounded(&[n0, n1], 59)? * 60 + bounded(&[s0, s1], 59)?;

    let mut nanos = 0;
    if let Some((b'.', fraction)) = rest.split_first() {
        let digits = fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, after) = fraction.split_at_checked(digits)?;
        let missing = 9u32.checked_sub(u32::try_from(digits.len()).ok()?)?;
        nanos = number(digits)? * 10i64.pow(missing);
        rest = after;
    }
    let offset = match *rest {
        [b'Z'] => 0,
        [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] => {
            let offset = bounded(&[h0, h1], 23)? * 3600 + bounded(&[m0, m1], 59)? * 60;
            if sign == b'+' { offset } else { -offset }
        }
        _ => return None,
    };
    Some(Timestamp {
        seconds: days(year, month, day) * DAY + second - offset,
        nanos: i32::try_from(nanos).ok()?,
    })
}

fn bounded(digits: &[u8], max: i64) -> Option<i64> {
    number(digits).filter(|number| *number <= max)
}

fn number(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + i64::from(byte - b'0'))
    })
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since the epoch. Years begin in March here, so that the leap day is the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - EPOCH_FROM_MARCH_OF_YEAR_0
}

/// Year, month and day of a day since the epoch.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_FROM_MARCH_OF_YEAR_0;
    let era = days.div_euclid(DAYS_PER_ERA);
    let day_of_era = days.rem_euclid(DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

const DAY: i64 = 86_400;
const DAYS_PER_ERA: i64 = 146_097;
const EPOCH_FROM_MARCH_OF_YEAR_0: i64 = 719_468;
const NANOS_PER_SECOND: i32 = 1_000_000_000;
const MIN_SECONDS: i64 = -62_135_596_800;
const MAX_SECONDS: i64 = 253_402_300_799;
