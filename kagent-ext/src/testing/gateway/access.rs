//! Who may do what with whose session.

use a2a_proto::A2aError;
use a2a_server::CallContext;

use super::{Gateway, User, lock};
use crate::testing::ShareAccess;

/// What a call does with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Read,
    Write,
}

impl Gateway {
    /// The session of a task, for who may see it.
    pub(super) fn session_of(
        &self,
        cx: &CallContext,
        task: &str,
        need: Need,
    ) -> Result<String, A2aError> {
        let session = self.sessions.session_of(task);
        let session = session.ok_or_else(A2aError::task_not_found)?;
        self.allow(cx, &session, need)?;
        Ok(session)
    }

    /// Lets the owner of a session in, and who has a share of it. To others there is none.
    pub(super) fn allow(
        &self,
        cx: &CallContext,
        session: &str,
        need: Need,
    ) -> Result<(), A2aError> {
        let owner = self.sessions.owner(session);
        let owner = owner.ok_or_else(A2aError::task_not_found)?;
        if owner == user(cx) {
            return Ok(());
        }
        let token = cx
            .headers()
            .get(SHARE)
            .and_then(|value| value.to_str().ok());
        let share = token.and_then(|token| lock(&self.shares).get(token).cloned());
        match share {
            Some((shared, access)) if shared == session => match (need, access) {
                (Need::Read, _) | (Need::Write, ShareAccess::ReadWrite) => Ok(()),
                (Need::Write, ShareAccess::ReadOnly) => Err(A2aError::permission_denied(
                    "the share lets its holder read only",
                )),
            },
            _ => Err(A2aError::task_not_found()),
        }
    }
}

pub(super) fn user(cx: &CallContext) -> String {
    let user = cx.http_extensions().get::<User>();
    user.map(|User(name)| name.clone()).unwrap_or_default()
}

const SHARE: &str = "x-share-token";
