//! This project as a peer of the official SDKs: the agent and the client of the interop contract.

mod agent;
mod client;
mod facts;
mod kagent;
mod values;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use a2a_proto::Binding;
use tokio::io::AsyncReadExt as _;

const USAGE: &str = "usage: a2a-interop agent [RECORD] | client URL BINDING | cases | facts-of-agent SDK URL | \
                     facts-of-client SDK RECORD | kagent PYTHON SOURCE GENERATED";

/// After that an agent that nobody ends ends by itself.
const AGENT_LIMIT: Duration = Duration::from_secs(600);

/// After that a client that hangs ends by itself.
const CLIENT_LIMIT: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["agent"] => block_on(serve(None)),
        ["agent", record] => block_on(serve(Some(record))),
        ["client", url, binding] => block_on(drive(url, binding)),
        ["facts-of-agent", sdk, url] => block_on(ask(sdk, url)),
        ["facts-of-client", sdk, record] => std::fs::read_to_string(record)
            .map_err(Into::into)
            .and_then(|record| facts::of_client(sdk, &record))
            .and_then(|findings| tell(&findings)),
        ["kagent", python, source, generated] => block_on(measure(python, source, generated)),
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

/// Serves the agent, and writes down what is asked of it where a file is named.
async fn serve(record: Option<&str>) -> Result<(), Box<dyn Error>> {
    let recorder = record.map(facts::Recorder::create).transpose()?;
    let server = agent::agent()
        .build()?
        .endpoint()
        .bind_with("127.0.0.1:0", |router| match recorder {
            Some(recorder) => recorder.before(router),
            None => router,
        })
        .await?;
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

async fn ask(sdk: &str, url: &str) -> Result<(), Box<dyn Error>> {
    let findings = tokio::time::timeout(CLIENT_LIMIT, facts::of_agent(sdk, url))
        .await
        .map_err(|_| "out of time")??;
    tell(&findings)
}

async fn measure(python: &str, source: &str, generated: &str) -> Result<(), Box<dyn Error>> {
    let oracle = kagent::Oracle {
        python,
        source: source.as_ref(),
        generated,
    };
    tokio::time::timeout(CLIENT_LIMIT, kagent::compare(&oracle))
        .await
        .map_err(|_| "out of time")?
}

fn tell(findings: &[facts::Finding]) -> Result<(), Box<dyn Error>> {
    findings
        .iter()
        .try_for_each(|finding| say(&finding.to_json().to_string()))
}

/// Prints a line that its reader sees at once.
fn say(line: &str) -> Result<(), Box<dyn Error>> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}
