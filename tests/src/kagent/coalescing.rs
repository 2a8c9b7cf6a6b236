//! How often a long reply is stored (kagent contract 11.6).

use a2a_proto::v1::{Message, TaskState};
use a2a_server::PersistPolicy;
use a2a_server::testing::Script;
use kagent_ext::byo::Byo;
use kagent_ext::testing::{Controller, StoreMethod};

use super::send;
use crate::harness::within;

/// kagent's helpers store each of these chunks.
const CHUNKS: usize = 1_000;

fn token(index: usize) -> String {
    format!("tok{index} ")
}

async fn updates(policy: Option<PersistPolicy>) -> (usize, usize) {
    let kagent = Controller::start().await.unwrap();
    kagent.run(move |_| {
        let byo = Byo::new(
            Script::new()
                .working("on it")
                .chunks((0..CHUNKS).map(token))
                .complete(),
        );
        match policy {
            Some(policy) => byo.agent(|agent| agent.persist(policy)),
            None => byo,
        }
    });
    let task = send(&kagent.client(), Message::user("go")).await.unwrap();
    assert_eq!(task.state(), TaskState::Completed);
    let whole: String = (0..CHUNKS).map(token).collect();
    assert_eq!(task.artifacts[0].text(), whole);
    let calls = kagent.calls();
    let updates = calls
        .iter()
        .filter(|call| call.method == StoreMethod::Update);
    let bytes = updates.clone().map(|call| call.bytes).sum();
    (updates.count(), bytes)
}

#[tokio::test]
async fn appended_chunks_share_saves_and_state_changes_never_do() {
    within(async {
        let (coalesced, bytes) = updates(None).await;
        let (each, all_bytes) = updates(Some(PersistPolicy::EveryEvent)).await;
        println!("{CHUNKS} chunks: {coalesced} updates, {bytes} bytes; every event: {each}, {all_bytes} bytes");
        // WORKING, the first chunk, the others, the whole text, COMPLETED.
        assert_eq!(each, CHUNKS + 3);
        assert!(coalesced < each / 4, "{coalesced} updates");
    })
    .await;
}
