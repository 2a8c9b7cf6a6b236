//! gRPC server reflection, so that tools such as grpcurl need no `.proto` files.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use a2a_proto::FILE_DESCRIPTOR_SET;
use axum::body::Body;
use tonic::server::NamedService;
use tonic_reflection::server::{Builder, Error};
use tower_service::Service;

pub(crate) type Answer = Pin<Box<dyn Future<Output = http::Response<Body>> + Send>>;
pub(crate) type Handler = Arc<dyn Fn(http::Request<Body>) -> Answer + Send + Sync>;

/// Both versions of the service: `v1`, and `v1alpha` for tools that know no other.
#[derive(Clone)]
pub(super) struct Reflection {
    services: [(&'static str, Handler); 2],
}

impl Reflection {
    /// The service over the protocol's descriptors and those of gRPC health.
    ///
    /// # Errors
    ///
    /// When the descriptors can't be read, which a test rules out.
    pub(super) fn new() -> Result<Self, Error> {
        let builder = || {
            Builder::configure()
                .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        Ok(Self {
            services: [
                handler(builder().build_v1()?),
                handler(builder().build_v1alpha()?),
            ],
        })
    }

    /// What answers at that path, if it is one of reflection's.
    pub(super) fn at(&self, path: &str) -> Option<Handler> {
        let service = path.strip_prefix('/')?.split('/').next()?;
        let found = self.services.iter().find(|(name, _)| *name == service);
        found.map(|(_, handler)| Arc::clone(handler))
    }
}

fn handler<S>(service: S) -> (&'static str, Handler)
where
    S: NamedService + Clone + Send + Sync + 'static,
    S: Service<
            http::Request<Body>,
            Response = http::Response<tonic::body::Body>,
            Error = std::convert::Infallible,
            Future: Send,
        >,
{
    let handle = move |request| {
        let mut service = service.clone();
        Box::pin(async move {
            match service.call(request).await {
                Ok(response) => response.map(Body::new),
                Err(never) => match never {},
            }
        }) as Answer
    };
    (S::NAME, Arc::new(handle))
}

impl fmt::Debug for Reflection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflection").finish_non_exhaustive()
    }
}
