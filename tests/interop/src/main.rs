//! This project as a peer of the official SDKs: the agent and the client of the interop contract.

mod agent;
mod client;
mod values;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use a2a_proto::Binding;
use tokio::io::AsyncReadExt as _;

const USAGE: &str = "usage: a2a-interop agent | client URL BINDING | cases";

/// After that an agent that nobody ends ends by itself.
const AGENT_LIMIT: Duration = Duration::from_secs(600);

/// After that a client that hangs ends by itself.
const CLIENT_LIMIT: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["agent"] => block_on(serve()),
        ["client", url, binding] => block_on(drive(url, binding)),
        ["cases"] => client::NAMES.iter().try_for_each(|name| say(name)),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Does not wait for the thread that reads the standard input: nothing ends that read.
fn block_on(work: impl Future<Output = Result<(), Box<dyn Error>>>) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let server = agent::agent().bind("127.0.0.1:0").await?;
    let ready = serde_json::json!({
        "ready": true,
        "url": format!("http://{}", server.local_addr()),
        "sdk": concat!("a2a-server ", env!("CARGO_PKG_VERSION")),
    });
    say(&ready.to_string())?;
    // Ended, failed or out of time: in any case it is over.
    let _ = tokio::time::timeout(AGENT_LIMIT, until_input_closes()).await;
    server.shutdown().await;
    Ok(())
}

async fn until_input_closes() {
    let mut input = tokio::io::stdin();
    let mut buffer = [0; 64];
    while matches!(input.read(&mut buffer).await, Ok(read) if read > 0) {}
}

async fn drive(url: &str, binding: &str) -> Result<(), Box<dyn Error>> {
    let binding: Binding = binding.parse()?;
    let run = client::run(url, binding, |line| say(&line.to_string()));
    tokio::time::timeout(CLIENT_LIMIT, run)
        .await
        .map_err(|_| "out of time")?
}

/// Prints a line that its reader sees at once.
fn say(line: &str) -> Result<(), Box<dyn Error>> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}
