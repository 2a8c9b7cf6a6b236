//! TLS settings, made for this client alone: no process-wide default is relied on, and none is installed.

use std::sync::{Arc, OnceLock};

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::error::{Error, Result};

/// TLS with the platform's certificate authorities; `SSL_CERT_FILE` and `SSL_CERT_DIR` are respected.
pub(crate) fn config() -> Result<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::builder("TLS can't be set up").with_source(error))?
        .with_root_certificates(Arc::clone(roots()))
        .with_no_client_auth();
    Ok(config)
}

/// Read once, since it may be hundreds of files. With none of them, connecting by TLS fails and says why.
fn roots() -> &'static Arc<RootCertStore> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        let (added, ignored) = roots.add_parsable_certificates(found.certs);
        tracing::debug!(
            added,
            ignored,
            errors = found.errors.len(),
            "certificate authorities read"
        );
        Arc::new(roots)
    })
}
