//! A list in pages.

use a2a_proto::v1::TaskState;

use super::{Bench, Broken, Outcome, fails, page, same};
use crate::store::StoreError;

/// In the order of the list.
const NAMES: [&str; 7] = ["g", "f", "e", "d", "c", "b", "a"];

/// All but two have the same time, so that the id decides.
async fn seven(bench: &Bench) -> Outcome {
    for (index, name) in NAMES.iter().enumerate() {
        let seconds = match index {
            0 => 9,
            6 => 1,
            _ => 5,
        };
        bench
            .create(&bench.task(name, TaskState::Working, seconds))
            .await?;
    }
    Ok(())
}

pub(super) async fn pages_lose_nothing(bench: &Bench) -> Outcome {
    seven(bench).await?;
    for size in [1, 2, 3, 6, 7, 100] {
        let (mut found, mut token, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let response = bench.store.list(&bench.call(), &page(size, &token)).await?;
            found.extend(bench.names_of(&response.tasks));
            token = response.next_page_token;
            pages += 1;
            if token.is_empty() {
                break;
            }
            if pages > NAMES.len() {
                return Err(Broken(format!("pages of {size} have no end")));
            }
        }
        same(&format!("all pages of {size}"), found, NAMES)?;
    }
    Ok(())
}

pub(super) async fn a_page_says_what_it_holds(bench: &Bench) -> Outcome {
    seven(bench).await?;
    let first = bench.store.list(&bench.call(), &page(4, "")).await?;
    same("page_size", first.page_size, 4)?;
    same("tasks of the first page", first.tasks.len(), 4)?;
    same("total_size", first.total_size, 7)?;
    let token = first.next_page_token;
    same("whether a page follows", !token.is_empty(), true)?;
    let second = bench.store.list(&bench.call(), &page(4, &token)).await?;
    same("tasks of the last page", second.tasks.len(), 3)?;
    same("total_size on the last page", second.total_size, 7)?;
    same("the last token", second.next_page_token.as_str(), "")?;
    let nothing = bench.call().with_tenant(bench.id("empty"));
    let empty = bench.store.list(&nothing, &page(4, "")).await?;
    same(
        "the token of an empty list",
        empty.next_page_token.as_str(),
        "",
    )
}

pub(super) async fn a_task_that_moves_is_not_shown_twice(bench: &Bench) -> Outcome {
    seven(bench).await?;
    let first = bench.store.list(&bench.call(), &page(3, "")).await?;
    let (task, version) = bench.read(&bench.id("c")).await?;
    let moved = bench.task("c", task.state(), 20);
    bench.replace(&moved, version).await?;
    let token = first.next_page_token;
    let second = bench.store.list(&bench.call(), &page(10, &token)).await?;
    let found = bench.names_of(&second.tasks);
    same("the rest of the list", found, ["d", "b", "a"])
}

pub(super) async fn a_foreign_token_is_refused(bench: &Bench) -> Outcome {
    seven(bench).await?;
    for token in ["!", "Zm9v", "' OR 1=1 --", "\u{1F600}"] {
        let refused = bench.store.list(&bench.call(), &page(3, token)).await;
        let what = format!("the page token `{token}`");
        fails(&what, refused, "InvalidRequest for page_token", |error| {
            matches!(
                error,
                StoreError::InvalidRequest {
                    field: "page_token",
                    ..
                }
            )
        })?;
    }
    Ok(())
}
