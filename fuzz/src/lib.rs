//! What must hold for any bytes: each fuzz target runs one of these, and the tests of `a2a-proto` run them over a fixed
//! corpus.

use a2a_proto::v1::{AgentCard, DecodedCard, StreamResponse, Task};
use a2a_proto::wire::jsonrpc::{self, Request};
use a2a_proto::wire::rest::{self, Route};
use a2a_proto::wire::sse::{Decoder, SseError};
use a2a_proto::{Validate as _, json};
use bytes::Bytes;
use prost::Message as _;

/// A card is read the same from what was printed, and the lenient reader takes all that the strict one takes.
pub fn protojson_card(data: &[u8]) {
    if let Ok(card) = json::from_slice::<AgentCard>(data) {
        assert_eq!(
            json::from_slice::<AgentCard>(&json::to_vec(&card))
                .as_ref()
                .ok(),
            Some(&card)
        );
        assert_eq!(
            AgentCard::decode(card.encode_to_vec().as_slice()).as_ref(),
            Ok(&card)
        );
        let _ = card.validate_response();
    }
    if let Ok(card) = DecodedCard::from_slice(data) {
        let printed = json::to_vec(&card.clone().into_card());
        let again = DecodedCard::from_slice(&printed).expect("what is printed is read");
        let _ = (
            again.peer_version(),
            again.legacy_url(),
            card.validate_response(),
        );
    }
}

/// An event is read the same from both of its forms, and any two events can be folded.
pub fn protojson_stream_response(data: &[u8]) {
    let Ok(event) = json::from_slice::<StreamResponse>(data) else {
        return;
    };
    assert_eq!(
        json::from_slice::<StreamResponse>(&json::to_vec(&event))
            .as_ref()
            .ok(),
        Some(&event)
    );
    assert_eq!(
        StreamResponse::decode(event.encode_to_vec().as_slice()).as_ref(),
        Ok(&event)
    );
    let _ = event.validate();
    if let Some(mut task) = Task::from_event(&event) {
        let _ = task.apply(&event);
    }
}

/// A request that is understood is understood again when it is written anew.
pub fn jsonrpc_request(data: &[u8]) {
    let request = match Request::parse(data) {
        Ok(request) => request,
        Err(error) => {
            assert!(error.to_response().starts_with(b"{"));
            return;
        }
    };
    let Ok(method) = request.method.parse() else {
        return;
    };
    let Ok(operation) = request.operation(method) else {
        return;
    };
    let written = jsonrpc::request(&request.id, &operation);
    let again = Request::parse(&written).expect("what is written is read");
    assert_eq!(again.id, request.id);
    assert_eq!(again.method.parse(), Ok(method));
    assert_eq!(again.operation(method).ok(), Some(operation));
}

/// Lines: verb, path, query, body. What can be sent comes back as it was.
pub fn rest_path(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut lines = text.splitn(4, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (verb, path, query, body) = (line(), line(), line(), line());
    let Ok(verb) = verb.parse() else { return };
    let route = match Route::find(&verb, path) {
        Ok(route) => route,
        Err(error) => {
            assert!((400..500).contains(&error.http_status()));
            return;
        }
    };
    let Ok(operation) = route.operation(Some(query), body.as_bytes()) else {
        return;
    };
    let Ok(request) = rest::request(operation.clone()) else {
        return;
    };
    let (path, query) = match request.path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (request.path.as_str(), None),
    };
    let route = Route::find(&request.verb, path).expect("what is sent has a route");
    let again = route.operation(query, request.body.as_deref().unwrap_or_default());
    assert_eq!(again.expect("what is sent is read"), operation);
}

/// Chunk borders change nothing; the first byte says how long the chunks are.
pub fn sse(data: &[u8]) {
    let Some((length, data)) = data.split_first() else {
        return;
    };
    let whole = events(std::iter::once(data));
    assert_eq!(events(data.chunks(usize::from(*length).max(1))), whole);
}

fn events<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Result<Vec<(String, String)>, SseError> {
    let mut decoder = Decoder::new(256);
    let mut events = Vec::new();
    for chunk in chunks {
        let mut chunk = Bytes::copy_from_slice(chunk);
        while let Some(event) = decoder.next(&mut chunk)? {
            events.push((event.name.to_owned(), event.data.to_owned()));
        }
    }
    if let Some(event) = decoder.finish()? {
        events.push((event.name.to_owned(), event.data.to_owned()));
    }
    Ok(events)
}
