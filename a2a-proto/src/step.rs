//! The way to a place in a message, and how it is written.

use std::fmt::Write as _;

/// One step down.
#[derive(Debug)]
pub(crate) enum Step {
    Field(&'static str),
    Index(usize),
    Key(String),
}

/// The steps, outermost first, as in `message.parts[0].text`.
pub(crate) fn path<'a>(steps: impl Iterator<Item = &'a Step>) -> String {
    let mut path = String::new();
    for step in steps {
        let dot = if path.is_empty() { "" } else { "." };
        // Writing to a string can't fail.
        let _ = match step {
            Step::Field(name) => write!(path, "{dot}{name}"),
            Step::Index(index) => write!(path, "[{index}]"),
            Step::Key(key) => {
                let key: String = key.chars().take(KEY_LIMIT).collect();
                write!(path, "[{key:?}]")
            }
        };
    }
    path
}

const KEY_LIMIT: usize = 64;
