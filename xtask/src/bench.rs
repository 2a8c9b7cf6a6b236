//! Runs the benches.

use std::error::Error;
use std::process::Command;

/// The codec against plain serde derives.
pub fn codec() -> Result<(), Box<dyn Error>> {
    let arguments = [
        "bench",
        "--quiet",
        "--package",
        "a2a-proto",
        "--bench",
        "codec",
    ];
    let status = Command::new(env!("CARGO")).args(arguments).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the bench ended with {status}").into())
    }
}
