//! What the controller's statuses mean to the engine.

use std::error::Error as _;

use a2a_server::StoreError;
use tonic::{Code, Status};

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Whether the same call may succeed later (kagent contract 2.3).
pub(super) fn is_passing(status: &Status) -> bool {
    matches!(status.code(), Code::Unavailable | Code::DeadlineExceeded) || is_broken(status)
}

/// Whether the connection broke, rather than that the controller answered.
fn is_broken(status: &Status) -> bool {
    status.source().is_some()
}

/// The status of a controller that can't be reached.
pub(super) fn unreached(error: tonic::transport::Error) -> Status {
    let mut status = Status::unavailable("the controller can't be reached");
    status.set_source(std::sync::Arc::new(error));
    status
}

pub(super) fn fault(status: Status, access: Access) -> StoreError {
    match status.code() {
        Code::NotFound => StoreError::NotFound,
        Code::AlreadyExists => StoreError::AlreadyExists,
        Code::Aborted => StoreError::VersionConflict,
        _ if access == Access::Write && is_passing(&status) => StoreError::Unknown {
            source: status.into(),
        },
        _ => StoreError::Backend {
            source: status.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: Code, access: Access) -> StoreError {
        fault(Status::new(code, "why"), access)
    }

    #[test]
    fn each_status_has_its_meaning() {
        use Access::{Read, Write};
        for access in [Read, Write] {
            assert!(matches!(of(Code::NotFound, access), StoreError::NotFound));
            assert!(matches!(
                of(Code::AlreadyExists, access),
                StoreError::AlreadyExists
            ));
            assert!(matches!(
                of(Code::Aborted, access),
                StoreError::VersionConflict
            ));
            for code in [
                Code::PermissionDenied,
                Code::InvalidArgument,
                Code::FailedPrecondition,
                Code::Internal,
                Code::ResourceExhausted,
            ] {
                assert!(
                    matches!(of(code, access), StoreError::Backend { .. }),
                    "{code:?}"
                );
            }
        }
        for code in [Code::Unavailable, Code::DeadlineExceeded] {
            assert!(matches!(of(code, Write), StoreError::Unknown { .. }));
            assert!(matches!(of(code, Read), StoreError::Backend { .. }));
        }
    }
}
