//! RESULTS.md: what came of every case, without anything that differs from run to run.

use std::fmt::Write as _;

use super::BINDINGS;
use super::faults::Fault;
use super::judge::{Run, Verdict};

pub fn markdown(runs: &[Run], faults: &[Fault]) -> String {
    let mut notes = Notes::default();
    let mut text = String::from(
        "# Results of the interop suite\n\nWritten by `cargo xtask interop`: `client → agent`, a table a binding.\n",
    );
    for binding in BINDINGS {
        let runs: Vec<&Run> = runs.iter().filter(|run| run.binding == binding).collect();
        table(&mut text, binding, &runs, faults, &mut notes);
    }
    text.push_str("\n## Notes\n\n");
    for (index, note) in notes.0.iter().enumerate() {
        let _ = writeln!(text, "{}. {note}", index + 1);
    }
    text
}

fn table(text: &mut String, binding: &str, runs: &[&Run], faults: &[Fault], notes: &mut Notes) {
    let _ = write!(text, "\n## {binding}\n\n| case |");
    for run in runs {
        let _ = write!(text, " {} → {} |", run.client.name(), run.agent.name());
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(runs.len()));
    let Some(first) = runs.first() else { return };
    for (index, (case, _)) in first.verdicts.iter().enumerate() {
        let _ = write!(text, "| `{case}` |");
        for run in runs {
            let verdict = run.verdicts.get(index).map(|(_, verdict)| verdict);
            let _ = write!(text, " {} |", cell(run, case, verdict, faults, notes));
        }
        text.push('\n');
    }
}

fn cell(
    run: &Run,
    case: &str,
    verdict: Option<&Verdict>,
    faults: &[Fault],
    notes: &mut Notes,
) -> String {
    match (verdict, run.fault(case, faults)) {
        (Some(Verdict::Ok), fault) if fault.is_none_or(|fault| !fault.sometimes) => "ok".to_owned(),
        (Some(Verdict::Skipped(reason)), _) => {
            let number = notes.number(format!("skipped ({}): {reason}", run.client.name()));
            format!("skipped [{number}]")
        }
        // A race reads the same however it went.
        (Some(Verdict::Ok | Verdict::Failed(_)), Some(fault)) => {
            let number = notes.number(format!("fault of {}: {}", fault.sdk, fault.reason));
            format!("known fault [{number}]")
        }
        _ => "FAILED".to_owned(),
    }
}

/// Reasons in the order in which they are first met.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn number(&mut self, note: String) -> usize {
        let known = self.0.iter().position(|known| *known == note);
        1 + known.unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        })
    }
}
