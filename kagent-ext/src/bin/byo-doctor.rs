//! Checks that an agent keeps kagent's contract: `byo-doctor --help`.

use std::process::ExitCode;
use std::time::Duration;

use kagent_ext::doctor::{Options, examine};
use lexopt::{Arg, Parser, ValueExt as _};

const HELP: &str = "\
Checks that an agent keeps kagent's contract, whatever language it is written in.

  byo-doctor URL                a running agent, as far as that goes
  byo-doctor --run 'COMMAND'    starts it, and restarts it, as kagent does; it is served kagent's task store

  --pause-with TEXT             what makes the agent ask a person
  --say TEXT                    what it is to answer
  --json                        for machines
  --port N                      where it listens whatever it is told
  --readiness-port N            where /readyz is; 8081
  --ready-within SECONDS        how long it may take to be ready; 30
  --data-dir DIR                where it keeps what outlives it; EMPTIED before, told as KAGENT_DATA_DIR
  --identity-file FILE          what names the session to it; told as KAGENT_IDENTITY_FILE

An agent that knows kagent's own places only wants --data-dir /data and --identity-file /run/kagent/identity/name.
Ends with 0 where nothing failed, 1 where something did, 2 where the agent could not be examined.";

fn main() -> ExitCode {
    let (options, json) = match read() {
        Ok(Some(read)) => read,
        Ok(None) => {
            say(HELP);
            return ExitCode::SUCCESS;
        }
        Err(error) => return give_up(&format!("{error}\n\n{HELP}")),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let examined = runtime.and_then(|runtime| runtime.block_on(examine(&options)));
    let report = match examined {
        Ok(report) => report,
        Err(error) => return give_up(&format!("the agent can't be examined: {error}")),
    };
    match json {
        true => say(&format!("{:#}", report.to_json())),
        false => say(&report.to_string()),
    }
    ExitCode::from(u8::from(!report.is_healthy()))
}

/// The options, and whether the report is for machines; `None` where help is asked for.
fn read() -> Result<Option<(Options, bool)>, lexopt::Error> {
    let mut parser = Parser::from_env();
    let mut target = None;
    let mut json = false;
    let mut changes: Vec<Box<dyn FnOnce(Options) -> Options>> = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            Arg::Long("json") => json = true,
            Arg::Long("run") if target.is_none() => {
                target = Some(Options::run(parser.value()?.string()?))
            }
            Arg::Value(url) if target.is_none() => target = Some(Options::url(url.string()?)),
            Arg::Long("pause-with") => {
                let text = parser.value()?.string()?;
                changes.push(Box::new(|options| options.with_pause(text)));
            }
            Arg::Long("say") => {
                let text = parser.value()?.string()?;
                changes.push(Box::new(|options| options.with_text(text)));
            }
            Arg::Long("port") => {
                let port = parser.value()?.parse()?;
                changes.push(Box::new(move |options| options.with_port(port)));
            }
            Arg::Long("readiness-port") => {
                let port = parser.value()?.parse()?;
                changes.push(Box::new(move |options| options.with_readiness_port(port)));
            }
            Arg::Long("ready-within") => {
                let limit = Duration::from_secs(parser.value()?.parse()?);
                changes.push(Box::new(move |options| options.with_ready_within(limit)));
            }
            Arg::Long("data-dir") => {
                let path = parser.value()?;
                changes.push(Box::new(|options| options.with_data_dir(path)));
            }
            Arg::Long("identity-file") => {
                let path = parser.value()?;
                changes.push(Box::new(|options| options.with_identity_file(path)));
            }
            other => return Err(other.unexpected()),
        }
    }
    let target = target.ok_or("say which agent: a URL, or --run and a command")?;
    let options = changes
        .into_iter()
        .fold(target, |options, change| change(options));
    Ok(Some((options, json)))
}

#[expect(clippy::print_stdout, reason = "it is what the program is for")]
fn say(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "it is what the program is for")]
fn give_up(text: &str) -> ExitCode {
    eprintln!("{text}");
    ExitCode::from(2)
}
