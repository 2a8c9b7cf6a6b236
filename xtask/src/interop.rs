//! Runs every client against every agent, ours and those of the official SDKs, over each binding.

mod driver;
mod facts;
mod faults;
mod judge;
pub mod peer;
pub mod prepare;
mod report;

use std::error::Error;
use std::path::Path;

use facts::Found;
use faults::FAULTS;
use judge::{Judgement, Run, judge};
use peer::Peer;
use prepare::{Preparation, Prepared};

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str =
    "usage: cargo xtask interop [--prepare] [--require-all] [python | js | go | rust]...";

/// The names that a client of the contract takes.
const BINDINGS: [&str; 3] = ["JSONRPC", "HTTP+JSON", "GRPC"];

/// Prepares the peers and, unless that is all that is asked for, runs the matrix and writes its results.
pub fn run(words: &[&str]) -> Result<()> {
    let mut only_prepare = false;
    let mut require_all = false;
    let mut chosen = Vec::new();
    for word in words {
        match *word {
            "--prepare" => only_prepare = true,
            "--require-all" => require_all = true,
            name => chosen.push(Peer::named(name).ok_or(USAGE)?),
        }
    }
    let is_whole = chosen.is_empty();
    if is_whole {
        chosen.extend(Peer::ALL);
    }
    if only_prepare {
        // Ours is built in a moment, and not while cargo is busy with something else.
        chosen.retain(|peer| *peer != Peer::Rust);
    } else if !chosen.contains(&Peer::Rust) {
        // Ours is on one side of every pair.
        chosen.insert(0, Peer::Rust);
    }
    let mut prepared = Vec::new();
    let mut missing = 0;
    for peer in chosen {
        match prepare::prepare(peer)? {
            Preparation::Ready(ready) => prepared.push(ready),
            Preparation::Missing(what) => {
                println!("skipped: {}: needs {what}", peer.name());
                missing += 1;
            }
        }
    }
    if require_all && missing > 0 {
        return Err(format!("{missing} peers can't run here").into());
    }
    if only_prepare {
        return Ok(());
    }
    let (runs, found) = run_all(&prepared)?;
    let mut judgement = judge(&runs, FAULTS);
    judgement.wrong.extend(facts::changed(&found));
    let file = crate::workspace_root().join("tests/interop/RESULTS.md");
    if is_whole && missing == 0 {
        let text = report::markdown(&runs, FAULTS) + &facts::markdown(&found);
        std::fs::write(file, text)?;
    } else {
        println!("RESULTS.md stays as it is: this was not the whole matrix");
    }
    conclude(&judgement)
}

fn run_all(prepared: &[Prepared]) -> Result<(Vec<Run>, Vec<Found>)> {
    let ours = prepared
        .iter()
        .find(|prepared| prepared.peer == Peer::Rust)
        .ok_or("our own peer is not built")?;
    let cases = driver::case_names(ours)?;
    let logs = prepare::target().join("log");
    std::fs::create_dir_all(&logs)?;
    let (mut runs, mut found) = (Vec::new(), Vec::new());
    // First our client, so that the version of each SDK is known from its agent.
    for theirs in prepared {
        let running = start(theirs, &[], &logs)?;
        runs.extend(pair(ours, theirs.peer, &running, None, &cases, &logs)?);
        if theirs.peer != Peer::Rust {
            found.extend(facts::of_agent(ours, theirs.peer, &running.url)?);
        }
    }
    for theirs in prepared.iter().filter(|peer| peer.peer != Peer::Rust) {
        let sdk = runs.iter().find(|run| run.agent == theirs.peer);
        let sdk = sdk.map(|run| run.sdk.clone());
        let record = logs.join(format!("{}.record", theirs.peer.name()));
        let running = start(
            ours,
            &[record.to_str().ok_or("a path is not UTF-8")?],
            &logs,
        )?;
        let pair = pair(theirs, Peer::Rust, &running, sdk, &cases, &logs)?;
        runs.extend(pair);
        found.extend(facts::of_client(ours, theirs.peer, &record)?);
    }
    Ok((runs, found))
}

fn start(agent: &Prepared, more: &[&str], logs: &Path) -> Result<driver::Agent> {
    let log = logs.join(format!("{}.agent", agent.peer.name()));
    driver::Agent::start(agent, more, &log)
}

/// One client against one agent, over each binding. The SDK that counts is that of the agent, unless another is named.
fn pair(
    client: &Prepared,
    agent: Peer,
    running: &driver::Agent,
    sdk: Option<String>,
    cases: &[String],
    logs: &Path,
) -> Result<Vec<Run>> {
    let name = format!("{}-{}", client.peer.name(), agent.name());
    let sdk = sdk.unwrap_or_else(|| running.sdk.clone());
    let mut runs = Vec::new();
    for binding in BINDINGS {
        let log = logs.join(format!("{name}-{}", binding.replace('+', "-")));
        let run = Run {
            client: client.peer,
            agent,
            sdk: sdk.clone(),
            binding,
            verdicts: driver::drive(client, &running.url, binding, cases, &log)?,
        };
        println!("{}", run.summary(FAULTS));
        runs.push(run);
    }
    Ok(runs)
}

fn conclude(judgement: &Judgement) -> Result<()> {
    for line in &judgement.wrong {
        println!("{line}");
    }
    match judgement.wrong.len() {
        0 => Ok(()),
        count => Err(format!("interop: {count} results are not as they should be").into()),
    }
}
