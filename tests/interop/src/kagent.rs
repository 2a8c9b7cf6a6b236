//! kagent's own helper beside ours: the same scenarios, the same calls of the task store, the same events.

mod differences;
mod doctor;
mod hitl;
mod process;
mod scenario;
mod script;

use std::error::Error;
use std::path::Path;

use differences::{DIFFERENCES, Difference};

use crate::say;

/// Where the parts of the other side are.
pub(crate) struct Oracle<'a> {
    /// Its interpreter.
    pub(crate) python: &'a str,
    /// The directory with its sources.
    pub(crate) source: &'a Path,
    /// What was generated of its messages.
    pub(crate) generated: &'a str,
}

/// What differs.
struct Found {
    what: String,
    ours: String,
    theirs: String,
}

impl Found {
    fn new(what: String, ours: impl ToString, theirs: impl ToString) -> Self {
        Self {
            what,
            ours: ours.to_string(),
            theirs: theirs.to_string(),
        }
    }
}

/// Compares both sides, and says where they differ without its being meant.
pub(crate) async fn compare(oracle: &Oracle<'_>) -> Result<(), Box<dyn Error>> {
    let mut found = Vec::new();
    let mut same = 0;
    for scenario in scenario::ALL {
        let ours = scenario::on_ours(scenario).await?;
        let theirs = scenario::on_theirs(scenario, oracle).await?;
        same += usize::from(ours == theirs);
        if ours != theirs {
            found.push(Found::new(format!("scenario {scenario}"), ours, theirs));
        }
    }
    say(&format!(
        "{same} of {} scenarios are the same",
        scenario::ALL.len()
    ))?;
    let cases = hitl::cases();
    let theirs = hitl::theirs(oracle, &cases).await?;
    let mut same = 0;
    for (case, theirs) in cases.iter().zip(theirs) {
        let ours = hitl::ours(case)?;
        same += usize::from(ours == theirs);
        if ours != theirs {
            found.push(Found::new(format!("payload {case}"), ours, theirs));
        }
    }
    say(&format!(
        "{same} of {} payloads are taken alike",
        cases.len()
    ))?;
    judge(found)?;
    doctor::examine_theirs(oracle).await
}

/// Each difference must be one that is meant, and each of those must show.
fn judge(found: Vec<Found>) -> Result<(), Box<dyn Error>> {
    let mut unknown = 0;
    let mut shown = vec![false; DIFFERENCES.len()];
    for found in found {
        let meant = DIFFERENCES.iter().position(|known| known.is(&found));
        let Found { what, ours, theirs } = found;
        match meant.and_then(|index| Some((shown.get_mut(index)?, DIFFERENCES.get(index)?))) {
            Some((shown, Difference { reason, .. })) => {
                *shown = true;
                say(&format!("meant to differ: {what}: {reason}"))?;
            }
            None => {
                unknown += 1;
                say(&format!(
                    "DIFFERENT: {what}\n  ours:   {ours}\n  theirs: {theirs}"
                ))?;
            }
        }
    }
    let gone = DIFFERENCES.iter().zip(shown).filter(|(_, shown)| !shown);
    let gone: Vec<&str> = gone.map(|(known, _)| known.what).collect();
    for what in &gone {
        say(&format!("NO LONGER DIFFERENT: {what}"))?;
    }
    match unknown + gone.len() {
        0 => Ok(()),
        count => Err(format!("{count} differences are not as they should be").into()),
    }
}
