//! What makes a client one of agents on kagent (kagent contract 11.11).

use std::time::Duration;

use a2a_client::{
    CallContext, ClientBuilder, Error, EventStream, Interceptor, Next, NextStream, Result, Retries,
    async_trait,
};
use a2a_proto::v1::SendMessageRequest;
use a2a_proto::{Call, Reply, StreamCall};

use crate::uri;

/// Asks for kagent's extensions on every call, and names human in the loop in every message. A message that a busy
/// session did not accept is sent again, for 30 seconds in all; one that may have arrived never is.
///
/// The cards of byo agents announce neither, so that it is done whatever the card says: a message that goes out
/// without it leads to a pause that can never be answered.
///
/// ```no_run
/// # async fn run() -> kagent_ext::a2a_client::Result<()> {
/// use kagent_ext::a2a_client::Client;
/// use kagent_ext::client;
///
/// let client = client::preset(Client::builder()).connect("http://127.0.0.1:8080").await?;
/// # Ok(())
/// # }
/// ```
pub fn preset(client: ClientBuilder) -> ClientBuilder {
    let asking = uri::ACTIVATED
        .into_iter()
        .fold(client, ClientBuilder::extension);
    let retries = Retries::new().also(not_accepted);
    asking.interceptor(NameHitl).retries(retries)
}

/// The one error of kagent's gateway behind which a message may be sent again, and when (kagent contract 7.3, 11.14).
fn not_accepted(error: &Error) -> Option<Duration> {
    let metadata = error.protocol()?.metadata();
    if metadata.get("reason")? != "KAGENT_SEND_NOT_ACCEPTED" {
        return None;
    }
    let told = metadata
        .get("retryAfterMs")
        .and_then(|text| text.parse().ok());
    Some(told.map_or(SOON, Duration::from_millis))
}

const SOON: Duration = Duration::from_millis(100);

/// Names human in the loop in every message that is sent.
struct NameHitl;

#[async_trait]
impl Interceptor for NameHitl {
    async fn unary(&self, mut call: Call, cx: &mut CallContext, next: Next<'_>) -> Result<Reply> {
        if let Call::SendMessage(request) = &mut call {
            name(request);
        }
        next.run(call, cx).await
    }

    async fn stream(
        &self,
        mut call: StreamCall,
        cx: &mut CallContext,
        next: NextStream<'_>,
    ) -> Result<EventStream> {
        if let StreamCall::SendStreamingMessage(request) = &mut call {
            name(request);
        }
        next.run(call, cx).await
    }
}

fn name(request: &mut SendMessageRequest) {
    let Some(message) = &mut request.message else {
        return;
    };
    if message.extensions.iter().all(|named| named != uri::HITL) {
        message.extensions.push(uri::HITL.to_owned());
    }
}
