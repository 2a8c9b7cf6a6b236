//! Checks that an agent keeps kagent's contract, whatever language it is written in: the library of `byo-doctor`.
//!
//! It calls an agent as kagent does, starts it as kagent does, and serves kagent's task store to it. What it needs and
//! has not been given is *not checked*, and said so.
//!
//! ```no_run
//! use kagent_ext::doctor::{Options, examine};
//!
//! # async fn run() -> std::io::Result<()> {
//! let report = examine(&Options::run("target/debug/my-agent").with_pause("delete everything")).await?;
//! println!("{report}");
//! assert!(report.is_healthy());
//! # Ok(())
//! # }
//! ```

mod check;
mod conversation;
mod observed;
mod options;
mod probe;
mod process;
mod report;

use std::io;

use conversation::Conversation;
use process::Patient;

pub use check::Check;
pub use options::Options;
pub use report::{Finding, Outcome, Report};

/// An error in a line: what it is about, and what it comes from.
fn brief(error: &a2a_client::Error) -> String {
    let root = a2a_proto::error::causes(error).last();
    match root.map(ToString::to_string) {
        Some(root) => format!("{error}: {root}"),
        None => error.to_string(),
    }
}

/// Examines an agent.
///
/// # Errors
///
/// When the examination itself can't be set up: no port, no directory, or a program that can't be started.
pub async fn examine(options: &Options) -> io::Result<Report> {
    let mut report = Report::new();
    let mut patient = Patient::admit(options).await?;
    patient.wait_until_ready(&mut report).await;
    if let Some(status) = patient.exited() {
        report.skip_rest(&format!("the program has ended with {status}"));
        return Ok(report);
    }
    probe::readiness(&patient, &mut report).await;
    patient.check_quiet_start(&mut report);
    patient.assign()?;
    if probe::reach(&mut patient, &mut report).await {
        probe::health(&patient, &mut report).await;
        probe::large_message(&patient, &mut report).await;
        Conversation::with(&mut patient, options)
            .hold(&mut report)
            .await;
    }
    patient.discharge(&mut report).await;
    Ok(report)
}
