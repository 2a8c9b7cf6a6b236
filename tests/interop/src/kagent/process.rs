//! The other side as a process, which ends when its input closes.

use std::error::Error;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use super::Oracle;

/// kagent-core's agent.
pub(super) struct Agent {
    pub(super) url: String,
    /// Killed when it is dropped.
    _process: Child,
}

impl Agent {
    pub(super) async fn start(
        oracle: &Oracle<'_>,
        controller: &str,
        identity: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let mut process = command(oracle, "agent.py")?
            .arg(controller)
            .arg(identity)
            .spawn()?;
        let output = process.stdout.take().ok_or("it has no output")?;
        let mut lines = BufReader::new(output).lines();
        let line = tokio::time::timeout(LIMIT, lines.next_line()).await??;
        let line = line.ok_or("kagent-core's agent ended before it was ready")?;
        let ready: Value = serde_json::from_str(&line)?;
        let url = ready.get("url").and_then(Value::as_str);
        Ok(Self {
            url: url.ok_or("it names no address")?.to_owned(),
            _process: process,
        })
    }
}

/// What a program of kagent-core's side says to these lines, one for each.
pub(super) async fn ask(
    oracle: &Oracle<'_>,
    program: &str,
    lines: &[Value],
) -> Result<Vec<Value>, Box<dyn Error>> {
    let mut process = command(oracle, program)?.spawn()?;
    let mut input = process.stdin.take().ok_or("it has no input")?;
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let feed = async move {
        input.write_all(text.as_bytes()).await?;
        input.shutdown().await
    };
    let (fed, output) = tokio::join!(
        feed,
        tokio::time::timeout(LIMIT, process.wait_with_output())
    );
    fed?;
    let output = String::from_utf8(output??.stdout)?;
    let answers: Vec<Value> = output
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    match answers.len() == lines.len() {
        true => Ok(answers),
        false => Err(format!("{} of {} cases were answered", answers.len(), lines.len()).into()),
    }
}

fn command(oracle: &Oracle<'_>, program: &str) -> std::io::Result<Command> {
    let mut command = Command::new(oracle.python);
    command
        .arg(oracle.source.join(program))
        .env("PYTHONPATH", oracle.generated)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log(oracle)?)
        .kill_on_drop(true);
    Ok(command)
}

/// What it says for people, beside what was generated for it.
fn log(oracle: &Oracle<'_>) -> std::io::Result<std::fs::File> {
    let path = Path::new(oracle.generated).join("../kagent-core.log");
    std::fs::File::options()
        .create(true)
        .append(true)
        .open(path)
}

const LIMIT: Duration = Duration::from_secs(60);
