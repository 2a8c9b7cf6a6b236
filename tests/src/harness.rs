//! How the scenarios reach an agent, and what they put behind it.

mod byo;
mod directory;
mod peer;
mod store;

use std::time::Duration;

use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{
    Message, SendMessageConfiguration, SendMessageRequest, StreamResponse, Task, TaskState,
};

pub(crate) use byo::{ByoPeer, for_each_wire, run};
pub(crate) use directory::Directory;
pub(crate) use peer::{Events, Peer, Via};
pub(crate) use store::{Fault, GatedStore, Point};

/// The deadline of every test: what takes longer hangs.
pub(crate) async fn within<T>(test: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, Box::pin(test)).await {
        Ok(output) => output,
        Err(_) => panic!("the test hangs"),
    }
}

const DEADLINE: Duration = Duration::from_secs(60);

/// Makes a test for each way to reach the agent.
macro_rules! for_each_binding {
    (@and { $more:item } $($(#[$attribute:meta])* async fn $name:ident($via:ident: Via) $body:block)*) => {
        $(
            mod $name {
                use super::*;

                $(#[$attribute])*
                async fn scenario($via: Via) $body

                #[tokio::test]
                async fn direct() {
                    within(scenario(Via::Direct)).await;
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 3)]
                async fn direct_on_threads() {
                    within(scenario(Via::Direct)).await;
                }

                #[tokio::test]
                async fn json_rpc() {
                    within(scenario(Via::Socket(a2a_proto::Binding::JsonRpc))).await;
                }

                #[tokio::test]
                async fn http_json() {
                    within(scenario(Via::Socket(a2a_proto::Binding::HttpJson))).await;
                }

                #[tokio::test]
                async fn grpc() {
                    within(scenario(Via::Socket(a2a_proto::Binding::Grpc))).await;
                }

                $more
            }
        )*
    };
    ($($scenarios:tt)*) => {
        $crate::harness::for_each_binding! { @and { const _: () = (); } $($scenarios)* }
    };
}
pub(crate) use for_each_binding;

/// Makes the same tests and one more, on a durable store: for scenarios that bring no store of their own.
macro_rules! for_each_binding_and_store {
    ($($scenarios:tt)*) => {
        $crate::harness::for_each_binding! {
            @and {
                #[tokio::test]
                async fn sqlite() {
                    within(scenario(Via::Sqlite)).await;
                }
            }
            $($scenarios)*
        }
    };
}
pub(crate) use for_each_binding_and_store;

pub(crate) fn request(message: Message) -> SendMessageRequest {
    SendMessageRequest {
        message: Some(message),
        ..SendMessageRequest::default()
    }
}

pub(crate) fn ask(text: &str) -> SendMessageRequest {
    request(Message::user(text))
}

/// A message to a task.
pub(crate) fn answer(task_id: &str, text: &str) -> SendMessageRequest {
    request(Message {
        task_id: task_id.to_owned(),
        ..Message::user(text)
    })
}

pub(crate) fn immediately(request: SendMessageRequest) -> SendMessageRequest {
    let configuration = SendMessageConfiguration {
        return_immediately: true,
        ..Default::default()
    };
    SendMessageRequest {
        configuration: Some(configuration),
        ..request
    }
}

/// The task that a stream begins with.
pub(crate) fn first_task(event: StreamResponse) -> Task {
    match event.payload {
        Some(Payload::Task(task)) => task,
        other => panic!("the first event is not a task but {other:?}"),
    }
}

pub(crate) fn status_text(task: &Task) -> String {
    task.status_message().map(Message::text).unwrap_or_default()
}

/// Asserts what a task came to.
pub(crate) fn assert_state(task: &Task, state: TaskState) {
    assert_eq!(task.state(), state, "status: {:?}", task.status);
}
