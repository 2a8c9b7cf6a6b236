use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::fields::Fields;
use super::{ConfigError, Unknown};

/// How the process runs in a cluster (`runtime` of the document).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RuntimeConfig {
    /// The address to listen on; empty for all.
    pub host: String,
    /// The port to listen on.
    pub port: Option<u16>,
    /// The name of the agent.
    pub name: String,
    /// Its Kubernetes namespace.
    pub namespace: String,
    /// The controller, for the agent's own tasks.
    pub control_plane_url: BaseUrl,
    /// The gateway, for other agents.
    pub gateway_url: BaseUrl,
    /// How much to log; empty when not said.
    pub log_level: String,
    /// The most bytes of an HTTP request's body; `None` for no limit.
    pub max_content_length: Option<u64>,
    /// Where traces and metrics go.
    pub telemetry: TelemetryConfig,
    /// Whether the caller's token is passed on.
    pub token_propagation: TokenPropagation,
    /// Members that this version does not know.
    pub unknown: Unknown,
}

/// Where traces, metrics and logs go.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TelemetryConfig {
    /// The collector of traces.
    pub traces: Option<OtlpConfig>,
    /// The collector of metrics.
    pub metrics: Option<OtlpConfig>,
    /// The collector of logs.
    pub logs: Option<OtlpConfig>,
    /// Attributes of the resource.
    pub resource_attributes: BTreeMap<String, String>,
    /// Whether the content of messages may be recorded.
    pub capture_content: bool,
    /// Members that this version does not know.
    pub unknown: Unknown,
}

/// A collector.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OtlpConfig {
    /// Its URL.
    pub endpoint: String,
    /// `grpc` or `http/protobuf`; empty when not said.
    pub protocol: String,
    /// How long an export may take.
    pub timeout: Option<Duration>,
    /// Members that this version does not know.
    pub unknown: Unknown,
}

/// Whether and how the caller's token is passed on.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TokenPropagation {
    /// Whether it is.
    pub enabled: bool,
    /// Where the token is exchanged; empty for nowhere.
    pub sts_well_known_uri: String,
    /// For which resources.
    pub resources: Vec<String>,
    /// For which audiences.
    pub audiences: Vec<String>,
    /// Members that this version does not know.
    pub unknown: Unknown,
}

/// The root URL of a service: `http` or `https`, host and port, nothing else.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl {
    tls: bool,
    authority: String,
}

impl RuntimeConfig {
    /// The name under which the controller knows the agent: `namespace__NS__name` with underscores for hyphens.
    #[must_use]
    pub fn app_name(&self) -> String {
        let mangled = |text: &str| text.replace('-', "_");
        format!("{}__NS__{}", mangled(&self.namespace), mangled(&self.name))
    }

    pub(super) fn read(mut fields: Fields) -> Result<Self, ConfigError> {
        Ok(Self {
            host: fields.text("host")?,
            port: port(&mut fields)?,
            name: fields.required("name")?,
            namespace: fields.required("namespace")?,
            control_plane_url: base_url(&mut fields, "control_plane_url")?,
            gateway_url: base_url(&mut fields, "gateway_url")?,
            log_level: fields.text("log_level")?,
            max_content_length: max_content_length(&mut fields)?,
            telemetry: fields
                .object("telemetry")?
                .map_or_else(|| Ok(TelemetryConfig::default()), TelemetryConfig::read)?,
            token_propagation: fields
                .object("token_propagation")?
                .map_or_else(|| Ok(TokenPropagation::default()), TokenPropagation::read)?,
            unknown: fields.rest(),
        })
    }
}

impl TelemetryConfig {
    fn read(mut fields: Fields) -> Result<Self, ConfigError> {
        Ok(Self {
            traces: fields.object("traces")?.map(OtlpConfig::read).transpose()?,
            metrics: fields
                .object("metrics")?
                .map(OtlpConfig::read)
                .transpose()?,
            logs: fields.object("logs")?.map(OtlpConfig::read).transpose()?,
            resource_attributes: fields.texts("resource_attributes")?,
            capture_content: fields.flag("capture_content")?,
            unknown: fields.rest(),
        })
    }
}

impl OtlpConfig {
    fn read(mut fields: Fields) -> Result<Self, ConfigError> {
        Ok(Self {
            endpoint: fields.text("endpoint")?,
            protocol: fields.text("protocol")?,
            timeout: fields.duration("timeout")?,
            unknown: fields.rest(),
        })
    }
}

impl TokenPropagation {
    fn read(mut fields: Fields) -> Result<Self, ConfigError> {
        Ok(Self {
            enabled: fields.flag("enabled")?,
            sts_well_known_uri: fields.text("sts_well_known_uri")?,
            resources: fields.strings("resources")?,
            audiences: fields.strings("audiences")?,
            unknown: fields.rest(),
        })
    }
}

impl BaseUrl {
    /// Reads a URL.
    ///
    /// # Errors
    ///
    /// The reason why it is not one of these.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let uri: http::Uri = text.parse().map_err(|_| "is not a URL")?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err("must begin with http:// or https://"),
        };
        let Some(authority) = uri.authority() else {
            return Err("names no host");
        };
        if authority.as_str().contains('@') {
            return Err("must not hold credentials");
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() || text.contains('#') {
            return Err("must be a scheme and a host only, without path, query and fragment");
        }
        Ok(Self {
            tls,
            authority: authority.as_str().to_owned(),
        })
    }

    /// Whether it is `https`.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.tls
    }

    /// The host, and the port if one is named.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}://{}",
            if self.tls { "https" } else { "http" },
            self.authority
        )
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn base_url(fields: &mut Fields, name: &str) -> Result<BaseUrl, ConfigError> {
    let text = fields.required(name)?;
    BaseUrl::parse(&text).map_err(|reason| fields.error(name, reason))
}

fn port(fields: &mut Fields) -> Result<Option<u16>, ConfigError> {
    match fields.integer("port")? {
        None | Some(0) => Ok(None),
        Some(port) => u16::try_from(port)
            .map(Some)
            .map_err(|_| fields.error("port", "must be within 1 to 65535")),
    }
}

fn max_content_length(fields: &mut Fields) -> Result<Option<u64>, ConfigError> {
    match fields.integer("max_content_length")? {
        None => Ok(Some(DEFAULT_MAX_CONTENT_LENGTH)),
        Some(0) => Ok(None),
        Some(length) => u64::try_from(length)
            .map(Some)
            .map_err(|_| fields.error("max_content_length", "must not be negative")),
    }
}

const DEFAULT_MAX_CONTENT_LENGTH: u64 = 10 * 1024 * 1024;
