//! Raw handlers that answer with the same bytes as the agent: what the frameworks alone cost.

mod grpc;
mod json;

use crate::Result;
use crate::process::Ready;

pub(crate) async fn serve() -> Result<(Ready, ())> {
    let ready = Ready {
        http: json::serve().await?,
        grpc: grpc::serve().await?,
    };
    Ok((ready, ()))
}

/// As long as the ids that the agent makes.
const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
const TIME: &str = "2026-01-02T03:04:05.678Z";
