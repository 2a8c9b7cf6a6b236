use crate::header::Version;
use crate::v1::security_scheme::Scheme;
use crate::v1::{
    AgentExtension, AgentInterface, AgentProvider, AgentSkill, ApiKeySecurityScheme,
    HttpAuthSecurityScheme, MutualTlsSecurityScheme, OAuth2SecurityScheme, OAuthFlows,
    OpenIdConnectSecurityScheme, SecurityRequirement, SecurityScheme, StringList, o_auth_flows,
};
use crate::{Binding, Struct};

impl AgentInterface {
    /// An interface of A2A 1.0 at that address.
    #[must_use]
    pub fn new(url: impl Into<String>, binding: Binding) -> Self {
        Self {
            url: url.into(),
            protocol_binding: binding.name().to_owned(),
            tenant: String::new(),
            protocol_version: Version::V1_0.to_string(),
        }
    }

    /// Sets the tenant, which callers repeat in each request.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = tenant.into();
        self
    }

    /// The binding; `None` for one that the specification does not have.
    #[must_use]
    pub fn binding(&self) -> Option<Binding> {
        self.protocol_binding.parse().ok()
    }

    /// The protocol version; `None` when the card says none, or nothing that is one.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.protocol_version.parse().ok()
    }
}

impl AgentSkill {
    /// Something that the agent can do; it needs at least one tag too.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: description.into(),
            ..Self::default()
        }
    }

    /// Adds a tag.
    #[must_use]
    pub fn with_tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Adds an example of what a user may say.
    #[must_use]
    pub fn with_example(mut self, example: impl Into<String>) -> Self {
        self.examples.push(example.into());
        self
    }
}

impl AgentExtension {
    /// An extension that callers may use.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }

    /// Says how the agent uses it.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the parameters that the extension defines.
    #[must_use]
    pub fn with_params(mut self, params: Struct) -> Self {
        self.params = Some(params);
        self
    }

    /// Demands that every caller uses it.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

impl AgentProvider {
    /// Who runs the agent.
    #[must_use]
    pub fn new(organization: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            organization: organization.into(),
        }
    }
}

impl SecurityScheme {
    /// A bearer token in the `Authorization` header.
    #[must_use]
    pub fn bearer() -> Self {
        Self::http("Bearer")
    }

    /// A scheme of HTTP authentication, such as `Basic`.
    #[must_use]
    pub fn http(scheme: impl Into<String>) -> Self {
        HttpAuthSecurityScheme {
            scheme: scheme.into(),
            ..Default::default()
        }
        .into()
    }

    /// A key in the header of that name.
    #[must_use]
    pub fn api_key_header(name: impl Into<String>) -> Self {
        ApiKeySecurityScheme {
            location: "header".to_owned(),
            name: name.into(),
            ..Default::default()
        }
        .into()
    }

    /// OAuth 2 with that flow.
    #[must_use]
    pub fn oauth2(flow: o_auth_flows::Flow) -> Self {
        OAuth2SecurityScheme {
            flows: Some(OAuthFlows { flow: Some(flow) }),
            ..Default::default()
        }
        .into()
    }

    /// OpenID Connect with the provider that is described there.
    #[must_use]
    pub fn open_id_connect(url: impl Into<String>) -> Self {
        OpenIdConnectSecurityScheme {
            open_id_connect_url: url.into(),
            ..Default::default()
        }
        .into()
    }

    /// A client certificate.
    #[must_use]
    pub fn mutual_tls() -> Self {
        MutualTlsSecurityScheme::default().into()
    }
}

macro_rules! schemes {
    ($($variant:ident($message:ty);)*) => {
        $(
            impl From<$message> for SecurityScheme {
                fn from(scheme: $message) -> Self {
                    Self {
                        scheme: Some(Scheme::$variant(scheme)),
                    }
                }
            }
        )*
    };
}

schemes! {
    ApiKeySecurityScheme(ApiKeySecurityScheme);
    HttpAuthSecurityScheme(HttpAuthSecurityScheme);
    Oauth2SecurityScheme(OAuth2SecurityScheme);
    OpenIdConnectSecurityScheme(OpenIdConnectSecurityScheme);
    MtlsSecurityScheme(MutualTlsSecurityScheme);
}

impl SecurityRequirement {
    /// One scheme, with the scopes that it takes.
    #[must_use]
    pub fn new<S: Into<String>>(
        scheme: impl Into<String>,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        Self::default().and(scheme, scopes)
    }

    /// Demands another scheme as well.
    #[must_use]
    pub fn and<S: Into<String>>(
        mut self,
        scheme: impl Into<String>,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        let list = scopes.into_iter().map(Into::into).collect();
        self.schemes.insert(scheme.into(), StringList { list });
        self
    }
}
