//! Where this project means to differ from kagent's helper (kagent contract 11).

/// A difference that is meant: all that differs is this.
pub(super) struct Difference {
    /// What differs begins so.
    pub(super) what: &'static str,
    /// What stands on our side in the place of `theirs`.
    ours: &'static str,
    theirs: &'static str,
    pub(super) reason: &'static str,
}

impl Difference {
    pub(super) fn is(&self, found: &super::Found) -> bool {
        found.what.starts_with(self.what)
            && found.ours.replacen(self.ours, self.theirs, 1) == found.theirs
    }
}

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        what: "scenario pause",
        ours: r#""task Working []""#,
        theirs: r#""Some(Working) \"\"""#,
        reason: "a stream begins with the task as it stands, also where an answer goes on with it (A2A 1.0 §3.1.2)",
    },
    Difference {
        what: "scenario auth",
        ours: r#""task Working []""#,
        theirs: r#""Some(Working) \"\"""#,
        reason: "as with a pause",
    },
    Difference {
        what: "scenario unknown",
        ours: r#"Some(Failed) \"the agent failed\""#,
        theirs: "error Some(Internal)",
        reason: "an executor that fails is told by the FAILED that is stored, not by the stream's breaking off",
    },
    Difference {
        what: r#"payload {"kind":"read","payload":{"surprise":1"#,
        ours: r#"{"tools":[{"args":{},"call_id":"1","id":"1","name":"rm"}],"type":"tool_approval_request"}"#,
        theirs: "null",
        reason: "unknown members are ignored (kagent contract 11.15)",
    },
];
