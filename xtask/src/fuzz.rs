//! Runs every fuzz target for a while, from the corpus that the tests use. Needs a nightly toolchain and nothing else.

use std::error::Error;
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Builds the targets and runs each for that many seconds.
pub fn run(seconds: &str) -> Result<()> {
    let root = crate::workspace_root();
    let fuzz = root.join("fuzz");
    // A target must be named, so that build scripts and macros are built without the flags.
    let host = host()?;
    succeed(
        nightly("cargo")
            .args(["build", "--quiet", "--release", "--target", &host])
            .env("RUSTFLAGS", COVERAGE.join(" "))
            .current_dir(&fuzz),
    )?;
    for target in TARGETS {
        println!("{target}: {seconds} s");
        let found = fuzz.join("corpus").join(target);
        std::fs::create_dir_all(&found)?;
        let binary = fuzz.join("target").join(&host).join("release").join(target);
        succeed(
            Command::new(binary)
                .arg(format!("-max_total_time={seconds}"))
                .arg("-verbosity=0")
                .arg(found)
                .arg(root.join("a2a-proto/tests/data/corpus").join(target))
                .current_dir(&fuzz),
        )?;
    }
    Ok(())
}

/// A tool of the nightly toolchain: rustup's proxy, without what names the toolchain that runs this.
fn nightly(tool: &str) -> Command {
    let mut command = Command::new(tool);
    command.arg("+nightly");
    for variable in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    command
}

fn host() -> Result<String> {
    let output = nightly("rustc").arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "there is no nightly toolchain".into())
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", command.get_program().display()).into())
    }
}

const TARGETS: [&str; 5] = [
    "jsonrpc_request",
    "protojson_card",
    "protojson_stream_response",
    "rest_path",
    "sse",
];

/// What libFuzzer needs to see which code an input reaches.
const COVERAGE: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cdebug-assertions",
];
