use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;

use a2a_proto::v1::{StreamResponse, TaskState};
use futures_core::Stream;

use super::DEADLINE;

/// Reads a stream to its end. Streams of the server and of the client are taken.
///
/// # Panics
///
/// When the stream fails, or nothing comes for 60 seconds.
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub async fn collect<E: Into<StreamResponse>, F: fmt::Debug>(
    mut stream: impl Stream<Item = Result<E, F>> + Unpin,
) -> Vec<StreamResponse> {
    let mut seen = Vec::new();
    loop {
        match next(&mut stream).await {
            Ok(Some(event)) => seen.push(event),
            Ok(None) => return seen,
            Err(fault) => panic!("{fault} behind {}", told(&seen)),
        }
    }
}

/// Reads a stream until the task has that state, and gives the event that says so.
///
/// # Panics
///
/// When the stream ends or fails before, or nothing comes for 60 seconds.
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub async fn expect_state<E: Into<StreamResponse>, F: fmt::Debug>(
    stream: &mut (impl Stream<Item = Result<E, F>> + Unpin),
    state: TaskState,
) -> StreamResponse {
    let mut seen = Vec::new();
    let name = state.as_str_name();
    loop {
        match next(stream).await {
            Ok(Some(event)) if event.state() == Some(state) => return event,
            Ok(Some(event)) => seen.push(event),
            Ok(None) => panic!("expected {name}, the stream ends behind {}", told(&seen)),
            Err(fault) => panic!("expected {name}, {fault} behind {}", told(&seen)),
        }
    }
}

async fn next<E: Into<StreamResponse>, F: fmt::Debug>(
    stream: &mut (impl Stream<Item = Result<E, F>> + Unpin),
) -> Result<Option<StreamResponse>, String> {
    let next = poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx));
    match tokio::time::timeout(DEADLINE, next).await {
        Ok(Some(Ok(event))) => Ok(Some(event.into())),
        Ok(Some(Err(error))) => Err(format!("the stream fails with {error:?}")),
        Ok(None) => Ok(None),
        Err(_) => Err(format!("nothing comes within {DEADLINE:?}")),
    }
}

/// The events in short: a state, or what else it is.
fn told(seen: &[StreamResponse]) -> String {
    use a2a_proto::v1::stream_response::Payload;
    let name = |event: &StreamResponse| match (event.state(), &event.payload) {
        (Some(state), _) => state.as_str_name(),
        (None, Some(Payload::ArtifactUpdate(_))) => "artifact",
        (None, Some(Payload::Message(_))) => "message",
        (None, _) => "no payload",
    };
    let names: Vec<&str> = seen.iter().map(name).collect();
    format!("{} events: [{}]", names.len(), names.join(", "))
}
