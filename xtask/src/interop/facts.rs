//! What our tests take for granted of the SDKs, asked of the real ones.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Result;
use super::peer::Peer;
use super::prepare::Prepared;

/// What was found about one fact of one SDK.
pub struct Found {
    peer: Peer,
    side: &'static str,
    fact: String,
    what: String,
    /// What was seen instead.
    changed: Option<String>,
}

/// Asks an agent that runs.
pub fn of_agent(ours: &Prepared, peer: Peer, url: &str) -> Result<Vec<Found>> {
    look(ours, peer, "agent", &["facts-of-agent", peer.name(), url])
}

/// Looks through what a client has sent.
pub fn of_client(ours: &Prepared, peer: Peer, record: &Path) -> Result<Vec<Found>> {
    let record = record.to_str().ok_or("a path is not UTF-8")?;
    look(
        ours,
        peer,
        "client",
        &["facts-of-client", peer.name(), record],
    )
}

fn look(ours: &Prepared, peer: Peer, side: &'static str, words: &[&str]) -> Result<Vec<Found>> {
    let program = ours.agent.first().ok_or("there is no program")?;
    let output = Command::new(program).args(words).output()?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the facts of {} can't be looked at: {error}", peer.name()).into());
    }
    let found = String::from_utf8(output.stdout)?
        .lines()
        .map(|line| read(line, peer, side))
        .collect::<Result<Vec<_>>>()?;
    let changed = found.iter().filter(|found| found.changed.is_some()).count();
    let (name, count) = (peer.name(), found.len());
    println!("facts of the {side} {name}: {count} asked, {changed} changed");
    Ok(found)
}

fn read(line: &str, peer: Peer, side: &'static str) -> Result<Found> {
    let line: Value = serde_json::from_str(line)?;
    let text = |key: &str| line.get(key).and_then(Value::as_str).map(str::to_owned);
    Ok(Found {
        peer,
        side,
        fact: text("fact").ok_or("a finding names no fact")?,
        what: text("what").ok_or("a finding says nothing")?,
        changed: text("changed"),
    })
}

/// A line for each fact that is not what it was.
pub fn changed(found: &[Found]) -> impl Iterator<Item = String> {
    found.iter().filter_map(|found| {
        let changed = found.changed.as_deref()?;
        let (side, name) = (found.side, found.peer.name());
        let (fact, what) = (&found.fact, &found.what);
        Some(format!(
            "the fact has changed: {fact}, {side} of {name}: {what}: {changed}"
        ))
    })
}

/// The part of RESULTS.md that tells of them.
pub fn markdown(found: &[Found]) -> String {
    let mut rows: Vec<(&str, &str, &str)> = Vec::new();
    for found in found {
        let row = (found.fact.as_str(), found.side, found.what.as_str());
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows.sort_by_key(|(fact, side, _)| (number(fact), *side));
    let peers: Vec<Peer> = Peer::ALL
        .into_iter()
        .filter(|peer| *peer != Peer::Rust)
        .collect();
    let mut text = String::from(
        "\n## Wire facts, asked of the SDKs themselves\n\n\
         What [the tests without peers](WIRE_FACTS.md) replay. A fact that has changed fails the run.\n\n| fact | of the | what |",
    );
    for peer in &peers {
        let _ = write!(text, " {} |", peer.name());
    }
    let _ = writeln!(text, "\n|---|---|---|{}", "---|".repeat(peers.len()));
    for (fact, side, what) in rows {
        let _ = write!(text, "| {fact} | {side} | {what} |");
        for peer in &peers {
            let met = found.iter().find(|found| {
                found.peer == *peer
                    && (found.fact.as_str(), found.side, found.what.as_str()) == (fact, side, what)
            });
            let _ = match met {
                None => write!(text, " |"),
                Some(found) if found.changed.is_none() => write!(text, " holds |"),
                Some(_) => write!(text, " CHANGED |"),
            };
        }
        text.push('\n');
    }
    text
}

/// W9 stands before W10.
fn number(fact: &str) -> u32 {
    fact.trim_start_matches('W').parse().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(fact: &str, peer: Peer, changed: Option<&str>) -> Found {
        Found {
            peer,
            side: "agent",
            fact: fact.to_owned(),
            what: "it answers".to_owned(),
            changed: changed.map(str::to_owned),
        }
    }

    #[test]
    fn a_changed_fact_is_told_and_shown() {
        let all = [
            found("W10", Peer::Go, None),
            found("W9", Peer::Js, Some("saw 500")),
        ];
        let lines: Vec<String> = changed(&all).collect();
        assert_eq!(
            lines,
            ["the fact has changed: W9, agent of js: it answers: saw 500"]
        );
        let text = markdown(&all);
        assert!(
            text.contains("| W9 | agent | it answers | | CHANGED | |"),
            "{text}"
        );
        assert!(text.find("| W9 ") < text.find("| W10 "), "{text}");
    }
}
