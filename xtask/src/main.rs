//! The commands of this workspace that are longer than a line.

mod bench;
mod codegen;
mod features;
mod fuzz;
mod interop;
mod kagent;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask codegen [--check] | bench [codec | servers | smoke] | features | fuzz SECONDS | interop [--prepare] [--require-all] [PEER]... | kagent [--prepare] [--require]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["codegen"] => codegen::write(),
        ["codegen", "--check"] => codegen::check(),
        ["bench"] => bench::codec().and_then(|()| bench::servers(&[])),
        ["bench", "codec"] => bench::codec(),
        ["bench", "servers"] => bench::servers(&[]),
        ["bench", "smoke"] => bench::servers(&["--smoke"]),
        ["features"] => features::check(),
        ["fuzz", seconds] => fuzz::run(seconds),
        ["interop", words @ ..] => interop::run(words),
        ["kagent", words @ ..] => kagent::run(words),
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

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
