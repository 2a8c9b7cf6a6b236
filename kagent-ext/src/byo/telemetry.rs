//! No telemetry: what stands in its place without the feature `otel`.

use a2a_server::{AgentExecutor, BoundaryPolicy, TaskStore};

use super::ByoError;
use crate::config::{Environment, RuntimeConfig};

#[derive(Clone, Copy, Debug)]
pub(super) struct Telemetry;

#[expect(
    clippy::unused_self,
    clippy::unused_async,
    clippy::unnecessary_wraps,
    reason = "as the other has them"
)]
impl Telemetry {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn around<E: AgentExecutor>(self, executor: E) -> E {
        executor
    }

    pub(super) fn around_store<S: TaskStore>(self, store: S) -> S {
        store
    }

    pub(super) fn at_boundary(self, policy: BoundaryPolicy) -> BoundaryPolicy {
        policy
    }

    pub(super) fn start(
        self,
        _: &Environment,
        _: Option<&RuntimeConfig>,
        _: &str,
    ) -> Result<(), ByoError> {
        Ok(())
    }

    pub(super) fn globally(self) -> Self {
        self
    }

    pub(super) async fn shut_down(self) {}
}
