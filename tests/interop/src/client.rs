//! The client of the contract: every case, against whichever agent is there.

mod ask;
mod meta;
mod parts;
mod streams;
mod support;
mod tasks;

use std::error::Error;
use std::time::Duration;

use a2a_client::Client;
use a2a_proto::Binding;
use serde_json::{Value, json};

use self::support::{Failure, Peer, Verdict};

/// How long a case may take.
const CASE_LIMIT: Duration = Duration::from_secs(20);

/// Makes the list of the cases and what runs them, so that neither can lack one.
macro_rules! cases {
    ($($name:literal => $case:path,)*) => {
        /// The cases in the order in which they run.
        pub(crate) const NAMES: &[&str] = &[$($name),*];

        async fn run_case(name: &str, peer: &Peer) -> Verdict {
            match name {
                $($name => Box::pin($case(peer)).await,)*
                _ => Err(Failure::Failed("there is no such case".to_owned())),
            }
        }
    };
}

cases! {
    "card" => meta::card,
    "card.extended" => meta::extended_card,
    "echo.unary" => streams::echo_unary,
    "echo.stream" => streams::echo_stream,
    "stream.unary" => streams::stream_unary,
    "stream.chunks" => streams::stream_chunks,
    "stream.live" => streams::stream_live,
    "send.immediate" => streams::send_immediate,
    "subscribe.after_cut" => streams::subscribe_after_cut,
    "subscribe.finished" => streams::subscribe_finished,
    "subscribe.unknown" => streams::subscribe_unknown,
    "cancel.running" => tasks::cancel_running,
    "cancel.finished" => tasks::cancel_finished,
    "cancel.unknown" => tasks::cancel_unknown,
    "get" => tasks::get,
    "get.unknown" => tasks::get_unknown,
    "get.history" => tasks::get_history,
    "list.paging" => tasks::list_paging,
    "list.filter" => tasks::list_filter,
    "list.artifacts" => tasks::list_artifacts,
    "list.page_size" => tasks::list_page_size,
    "input.unary" => ask::input_unary,
    "input.stream" => ask::input_stream,
    "auth.unary" => ask::auth_unary,
    "ending.fail" => ask::ending_fail,
    "ending.raise" => ask::ending_raise,
    "ending.reject" => ask::ending_reject,
    "error.no_parts" => ask::error_no_parts,
    "error.finished" => ask::error_finished,
    "error.unknown_task" => ask::error_unknown_task,
    "error.stream" => ask::error_stream,
    "parts.file" => parts::file,
    "parts.data" => parts::data,
    "parts.echo" => parts::echo,
    "parts.unicode" => parts::unicode,
    "parts.empty_text" => parts::empty_text,
    "parts.big_reply" => parts::big_reply,
    "parts.big_request" => parts::big_request,
    "parts.big_stream" => parts::big_stream,
    "message.unary" => parts::message_unary,
    "message.stream" => parts::message_stream,
    "artifacts.many" => parts::artifacts_many,
    "artifacts.appends" => parts::artifacts_appends,
    "meta.tenant" => meta::tenant,
    "meta.metadata" => meta::metadata,
    "meta.extensions" => meta::extensions,
    "version.unknown" => meta::unknown_version,
    "context.reuse" => tasks::context_reuse,
    "push" => meta::push,
}

/// Runs all cases and hands on a line of the contract for each.
pub(crate) async fn run(
    url: &str,
    binding: Binding,
    mut say: impl FnMut(Value) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let peer = connect(url, binding).await;
    for name in NAMES {
        let verdict = match &peer {
            Ok(peer) => tokio::time::timeout(CASE_LIMIT, run_case(name, peer))
                .await
                .unwrap_or_else(|_| Err(Failure::Failed("out of time".to_owned()))),
            Err(failure) => Err(failure.clone()),
        };
        say(match verdict {
            Ok(()) => json!({"case": name, "ok": true}),
            Err(Failure::Failed(detail)) => json!({"case": name, "ok": false, "detail": detail}),
            Err(Failure::Skipped(detail)) => {
                json!({"case": name, "skipped": true, "detail": detail})
            }
        })?;
    }
    say(json!({"done": true}))
}

/// A client that has only this binding, so that none stands in for another.
async fn connect(url: &str, binding: Binding) -> Result<Peer, Failure> {
    let card = Client::connect(url).await?.card();
    let card = card.ok_or_else(|| Failure::Failed("there is no card".to_owned()))?;
    let mut only = (*card).clone();
    only.supported_interfaces
        .retain(|interface| interface.binding() == Some(binding));
    let client = Client::from_card(only)?;
    Ok(Peer {
        client,
        card,
        binding,
    })
}

#[cfg(test)]
mod tests;
