//! The gRPC health service: SERVING until the endpoint shuts down.

use std::pin::Pin;
use std::task::{Context, Poll};

use a2a_proto::method::SERVICE;
use axum::body::Body;
use futures_core::Stream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tower_service::Service as _;

use super::Endpoint;

/// Whether a path is one of the health service.
pub(crate) fn is_at(path: &str) -> bool {
    path.starts_with("/grpc.health.v1.Health/")
}

pub(crate) async fn serve(
    endpoint: &Endpoint,
    request: http::Request<Body>,
) -> http::Response<Body> {
    let serving = Serving {
        stopping: endpoint.0.stopping.clone(),
    };
    match HealthServer::new(serving).call(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}

/// Answers for the whole server and for the A2A service; probes need no credentials.
#[derive(Debug)]
struct Serving {
    stopping: CancellationToken,
}

impl Serving {
    fn known(request: &Request<HealthCheckRequest>) -> Result<(), Status> {
        match request.get_ref().service.as_str() {
            "" | SERVICE => Ok(()),
            _ => Err(Status::not_found("there is no such service here")),
        }
    }
}

#[tonic::async_trait]
impl Health for Serving {
    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        Self::known(&request)?;
        Ok(Response::new(response(self.stopping.is_cancelled())))
    }

    type WatchStream = Watch;

    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Watch>, Status> {
        Self::known(&request)?;
        Ok(Response::new(Watch {
            greeted: self.stopping.is_cancelled(),
            stopping: Some(Box::pin(self.stopping.clone().cancelled_owned())),
        }))
    }
}

/// SERVING at first and NOT_SERVING at the end, so that no watcher holds up the shutdown.
#[derive(Debug)]
struct Watch {
    greeted: bool,
    stopping: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl Stream for Watch {
    type Item = Result<HealthCheckResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if !std::mem::replace(&mut self.greeted, true) {
            return Poll::Ready(Some(Ok(response(false))));
        }
        let Some(stopping) = &mut self.stopping else {
            return Poll::Ready(None);
        };
        std::task::ready!(stopping.as_mut().poll(cx));
        self.stopping = None;
        Poll::Ready(Some(Ok(response(true))))
    }
}

fn response(stopping: bool) -> HealthCheckResponse {
    let status = if stopping {
        ServingStatus::NotServing
    } else {
        ServingStatus::Serving
    };
    HealthCheckResponse {
        status: status as i32,
    }
}
