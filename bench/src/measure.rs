//! One number of both servers, taken in turns so that whatever else the machine does falls on both.

use std::future::Future;
use std::time::{Duration, Instant};

use crate::Result;
use crate::process::Server;

/// The agent and the floor.
pub(crate) struct Pair {
    pub(crate) ours: Server,
    pub(crate) floor: Server,
}

/// What a number came to on both sides.
#[derive(Clone, Copy)]
pub(crate) struct Both {
    pub(crate) ours: f64,
    pub(crate) floor: f64,
}

impl Pair {
    pub(crate) async fn start(threads: usize) -> Result<Self> {
        Ok(Self {
            ours: Server::start("agent", threads).await?,
            floor: Server::start("floor", threads).await?,
        })
    }

    /// The median over the rounds of what a measurement gives for each side; the first round only warms up.
    pub(crate) async fn rounds(
        &self,
        rounds: usize,
        measure: impl AsyncFn(&Server) -> Result<f64>,
    ) -> Result<Both> {
        let (mut ours, mut floor) = (Vec::new(), Vec::new());
        for round in 0..=rounds {
            let both = (measure(&self.ours).await?, measure(&self.floor).await?);
            if round > 0 {
                ours.push(both.0);
                floor.push(both.1);
            }
        }
        Ok(Both {
            ours: median(ours),
            floor: median(floor),
        })
    }
}

/// Nanoseconds on a processor for each of so many, while the work is done.
pub(crate) async fn cost(
    server: &Server,
    count: usize,
    work: impl Future<Output = Result<()>>,
) -> Result<f64> {
    let before = server.cpu()?;
    work.await?;
    Ok((server.cpu()? - before) as f64 / count as f64)
}

/// How long each call of one caller took.
pub(crate) async fn latencies(
    count: usize,
    call: impl AsyncFn() -> Result<()>,
) -> Result<Vec<Duration>> {
    let mut took = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = Instant::now();
        call().await?;
        took.push(begun.elapsed());
    }
    took.sort_unstable();
    Ok(took)
}

/// The value below which that share of the sorted ones is.
pub(crate) fn percentile(sorted: &[Duration], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let index = (last as f64 * share).round() as usize;
    sorted
        .get(index)
        .map_or(0.0, |value| value.as_nanos() as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
