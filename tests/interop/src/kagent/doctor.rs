//! byo-doctor on an agent that is not ours: kagent's own helper, in Python.

use std::error::Error;
use std::net::TcpListener;

use kagent_ext::doctor::{Check, Options, Outcome, examine};

use super::Oracle;
use crate::say;

/// What is known to be wrong with it.
const KNOWN: [Check; 1] = [
    // Its gRPC server keeps the library's limit (kagent contract 1.4).
    Check::LargeMessages,
];

/// Examines it, and says what is found that was not known.
pub(super) async fn examine_theirs(oracle: &Oracle<'_>) -> Result<(), Box<dyn Error>> {
    let readiness = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let command = format!(
        "env PYTHONPATH={0} {1} {2} 2>>{0}/../kagent-core.log",
        oracle.generated,
        oracle.python,
        oracle.source.join("agent.py").display()
    );
    let options = Options::run(command)
        .with_text("reply")
        .with_pause("ask")
        .with_readiness_port(readiness);
    let report = examine(&options).await?;
    let failed: Vec<Check> = report.failures().collect();
    let skipped = |outcome: &Outcome| matches!(outcome, Outcome::NotChecked(_));
    let skipped = report
        .findings()
        .iter()
        .filter(|finding| skipped(&finding.outcome))
        .count();
    if failed != KNOWN || skipped > 0 {
        return Err(format!("byo-doctor finds something else of kagent-core:\n{report}").into());
    }
    let passed = Check::ALL.len() - failed.len();
    say(&format!(
        "byo-doctor: kagent-core passes {passed} checks; known to fail: {failed:?}"
    ))
}
