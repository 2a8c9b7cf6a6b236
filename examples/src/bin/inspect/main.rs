//! Reads an agent card or any other A2A message as JSON and says what is in it and what is wrong with it:
//! `cargo run -p examples --bin inspect FILE`. Exits with 1 if anything is wrong.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

mod card;
mod detect;
mod message;

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        println!("usage: inspect FILE");
        return ExitCode::FAILURE;
    };
    let document = match std::fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| format!("{path}: {error}")),
        Err(error) => Err(format!("{path}: {error}")),
    };
    match document.and_then(|document| detect::read(&document)) {
        Ok(found) if found.faults.is_empty() => {
            println!("{}\n\nNothing is wrong with it.", found.view.trim_end());
            ExitCode::SUCCESS
        }
        Ok(found) => {
            println!("{}\n\nWrong with it:", found.view.trim_end());
            for fault in found.faults {
                println!("  {}: {}", fault.field, fault.description);
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
