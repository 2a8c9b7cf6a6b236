//! The protocol's own headers, which are also its gRPC metadata keys (A2A 1.0 §3.6, §4.6, §10.2).

use std::fmt;
use std::str::FromStr;

use http::HeaderMap;
use percent_encoding::percent_decode_str;

/// The header that names the protocol version of a request.
pub const A2A_VERSION: &str = "a2a-version";

/// The header that lists extensions: those a caller asks for, and those an agent has activated.
pub const A2A_EXTENSIONS: &str = "a2a-extensions";

/// The media type of HTTP+JSON bodies and push notifications.
pub const MEDIA_TYPE: &str = "application/a2a+json";

/// A protocol version. Patch numbers are read and dropped: they never matter (A2A 1.0 §3.6).
///
/// ```
/// # use a2a_proto::header::Version;
/// assert_eq!("1.0.7".parse(), Ok(Version::V1_0));
/// assert_eq!(Version::V1_0.to_string(), "1.0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Version {
    /// The first number.
    pub major: u16,
    /// The second number.
    pub minor: u16,
}

/// The text is not a version such as `1.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidVersion(());

/// What a request says about the version that it speaks.
///
/// Absent and empty both mean 0.3 to the specification (A2A 1.0 §3.6.2); a server may be more lenient with the first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestedVersion {
    /// Neither header nor query parameter is there.
    Absent,
    /// It is there without a value.
    Empty,
    /// It is there, and no version.
    Invalid(String),
    /// A version.
    Version(Version),
}

/// A list of extension URIs in the order in which they were first named, each once.
///
/// ```
/// # use a2a_proto::header::Extensions;
/// let mut extensions = Extensions::new();
/// extensions.add_line("https://a.test/x/v1, https://b.test/y/v1");
/// extensions.add_line("https://a.test/x/v1");
/// assert_eq!(extensions.len(), 2);
/// assert_eq!(extensions.to_string(), "https://a.test/x/v1,https://b.test/y/v1");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extensions(Vec<String>);

impl Version {
    /// The version of this crate's types.
    pub const V1_0: Self = Self { major: 1, minor: 0 };

    /// The version before, which is not spoken here.
    pub const V0_3: Self = Self { major: 0, minor: 3 };
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    /// Reads `Major.Minor`, and what cards in the field say beside it: a patch number, a bare major, a leading `v`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let mut numbers = text.strip_prefix('v').unwrap_or(text).split('.');
        let major = number(numbers.next())?;
        let minor = match numbers.next() {
            Some(minor) => number(Some(minor))?,
            None => 0,
        };
        if let Some(patch) = numbers.next() {
            number(Some(patch))?;
        }
        match numbers.next() {
            None => Ok(Self { major, minor }),
            Some(_) => Err(InvalidVersion(())),
        }
    }
}

fn number(text: Option<&str>) -> Result<u16, InvalidVersion> {
    match text {
        // `u16::from_str` would take a sign.
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map_err(|_| InvalidVersion(()))
        }
        _ => Err(InvalidVersion(())),
    }
}

impl fmt::Display for InvalidVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a version such as 1.0")
    }
}

impl std::error::Error for InvalidVersion {}

impl RequestedVersion {
    /// Reads the header, or else the query parameter of the same name.
    #[must_use]
    pub fn of(headers: &HeaderMap, query: Option<&str>) -> Self {
        if let Some(value) = headers.get(A2A_VERSION) {
            return Self::parse(&String::from_utf8_lossy(value.as_bytes()));
        }
        let parameter = query.unwrap_or_default().split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            key.eq_ignore_ascii_case(A2A_VERSION).then_some(value)
        });
        match parameter {
            Some(value) => Self::parse(&percent_decode_str(value).decode_utf8_lossy()),
            None => Self::Absent,
        }
    }

    /// Reads the value of the header.
    #[must_use]
    pub fn parse(value: &str) -> Self {
        match value.trim() {
            "" => Self::Empty,
            text => match text.parse() {
                Ok(version) => Self::Version(version),
                Err(InvalidVersion(())) => Self::Invalid(text.to_owned()),
            },
        }
    }
}

impl Extensions {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads every `A2A-Extensions` line: some peers repeat the header, others send a comma list.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let mut extensions = Self::new();
        for value in headers.get_all(A2A_EXTENSIONS) {
            extensions.add_line(&String::from_utf8_lossy(value.as_bytes()));
        }
        extensions
    }

    /// Adds the URIs of one header line.
    pub fn add_line(&mut self, line: &str) {
        for uri in line.split(',').map(str::trim) {
            self.add(uri);
        }
    }

    /// Adds a URI, unless it is empty or there already.
    pub fn add(&mut self, uri: impl AsRef<str> + Into<String>) {
        if !uri.as_ref().is_empty() && !self.contains(uri.as_ref()) {
            self.0.push(uri.into());
        }
    }

    /// Whether the list has that URI; URIs are compared as text.
    #[must_use]
    pub fn contains(&self, uri: &str) -> bool {
        self.0.iter().any(|known| known == uri)
    }

    /// The URIs in order. To send them, one header line each is what every peer reads.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<S: AsRef<str> + Into<String>> Extend<S> for Extensions {
    fn extend<I: IntoIterator<Item = S>>(&mut self, uris: I) {
        uris.into_iter().for_each(|uri| self.add(uri));
    }
}

impl<S: AsRef<str> + Into<String>> FromIterator<S> for Extensions {
    fn from_iter<I: IntoIterator<Item = S>>(uris: I) -> Self {
        let mut extensions = Self::new();
        extensions.extend(uris);
        extensions
    }
}

/// Prints the comma list.
impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ver_02_and_ver_07_versions_are_major_minor_and_patches_do_not_matter() {
        for text in ["1.0", "1.0.7", " 1.0 ", "1", "v1.0"] {
            assert_eq!(text.parse(), Ok(Version::V1_0), "{text}");
        }
        assert_eq!("0.3.0".parse(), Ok(Version::V0_3));
        for text in ["", "abc", "1.", ".1", "1.x", "1.0.0.0", "+1.0", "99999.0"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }

    #[test]
    fn ver_03_and_ver_04_header_wins_over_query_and_absent_is_not_empty() {
        let mut headers = HeaderMap::new();
        assert_eq!(
            RequestedVersion::of(&headers, None),
            RequestedVersion::Absent
        );
        assert_eq!(
            RequestedVersion::of(&headers, Some("historyLength=1&A2A-Version=1%2E0")),
            RequestedVersion::Version(Version::V1_0)
        );
        assert_eq!(
            RequestedVersion::of(&headers, Some("a2a-version")),
            RequestedVersion::Empty
        );
        headers.insert(A2A_VERSION, "abc".parse().unwrap());
        assert_eq!(
            RequestedVersion::of(&headers, Some("A2A-Version=1.0")),
            RequestedVersion::Invalid("abc".to_owned())
        );
        headers.insert(A2A_VERSION, "".parse().unwrap());
        assert_eq!(
            RequestedVersion::of(&headers, None),
            RequestedVersion::Empty
        );
    }

    #[test]
    fn ext_02_lists_and_repeated_lines_are_trimmed_deduplicated_and_keep_their_order() {
        let mut headers = HeaderMap::new();
        headers.append(A2A_EXTENSIONS, "u2 , u1,,u2".parse().unwrap());
        headers.append(A2A_EXTENSIONS, " u3".parse().unwrap());
        headers.append(A2A_EXTENSIONS, "u1".parse().unwrap());
        let extensions = Extensions::of(&headers);
        assert_eq!(extensions.iter().collect::<Vec<_>>(), ["u2", "u1", "u3"]);
        assert_eq!(extensions.to_string(), "u2,u1,u3");
        assert!(extensions.contains("u1") && !extensions.contains("u"));
    }
}
