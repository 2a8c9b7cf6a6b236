//! A foreign task is as good as none.

use a2a_proto::v1::{StreamResponse, TaskState};

use super::{Bench, Outcome, fails, page, same};
use crate::auth::Principal;
use crate::context::CallContext;
use crate::store::{StoreError, TaskWrite};

pub(super) async fn a_foreign_principal_sees_nothing(bench: &Bench) -> Outcome {
    let other = bench.call().with_principal(Principal::named("other"));
    apart(bench, &bench.call(), &other).await
}

pub(super) async fn a_foreign_tenant_sees_nothing(bench: &Bench) -> Outcome {
    let other = bench.call().with_tenant(bench.id("other"));
    apart(bench, &bench.call(), &other).await
}

pub(super) async fn the_anonymous_caller_is_nobody_else(bench: &Bench) -> Outcome {
    let anonymous = bench.call().with_principal(Principal::anonymous());
    let nameless = bench.call().with_principal(Principal::named(""));
    apart(bench, &anonymous, &nameless).await
}

/// What the one has, the other neither sees nor changes.
async fn apart(bench: &Bench, owner: &CallContext, other: &CallContext) -> Outcome {
    let task = bench.task("a", TaskState::Working, 1);
    let version = bench.store.create(owner, &task).await?;
    let seen = bench.store.get(other, &task.id).await?;
    same("whether the other reads it", seen.is_some(), false)?;
    let listed = bench.store.list(other, &page(10, "")).await?;
    same("what the other lists", listed.tasks.len(), 0)?;
    same("how many the other counts", listed.total_size, 0)?;
    let changed = bench.task("a", TaskState::Canceled, 2);
    let event = StreamResponse::from(changed.clone());
    let events = [&event];
    let write = TaskWrite::new(&changed, &events, version);
    let refused = bench.store.update(other, write).await;
    fails("an update by the other", refused, "NotFound", |error| {
        matches!(error, StoreError::NotFound)
    })?;
    let taken = bench.store.create(other, &changed).await;
    fails("the other takes the id", taken, "AlreadyExists", |error| {
        matches!(error, StoreError::AlreadyExists)
    })?;
    let kept = bench.store.get(owner, &task.id).await?;
    let kept = kept.map(|stored| (stored.task.state(), stored.version));
    same("what the owner has", kept, Some((task.state(), version)))?;
    let listed = bench.store.list(owner, &page(10, "")).await?;
    same("how many the owner counts", listed.total_size, 1)
}
