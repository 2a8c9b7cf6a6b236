//! Where an agent's card is, and how it is fetched.

mod cache;

use std::net::IpAddr;
use std::time::Duration;

use ::http::response::Parts;
use ::http::{Method, StatusCode};
use a2a_proto::binding::CARD_PATH;
use a2a_proto::v1::DecodedCard;
use bytes::Bytes;
use reqwest::Url;

use crate::CallContext;
use crate::error::{Error, Kind, Result};
use crate::transport::http::{self, Http, Request};

pub use cache::CardCache;

/// Cards are small; what is larger is something else.
const LIMIT: usize = 1024 * 1024;

/// Fetches the card of the agent at a base URL, or the card at its own URL.
pub(crate) async fn fetch(
    http: &Http,
    url: &str,
    context: &CallContext,
    limit: Duration,
    cache: Option<&CardCache>,
) -> Result<DecodedCard> {
    let url = location(url)?;
    let endpoint = http::printable(url.as_str());
    let fetching = fetch_from(http, url, context, cache);
    match tokio::time::timeout(limit, fetching).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::new(Kind::Timeout)),
    }
    .map_err(|error| error.at(&endpoint))
}

async fn fetch_from(
    http: &Http,
    url: Url,
    context: &CallContext,
    cache: Option<&CardCache>,
) -> Result<DecodedCard> {
    let Some(cache) = cache else {
        let (_, body) = ask(http, url, context).await?;
        return decode(&body);
    };
    let key = url.as_str().to_owned();
    if let Some(card) = cache.fresh(&key) {
        return decode(&card);
    }
    let mut asking = context.clone();
    asking.headers_mut().extend(cache.conditions(&key));
    let (head, body) = ask(http, url, &asking).await?;
    if head.status == StatusCode::NOT_MODIFIED {
        let card = cache.renewed(&key, &head.headers);
        return decode(&card.ok_or_else(|| http::status_error(head.status))?);
    }
    let card = decode(&body)?;
    cache.keep(&key, &head.headers, &body);
    Ok(card)
}

/// The answer, which is a card or says that the one that is known is still right.
async fn ask(http: &Http, url: Url, context: &CallContext) -> Result<(Parts, Bytes)> {
    let request = Request {
        verb: Method::GET,
        url,
        accept: "application/json, application/a2a+json",
        body: None,
        context,
    };
    let (head, body) = http.send(request).await?.into_parts();
    if head.status == StatusCode::NOT_FOUND {
        let hint = "no agent card is there; give the base URL of the agent, or that of its card";
        return Err(http::status_error(head.status).with_source(hint));
    }
    if !head.status.is_success() && head.status != StatusCode::NOT_MODIFIED {
        return Err(http::status_error(head.status));
    }
    Ok((head, http::read(body, LIMIT).await?))
}

fn decode(body: &[u8]) -> Result<DecodedCard> {
    DecodedCard::from_slice(body)
        .map_err(|error| Error::decode("the agent card can't be read").with_source(error))
}

/// The URL of the card: a base URL has the well-known path joined to its own, one that names a JSON file is used as it
/// is.
fn location(url: &str) -> Result<Url> {
    let url = url.trim();
    if url.is_empty() {
        return Err(Error::builder("the agent's URL is empty"));
    }
    let scheme = match url.contains("://") {
        true => "",
        false if is_loopback(url) => "http://",
        false => "https://",
    };
    let mut url = http::parse_url(&format!("{scheme}{url}"))?;
    if url.path().ends_with(".json") || url.path().contains("/.well-known/") {
        return Ok(url);
    }
    let path = format!("{}{CARD_PATH}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

/// Whether an address without a scheme is this machine's own, where nobody has a certificate.
fn is_loopback(address: &str) -> bool {
    let host = address.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(host) => host.split(']').next(),
        None => host.split(':').next(),
    };
    let host = host.unwrap_or_default();
    let ip: Option<IpAddr> = host.parse().ok();
    host == "localhost" || ip.is_some_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_16_the_well_known_path_is_joined_and_a_full_url_kept() {
        for (url, expected) in [
            (
                "https://h.test",
                "https://h.test/.well-known/agent-card.json",
            ),
            (
                "https://h.test/",
                "https://h.test/.well-known/agent-card.json",
            ),
            (
                "https://h.test/p",
                "https://h.test/p/.well-known/agent-card.json",
            ),
            (
                "https://h.test/p/?k=v",
                "https://h.test/p/.well-known/agent-card.json?k=v",
            ),
            (
                "http://h.test/p/.well-known/agent-card.json",
                "http://h.test/p/.well-known/agent-card.json",
            ),
            ("http://h.test/cards/my.json", "http://h.test/cards/my.json"),
            ("h.test", "https://h.test/.well-known/agent-card.json"),
        ] {
            assert_eq!(location(url).unwrap().as_str(), expected);
        }
        for host in [
            "localhost",
            "localhost:80",
            "127.0.0.1:8080/p",
            "[::1]:8080",
        ] {
            assert_eq!(location(host).unwrap().scheme(), "http", "{host}");
        }
        for host in ["localhost.test", "10.0.0.1:80", "[fe80::1]:80"] {
            assert_eq!(location(host).unwrap().scheme(), "https", "{host}");
        }
        assert!(location("grpc://h.test").unwrap_err().is_builder());
        let empty = location(" ").unwrap_err();
        assert_eq!(empty.to_string(), "the agent's URL is empty");
    }
}
