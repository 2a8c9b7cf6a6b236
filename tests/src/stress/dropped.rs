//! Every call of an agent, polled so many times and then dropped: nothing is half done, and nothing hangs.

use std::pin::pin;
use std::time::Duration;

use a2a_proto::v1::{Task, TaskState};
use a2a_server::PersistPolicy;

use super::store::{Fault, FaultyStore};
use super::{Gate, agent};
use crate::harness::*;

#[derive(Clone, Copy, Debug)]
enum Called {
    Send,
    Stream,
    Answer,
    Cancel,
    Subscribe,
    Get,
    List,
    Shutdown,
}

const CALLS: [Called; 8] = [
    Called::Send,
    Called::Stream,
    Called::Answer,
    Called::Cancel,
    Called::Subscribe,
    Called::Get,
    Called::List,
    Called::Shutdown,
];

impl Called {
    async fn call(self, peer: &Peer, parked: &str) {
        // Whether it succeeds is not the point.
        match self {
            Self::Send => drop(peer.run(ask("stream")).await),
            Self::Stream => match peer.stream(ask("stream")).await {
                Ok(events) => drop(events.fold().await),
                Err(error) => drop(error),
            },
            Self::Answer => drop(peer.run(answer(parked, "this")).await),
            Self::Cancel => drop(peer.cancel(parked).await),
            Self::Subscribe => match peer.subscribe(parked).await {
                Ok(mut events) => drop(events.next().await),
                Err(error) => drop(error),
            },
            Self::Get => drop(peer.get(parked).await),
            Self::List => drop(peer.list(Default::default()).await),
            Self::Shutdown => peer.shutdown().await,
        }
    }
}

/// Polls so often, with turns for the others between; says whether it was ready by then.
async fn poll_and_drop(call: impl Future<Output = ()>, times: usize) -> bool {
    let mut call = pin!(call);
    for _ in 0..times {
        let polled =
            std::future::poll_fn(|cx| std::task::Poll::Ready(call.as_mut().poll(cx))).await;
        if polled.is_ready() {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

#[tokio::test(start_paused = true)]
async fn a_call_may_be_dropped_at_every_point() {
    for policy in [PersistPolicy::EveryEvent, PersistPolicy::coalesce()] {
        for called in CALLS {
            let mut times = 0;
            loop {
                let what = format!("{policy:?} {called:?} after {times} polls");
                let run = dropped(policy, called, times, &what);
                let hangs = tokio::time::timeout(Duration::from_secs(86_400), Box::pin(run)).await;
                if hangs.unwrap_or_else(|_| panic!("{what}: hangs")) {
                    break;
                }
                times += 1;
                assert!(times < 1000, "{what}: never ready");
            }
            assert!(times > 0, "{called:?} waits for nothing: it shows nothing");
        }
    }
}

async fn dropped(policy: PersistPolicy, called: Called, times: usize, what: &str) -> bool {
    // No fault, but every call of the store gives way.
    let store = FaultyStore::new(usize::MAX, Fault::Fails);
    let builder = agent(&Gate::default()).store(store.clone()).persist(policy);
    let peer = Via::Direct.serve(builder).await;
    let parked = peer.run(ask("pause")).await.unwrap();
    let ready = poll_and_drop(called.call(&peer, &parked.id), times).await;
    // What has begun comes to its end without its caller.
    for _ in 0..600 {
        let moving =
            |task: &Task| matches!(task.state(), TaskState::Submitted | TaskState::Working);
        if !store.all().await.iter().any(moving) {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    for task in store.all().await {
        let state = task.state();
        assert!(
            state.is_terminal() || state == TaskState::InputRequired,
            "{what}: {state:?} stays"
        );
        let is_of_shutdown = matches!(called, Called::Shutdown);
        assert!(
            state != TaskState::Failed || is_of_shutdown,
            "{what}: {:?}",
            task.status
        );
    }
    assert_eq!(store.violations(), [""; 0], "{what}");
    if !matches!(called, Called::Shutdown) {
        assert_state(&peer.run(ask("hello")).await.unwrap(), TaskState::Completed);
    }
    peer.shutdown().await;
    ready
}
