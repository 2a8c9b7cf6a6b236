//! The questions to the agents.

mod envelopes;
mod heads;
mod rest;
mod streams;
mod tasks;

use std::error::Error;

use serde_json::Value;

use super::Finding;
use super::probe::{Ask, Place, Probe, VERSION, text};
use super::web;

const PYTHON: &str = "python";
const JS: &str = "js";
const GO: &str = "go";
const ALL: &[&str] = &[PYTHON, JS, GO];

pub(super) async fn ask(sdk: &str, url: &str) -> Result<Vec<Finding>, Box<dyn Error>> {
    let place = find(url).await?;
    let probes = [
        heads::probes(),
        envelopes::probes(),
        rest::probes(),
        streams::probes(),
        tasks::probes(),
    ];
    let mut findings = Vec::new();
    for probe in probes.into_iter().flatten() {
        if probe.sdks.contains(&sdk) {
            findings.push(probe.run(&place).await);
        }
    }
    Ok(findings)
}

/// Reads the card and has a task done.
async fn find(url: &str) -> Result<Place, Box<dyn Error>> {
    let card = format!("{url}/.well-known/agent-card.json");
    let card = web::send("GET", &card, &[VERSION], b"").await?.json();
    let interfaces = card["supportedInterfaces"]
        .as_array()
        .ok_or("no interfaces")?;
    let at = |binding: &str| {
        let found = interfaces
            .iter()
            .find(|interface| interface["protocolBinding"] == binding);
        let url = found.and_then(|interface| interface["url"].as_str());
        url.map(|url| url.trim_end_matches('/').to_owned())
            .ok_or_else(|| format!("no {binding}"))
    };
    let mut place = Place {
        rpc: at("JSONRPC")?,
        rest: at("HTTP+JSON")?,
        site: url.to_owned(),
        done: String::new(),
    };
    let sent = Ask::Method("SendMessage", text("echo hello"))
        .send(&place, &[])
        .await?;
    let id = sent.json()["result"]["task"]["id"]
        .as_str()
        .map(str::to_owned);
    place.done = id.ok_or_else(|| format!("no task: {}", sent.summary()))?;
    Ok(place)
}

/// A question whose answer is JSON-RPC.
fn rpc(
    fact: &'static str,
    sdks: &'static [&'static str],
    what: &'static str,
    method: &'static str,
    params: Value,
    holds: fn(&web::Answer) -> bool,
) -> Probe {
    Probe {
        fact,
        sdks,
        what,
        ask: Ask::Method(method, params),
        holds,
    }
}

/// A question that is no well-formed call, or is to be seen byte by byte.
fn body(
    fact: &'static str,
    sdks: &'static [&'static str],
    what: &'static str,
    body: &str,
    holds: fn(&web::Answer) -> bool,
) -> Probe {
    Probe {
        fact,
        sdks,
        what,
        ask: Ask::Body(body.to_owned()),
        holds,
    }
}

/// A question over HTTP+JSON.
fn path(
    fact: &'static str,
    sdks: &'static [&'static str],
    what: &'static str,
    (verb, path, body): (&'static str, &'static str, &str),
    holds: fn(&web::Answer) -> bool,
) -> Probe {
    Probe {
        fact,
        sdks,
        what,
        ask: Ask::Path(verb, path, body.to_owned()),
        holds,
    }
}

/// The same question with other headers.
fn with(headers: &'static [(&'static str, &'static str)], probe: Probe) -> Probe {
    Probe {
        ask: Ask::With(headers, Box::new(probe.ask)),
        ..probe
    }
}

/// The element of a list of details that says the reason.
fn reason(details: &Value) -> &str {
    let details = details.as_array().map(Vec::as_slice).unwrap_or_default();
    let found = details.iter().find_map(|detail| detail["reason"].as_str());
    found.unwrap_or_default()
}
