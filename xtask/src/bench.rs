//! Runs the benches.

use std::error::Error;
use std::process::Command;

type Result = std::result::Result<(), Box<dyn Error>>;

/// The codec against plain serde derives.
pub fn codec() -> Result {
    run(&[
        "bench",
        "--quiet",
        "--package",
        "a2a-proto",
        "--bench",
        "codec",
    ])
}

/// Whole servers against a floor of raw axum and tonic.
pub fn servers(more: &[&str]) -> Result {
    let words = [
        "run",
        "--quiet",
        "--release",
        "--package",
        "bench",
        "--",
        "run",
    ];
    run(&[&words[..], more].concat())
}

fn run(words: &[&str]) -> Result {
    let status = Command::new(env!("CARGO")).args(words).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the bench ended with {status}").into())
    }
}
