//! An error together with what caused it.

use std::error::Error;
use std::fmt;

/// The causes of an error, the nearest first.
pub fn causes<'a>(error: &'a (dyn Error + 'static)) -> Causes<'a> {
    Causes(error.source())
}

/// The iterator that [`causes`] gives.
#[derive(Clone, Debug)]
#[must_use = "an iterator does nothing unless it is read"]
pub struct Causes<'a>(Option<&'a (dyn Error + 'static)>);

impl<'a> Iterator for Causes<'a> {
    type Item = &'a (dyn Error + 'static);

    fn next(&mut self) -> Option<Self::Item> {
        let error = self.0?;
        self.0 = error.source();
        Some(error)
    }
}

/// Prints an error and its causes in one line, `what failed: why: why that`, for a log or a terminal.
///
/// A cause that the error before it has told already is not told again.
///
/// ```
/// use a2a_proto::A2aError;
/// use a2a_proto::error::WithCauses;
///
/// let error = A2aError::internal("the file is lost").with_source(std::io::Error::other("disk on fire"));
/// assert!(WithCauses(&error).to_string().ends_with(": disk on fire"));
/// ```
#[derive(Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a wrapper is made where it is printed"
)]
pub struct WithCauses<'a>(pub &'a (dyn Error + 'static));

impl fmt::Display for WithCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = self.0.to_string();
        f.write_str(&told)?;
        for cause in causes(self.0) {
            let text = cause.to_string();
            if !told.ends_with(&text) {
                write!(f, ": {text}")?;
            }
            told = text;
        }
        Ok(())
    }
}

impl fmt::Debug for WithCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Self>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn causes_come_in_order_and_what_was_told_is_not_told_again() {
        let inner = Layer("refused", None);
        let middle = Layer("no connection: refused", Some(Box::new(inner)));
        let error = Layer("the call failed", Some(Box::new(middle)));
        assert_eq!(causes(&error).count(), 2);
        let text = WithCauses(&error).to_string();
        assert_eq!(text, "the call failed: no connection: refused");
    }
}
