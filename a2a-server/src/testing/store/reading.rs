//! What is read is what was written, whatever it holds.

use a2a_proto::v1::{Artifact, Message, Part, TaskState};
use bytes::Bytes;
use serde_json::json;

use super::{Bench, Broken, Outcome, same};

pub(super) async fn an_unknown_task_is_none(bench: &Bench) -> Outcome {
    bench
        .create(&bench.task("a", TaskState::Working, 1))
        .await?;
    for id in [bench.id("b"), bench.id(""), String::new(), "%".to_owned()] {
        let found = bench.store.get(&bench.call(), &id).await?;
        let what = format!("whether `{id}` is there");
        same(&what, found.is_some(), false)?;
    }
    Ok(())
}

/// Readers share what they were given: a later update must not change it under their hands.
pub(super) async fn a_task_that_was_read_stays_as_it_was(bench: &Bench) -> Outcome {
    let task = bench.task("a", TaskState::Working, 1);
    let version = bench.create(&task).await?;
    let before = bench.store.get(&bench.call(), &task.id).await?;
    let before = before.ok_or_else(|| Broken("the task is gone".into()))?;
    let ended = bench.task("a", TaskState::Completed, 2);
    bench.replace(&ended, version).await?;
    same("what was read before the update", &*before.task, &task)?;
    same(
        "what is read after it",
        bench.read(&task.id).await?.0,
        ended,
    )
}

pub(super) async fn a_big_task_is_kept_whole(bench: &Bench) -> Outcome {
    let mut task = bench.task("a", TaskState::Working, 1);
    let version = bench.create(&task).await?;
    for number in 0..2_000 {
        task.history
            .push(Message::user(format!("message {number}")));
    }
    let raw: Vec<u8> = (0..=255).cycle().take(4 << 20).collect();
    task.artifacts
        .push(Artifact::new("big", [Part::raw(Bytes::from(raw))]));
    let version = bench.replace(&task, version).await?;
    same("the task", bench.read(&task.id).await?, (task, version))
}

pub(super) async fn unusual_values_are_kept(bench: &Bench) -> Outcome {
    let mut task = bench.task("quote'\"\\ \u{1F600}", TaskState::Working, -1);
    task.context_id = bench.id("co\0ntext");
    let text = "nul \0, line\r\n, e\u{301}, \u{10FFFF}, and 'quotes\"";
    let number = json!({"large": 9_007_199_254_740_991_i64, "tiny": 5e-324, "none": null, "": []});
    let parts = [Part::text(text), Part::data(number), Part::text("")];
    task.artifacts.push(Artifact::new("", parts));
    task.history.push(Message::user(text));
    let version = bench.create(&task).await?;
    same("the task", bench.read(&task.id).await?, (task, version))
}
