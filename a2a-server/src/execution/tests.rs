//! What can be shown from within only. How the rules hold for callers is shown in the workspace's `tests`.

use a2a_proto::Method;
use a2a_proto::v1::{Message, SendMessageRequest, TaskState};

use crate::{Agent, CallContext, RequestHandler, SendReply, executor_fn};

fn request(text: &str) -> SendMessageRequest {
    SendMessageRequest {
        message: Some(Message::user(text)),
        ..SendMessageRequest::default()
    }
}

#[tokio::test]
async fn smoke() {
    let agent = Agent::builder(executor_fn(
        |cx: crate::ExecutionContext, out: crate::EventSink| async move {
            out.working("thinking").await?;
            let mut text = out.text();
            for _ in 0..10_000 {
                text.push("x").await?;
            }
            text.finish().await?;
            out.reply(cx.message().text()).await?;
            Ok(())
        },
    ))
    .build()
    .unwrap();
    let started = std::time::Instant::now();
    let reply = agent
        .send_message(CallContext::new(Method::SendMessage), request("hello"))
        .await
        .unwrap();
    let SendReply::Task(task) = reply else {
        panic!("no task")
    };
    assert_eq!(task.task().state(), TaskState::Completed);
    assert_eq!(task.task().artifacts.len(), 2);
    eprintln!("{:?}", started.elapsed());
}
