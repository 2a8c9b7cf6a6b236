//! Hours of use: what is kept stays within its bounds.

use std::sync::Arc;
use std::time::Duration;

use a2a_proto::v1::TaskState;
use a2a_server::MemoryStore;
use a2a_server::store::Retention;

use super::{Gate, agent};
use crate::harness::*;

#[tokio::test(start_paused = true)]
async fn memory_is_flat_over_a_day_of_use() {
    let store = Arc::new(MemoryStore::new());
    let peer = Via::Direct
        .serve(agent(&Gate::default()).store(Arc::clone(&store)))
        .await;
    let mut kept = Vec::new();
    for hour in 0..24 {
        for minute in 0..60 {
            let task = peer.run(ask("hello")).await.unwrap();
            assert_state(&task, TaskState::Completed);
            // One that nobody answers, and one that somebody cancels.
            let asked = peer.run(ask("pause")).await.unwrap();
            if minute % 10 != 0 {
                peer.cancel(&asked.id).await.unwrap();
            }
            tokio::time::advance(Duration::from_secs(60)).await;
        }
        kept.push(store.len());
        let parked = 6 * (hour + 1);
        // An hour's finished tasks: 60 done and 54 canceled, and a minute's more.
        assert!(store.len() <= 120 + parked, "hour {hour}: {kept:?}");
    }
    let finished = |hour: usize| kept[hour] - 6 * (hour + 1);
    assert_eq!(finished(2), finished(23), "{kept:?}");
    // A week later nothing is left but what comes then.
    tokio::time::advance(Duration::from_secs(8 * 24 * 3600)).await;
    peer.run(ask("hello")).await.unwrap();
    assert_eq!(store.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn retention_by_count_keeps_the_newest_and_what_is_worked_on() {
    let mut retention = Retention::default();
    retention.finished_count = 10;
    retention.parked_count = 5;
    let store = Arc::new(MemoryStore::with_retention(retention));
    let peer = Via::Direct
        .serve(agent(&Gate::default()).store(Arc::clone(&store)))
        .await;
    let mut running = peer.stream(ask("hang")).await.unwrap();
    let running_id = running.snapshot().await.id;
    running.until(TaskState::Working).await;
    let (mut finished, mut parked) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        finished.push(peer.run(ask("hello")).await.unwrap().id);
        parked.push(peer.run(ask("pause")).await.unwrap().id);
    }
    assert_eq!(store.len(), 10 + 5 + 1);
    for (ids, count) in [(&finished, 10), (&parked, 5)] {
        let (old, new) = ids.split_at(ids.len() - count);
        for id in old {
            assert!(peer.get(id).await.is_err(), "{id} is kept");
        }
        for id in new {
            assert!(peer.get(id).await.is_ok(), "{id} is gone");
        }
    }
    assert_state(&peer.get(&running_id).await.unwrap(), TaskState::Working);
}
