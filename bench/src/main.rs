//! What the server costs, as a ratio to a floor: handlers of raw axum with serde and raw tonic with prost that answer with
//! the same bytes and do nothing else. Whole processes are measured, by the time they were on a processor.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of the command line"
)]

mod agent;
mod floor;
mod load;
mod measure;
mod persist;
mod process;
mod report;
mod same;
mod scenarios;

use std::alloc::System;
use std::error::Error;
use std::process::ExitCode;

use scenarios::Size;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

const USAGE: &str = "usage: bench run [--smoke] | agent THREADS | floor THREADS";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["run"] => process::client(scenarios::run(Size::Full, process::pin(1))),
        ["run", "--smoke"] => process::client(scenarios::run(Size::Smoke, process::pin(1))),
        ["agent", threads] => process::server(threads, agent::serve()),
        ["floor", threads] => process::server(threads, floor::serve()),
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
