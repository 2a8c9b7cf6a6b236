//! What a result is worth beside the table of known faults.

use super::faults::Fault;
use super::peer::Peer;

/// What a client says of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    Skipped(String),
    Failed(String),
}

/// One client against one agent over one binding.
pub struct Run {
    pub client: Peer,
    pub agent: Peer,
    /// Name and version of the SDK that is not ours.
    pub sdk: String,
    pub binding: &'static str,
    pub verdicts: Vec<(String, Verdict)>,
}

impl Run {
    /// The entry that a failure of this case is known by.
    pub fn fault<'a>(&self, case: &str, faults: &'a [Fault]) -> Option<&'a Fault> {
        faults.iter().find(|fault| {
            fault.client == self.client
                && fault.agent == self.agent
                && fault.sdk == self.sdk
                && (fault.bindings.is_empty() || fault.bindings.contains(&self.binding))
                && fault.cases.contains(&case)
        })
    }

    /// A line for whoever watches.
    pub fn summary(&self, faults: &[Fault]) -> String {
        let (mut ok, mut skipped, mut known, mut failed) = (0, 0, 0, 0);
        for (case, verdict) in &self.verdicts {
            match verdict {
                Verdict::Ok => ok += 1,
                Verdict::Skipped(_) => skipped += 1,
                Verdict::Failed(_) if self.fault(case, faults).is_some() => known += 1,
                Verdict::Failed(_) => failed += 1,
            }
        }
        format!("{self}: {ok} ok, {known} known faults, {skipped} skipped, {failed} failed")
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (client, agent) = (self.client.name(), self.agent.name());
        write!(f, "{client} -> {agent} over {}", self.binding)
    }
}

/// The results that are not as they should be, a line each.
pub struct Judgement {
    pub wrong: Vec<String>,
}

/// A failure must be known, and what is known must fail.
pub fn judge(runs: &[Run], faults: &[Fault]) -> Judgement {
    let mut wrong = Vec::new();
    for run in runs {
        for (case, verdict) in &run.verdicts {
            match (verdict, run.fault(case, faults)) {
                (Verdict::Failed(detail), None) => {
                    wrong.push(format!("failed: {run}: {case}: {detail}"));
                }
                (Verdict::Ok | Verdict::Skipped(_), Some(fault)) if !fault.sometimes => {
                    wrong.push(format!(
                        "holds: {run}: {case}: remove it from the known faults"
                    ));
                }
                _ => {}
            }
        }
    }
    Judgement { wrong }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(sdk: &str, verdict: Verdict) -> Run {
        Run {
            client: Peer::Rust,
            agent: Peer::Go,
            sdk: sdk.to_owned(),
            binding: "GRPC",
            verdicts: vec![("get".to_owned(), verdict)],
        }
    }

    const KNOWN: &[Fault] = &[Fault {
        client: Peer::Rust,
        agent: Peer::Go,
        sdk: "go 1",
        bindings: &["GRPC"],
        cases: &["get"],
        sometimes: false,
        reason: "a reason",
    }];

    fn failed() -> Verdict {
        Verdict::Failed("why".to_owned())
    }

    #[test]
    fn a_known_fault_is_no_failure_and_an_unknown_one_is() {
        assert!(judge(&[run("go 1", failed())], KNOWN).wrong.is_empty());
        assert_eq!(judge(&[run("go 1", failed())], &[]).wrong.len(), 1);
    }

    #[test]
    fn an_entry_holds_for_its_version_only() {
        assert_eq!(judge(&[run("go 2", failed())], KNOWN).wrong.len(), 1);
    }

    #[test]
    fn an_entry_that_passes_or_is_skipped_must_go() {
        assert_eq!(judge(&[run("go 1", Verdict::Ok)], KNOWN).wrong.len(), 1);
        let skipped = Verdict::Skipped("why".to_owned());
        assert_eq!(judge(&[run("go 1", skipped)], KNOWN).wrong.len(), 1);
    }

    #[test]
    fn a_race_may_be_won() {
        let race = [Fault {
            sometimes: true,
            ..KNOWN[0]
        }];
        assert!(judge(&[run("go 1", Verdict::Ok)], &race).wrong.is_empty());
        assert!(judge(&[run("go 1", failed())], &race).wrong.is_empty());
    }

    #[test]
    fn an_entry_holds_on_its_bindings_only() {
        let mut elsewhere = run("go 1", failed());
        elsewhere.binding = "JSONRPC";
        assert_eq!(judge(&[elsewhere], KNOWN).wrong.len(), 1);
    }
}
