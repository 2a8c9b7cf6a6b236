use std::fmt;

use serde_json::{Value, json};

use super::Check;

/// What was found.
#[derive(Clone, Debug)]
pub struct Report {
    findings: Vec<Finding>,
}

/// What was found of one check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a check ends in one of these ways")]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It does not, and this was seen.
    Failed(String),
    /// It lacked this.
    NotChecked(String),
}

impl Report {
    pub(super) fn new() -> Self {
        let unknown = |check| Finding {
            check,
            outcome: Outcome::NotChecked("what comes before it failed".to_owned()),
        };
        Self {
            findings: Check::ALL.into_iter().map(unknown).collect(),
        }
    }

    pub(super) fn set(&mut self, check: Check, outcome: Outcome) {
        if let Some(finding) = self
            .findings
            .iter_mut()
            .find(|finding| finding.check == check)
        {
            finding.outcome = outcome;
        }
    }

    pub(super) fn pass(&mut self, check: Check) {
        self.set(check, Outcome::Passed);
    }

    pub(super) fn fail(&mut self, check: Check, seen: impl Into<String>) {
        self.set(check, Outcome::Failed(seen.into()));
    }

    pub(super) fn skip(&mut self, check: Check, lacks: impl Into<String>) {
        self.set(check, Outcome::NotChecked(lacks.into()));
    }

    /// Leaves out what nothing is known of yet.
    pub(super) fn skip_rest(&mut self, lacks: &str) {
        for finding in &mut self.findings {
            if matches!(finding.outcome, Outcome::NotChecked(_)) {
                finding.outcome = Outcome::NotChecked(lacks.to_owned());
            }
        }
    }

    /// It holds, or this was seen.
    pub(super) fn tell(&mut self, check: Check, holds: bool, seen: impl FnOnce() -> String) {
        match holds {
            true => self.pass(check),
            false => self.fail(check, seen()),
        }
    }

    /// What was found of each check, in the order of [`Check::ALL`].
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How one check ended.
    #[must_use]
    pub fn outcome(&self, check: Check) -> Option<&Outcome> {
        let finding = self
            .findings
            .iter()
            .find(|finding| finding.check == check)?;
        Some(&finding.outcome)
    }

    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = Check> {
        let failed = |finding: &&Finding| matches!(finding.outcome, Outcome::Failed(_));
        self.findings
            .iter()
            .filter(failed)
            .map(|finding| finding.check)
    }

    /// Whether no check failed.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The report for machines.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let findings = self.findings.iter().map(|Finding { check, outcome }| {
            let (outcome, detail) = match outcome {
                Outcome::Passed => ("passed", None),
                Outcome::Failed(seen) => ("failed", Some(seen)),
                Outcome::NotChecked(lacks) => ("not checked", Some(lacks)),
            };
            json!({
                "check": check.name(),
                "title": check.title(),
                "outcome": outcome,
                "detail": detail,
                "cause": check.cause(),
                "remedy": check.remedy(),
            })
        });
        json!({"healthy": self.is_healthy(), "findings": findings.collect::<Vec<_>>()})
    }
}

/// A table for people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut passed, mut failed, mut skipped) = (0, 0, 0);
        for Finding { check, outcome } in &self.findings {
            match outcome {
                Outcome::Passed => {
                    passed += 1;
                    writeln!(f, "passed       {}", check.title())?;
                }
                Outcome::Failed(seen) => {
                    failed += 1;
                    writeln!(f, "FAILED       {}", check.title())?;
                    writeln!(f, "             seen:    {seen}")?;
                    writeln!(f, "             symptom: {}", check.symptom())?;
                    writeln!(f, "             cause:   {}", check.cause())?;
                    writeln!(f, "             remedy:  {}", check.remedy())?;
                }
                Outcome::NotChecked(lacks) => {
                    skipped += 1;
                    writeln!(f, "not checked  {}: {lacks}", check.title())?;
                }
            }
        }
        write!(f, "{passed} passed, {failed} failed, {skipped} not checked")
    }
}
