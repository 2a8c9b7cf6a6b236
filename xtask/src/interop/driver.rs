//! Starts agents and clients as processes, and ends them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Result;
use super::judge::Verdict;
use super::prepare::Prepared;

/// How long an agent may take until it is ready.
const READY: Duration = Duration::from_secs(60);

/// How long a client may take; it ends by itself before that.
const RUN: Duration = Duration::from_secs(330);

/// How long a process may take to end once it was told to.
const END: Duration = Duration::from_secs(5);

/// A process that ends with its owner.
struct Process(Child);

impl Process {
    fn start(words: &[PathBuf], more: &[&str], log: &Path) -> Result<(Self, Receiver<String>)> {
        let (program, arguments) = words.split_first().ok_or("there is nothing to start")?;
        let child = Command::new(program)
            .args(arguments)
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(log)?)
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let mut process = Self(child);
        let output = process.0.stdout.take().ok_or("there is no output")?;
        Ok((process, lines(output)))
    }

    fn input(&mut self) -> Option<ChildStdin> {
        self.0.stdin.take()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It was told by now; there is no signal for the end of a process but to look.
        let deadline = Instant::now() + END;
        while Instant::now() < deadline {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The lines of a process, read by a thread that ends with its output.
fn lines(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = sync_channel(16);
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(|line| line.ok()) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// An agent that runs.
pub struct Agent {
    pub url: String,
    pub sdk: String,
    // Dropped in this order: its closing tells the agent to end.
    _input: Option<ChildStdin>,
    _process: Process,
}

impl Agent {
    pub fn start(prepared: &Prepared, more: &[&str], log: &Path) -> Result<Self> {
        let (mut process, lines) = Process::start(&prepared.agent, more, log)?;
        let input = process.input();
        let name = prepared.peer.name();
        let line = lines.recv_timeout(READY).map_err(|_| {
            drop(process.input());
            format!("the agent {name} is not ready: see {}", log.display())
        })?;
        let ready: Value = serde_json::from_str(&line)?;
        let text = |key: &str| -> Result<String> {
            let value = ready.get(key).and_then(Value::as_str);
            let value = value.ok_or_else(|| format!("the agent {name} says no {key}: {line}"))?;
            Ok(value.to_owned())
        };
        Ok(Self {
            url: text("url")?,
            sdk: text("sdk")?,
            _input: input,
            _process: process,
        })
    }
}

/// The cases of the contract, as our own client names them.
pub fn case_names(ours: &Prepared) -> Result<Vec<String>> {
    let program = ours.client.first().ok_or("there is no client")?;
    let output = Command::new(program).arg("cases").output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Runs a client and gives its verdict on every case. What it does not say is a failure.
pub fn drive(
    client: &Prepared,
    url: &str,
    binding: &str,
    cases: &[String],
    log: &Path,
) -> Result<Vec<(String, Verdict)>> {
    let (mut process, lines) = Process::start(&client.client, &[url, binding], log)?;
    drop(process.input());
    let deadline = Instant::now() + RUN;
    let mut said = BTreeMap::new();
    let mut is_done = false;
    let end = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match lines.recv_timeout(left) {
            Ok(line) => match read(&line) {
                Line::Case(case, verdict) => {
                    said.insert(case, verdict);
                }
                Line::Done => is_done = true,
                Line::Other => {}
            },
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                let _ = process.0.kill();
                break "the client hangs";
            }
            Err(_) if is_done => break "the client leaves the case out",
            Err(_) => break "the client died",
        }
    };
    let verdict = |case: &String| {
        let verdict = said.remove(case);
        let verdict = verdict.unwrap_or_else(|| Verdict::Failed(end.to_owned()));
        (case.clone(), verdict)
    };
    Ok(cases.iter().map(verdict).collect())
}

enum Line {
    Case(String, Verdict),
    Done,
    Other,
}

fn read(line: &str) -> Line {
    let Ok(line) = serde_json::from_str::<Value>(line) else {
        return Line::Other;
    };
    if line.get("done") == Some(&Value::Bool(true)) {
        return Line::Done;
    }
    let Some(case) = line.get("case").and_then(Value::as_str) else {
        return Line::Other;
    };
    let is = |key: &str| line.get(key) == Some(&Value::Bool(true));
    let detail = line.get("detail").and_then(Value::as_str);
    let detail = detail.unwrap_or("no reason given").to_owned();
    let verdict = match (is("ok"), is("skipped")) {
        (true, false) => Verdict::Ok,
        (false, true) => Verdict::Skipped(detail),
        _ => Verdict::Failed(detail),
    };
    Line::Case(case.to_owned(), verdict)
}
