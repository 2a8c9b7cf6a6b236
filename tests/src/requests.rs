//! What a request may ask for, and what it is given.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_proto::ErrorCode;
use a2a_proto::v1::{
    AgentExtension, ListTasksRequest, Message, Part, SendMessageConfiguration, SendMessageRequest,
    TaskState,
};
use a2a_server::{Agent, AgentBuilder, EventSink, ExecutionContext, Extension, executor_fn};

use crate::harness::*;

fn echo() -> AgentBuilder {
    Agent::builder(executor_fn(
        |cx: ExecutionContext, out: EventSink| async move { Ok(out.reply(cx.message().text()).await?) },
    ))
}

/// Asks until it is told to stop.
fn asks_on() -> AgentBuilder {
    Agent::builder(executor_fn(
        |cx: ExecutionContext, out: EventSink| async move {
            match cx.message().text().as_str() {
                "stop" => out.complete().await?,
                text => {
                    out.input_required(Message::agent(format!("{text}?")))
                        .await?
                }
            }
            Ok(())
        },
    ))
}

fn with_history(request: SendMessageRequest, length: i32) -> SendMessageRequest {
    let configuration = SendMessageConfiguration {
        history_length: Some(length),
        ..Default::default()
    };
    SendMessageRequest {
        configuration: Some(configuration),
        ..request
    }
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().map(Message::text).collect()
}

for_each_binding_and_store! {
    async fn send_13_a_media_type_that_the_card_does_not_name_is_refused(via: Via) {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        let executor = executor_fn(move |_, out: EventSink| {
            count.fetch_add(1, Ordering::SeqCst);
            async move { Ok(out.reply("taken").await?) }
        });
        let peer = via.serve(Agent::builder(executor).input_modes(["text/*", "image/png"])).await;
        let part = |media_type: &str| Part { media_type: media_type.into(), ..Part::raw(vec![1, 2, 3]) };
        let send = |part: Part| peer.run(request(Message { parts: vec![part], ..Message::user("x") }));
        let refused = send(part("application/x-unsupported")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::ContentTypeNotSupported);
        assert_eq!(calls.load(Ordering::SeqCst), 0, "ERR-06: the executor is not called");
        for taken in ["image/png", "text/csv; charset=utf-8", ""] {
            assert_state(&send(part(taken)).await.unwrap(), TaskState::Completed);
        }
    }

    async fn send_10_to_12_ids_of_tasks_and_contexts(via: Via) {
        let peer = via.serve(echo()).await;
        let (one, two) = (peer.run(ask("a")).await.unwrap(), peer.run(ask("b")).await.unwrap());
        assert!(one.id != two.id && one.context_id != two.context_id);
        assert!(!one.context_id.is_empty());
        let own = Message { context_id: "mine".into(), ..Message::user("c") };
        let (three, four) = (
            peer.run(request(own.clone())).await.unwrap(),
            peer.run(request(own)).await.unwrap(),
        );
        // MT-03: two tasks of one context; SEND-15: an id of a message that is used again is none of our business.
        assert!(three.id != four.id && three.context_id == "mine" && four.context_id == "mine");
        // SEND-17: the user's message is in the history.
        assert_eq!(texts(&three.history), ["c"]);
    }

    async fn send_16_hist_01_to_05_as_much_history_as_asked_for(via: Via) {
        let peer = via.serve(asks_on()).await;
        let task = peer.run(ask("one")).await.unwrap();
        peer.run(answer(&task.id, "two")).await.unwrap();
        let all = ["one", "one?", "two", "two?", "three"];
        let third = with_history(answer(&task.id, "three"), 2);
        assert_eq!(texts(&peer.run(third).await.unwrap().history), all[3..]);
        assert_eq!(texts(&peer.get(&task.id).await.unwrap().history), all);
        let mut events = peer.stream(with_history(answer(&task.id, "stop"), 1)).await.unwrap();
        assert_eq!(texts(&events.snapshot().await.history), ["stop"]);
        let fresh = peer.run(with_history(ask("fresh"), 0)).await.unwrap();
        assert!(fresh.history.is_empty());
    }

    async fn list_01_to_11_pages_filters_and_artifacts(via: Via) {
        let peer = via.serve(echo()).await;
        let empty = peer.list(ListTasksRequest::default()).await.unwrap();
        assert_eq!((empty.total_size, empty.page_size, empty.next_page_token.as_str()), (0, 50, ""));
        let mut sent = Vec::new();
        for text in ["1", "2", "3", "4", "5"] {
            sent.push(peer.run(ask(text)).await.unwrap());
        }
        let mut listed = Vec::new();
        let mut page_token = String::new();
        loop {
            let request = ListTasksRequest { page_size: Some(2), page_token, ..Default::default() };
            let page = peer.list(request).await.unwrap();
            assert_eq!((page.total_size, page.page_size), (5, 2));
            assert!(page.tasks.iter().all(|task| task.artifacts.is_empty()));
            listed.extend(page.tasks.into_iter().map(|task| task.id));
            page_token = page.next_page_token;
            if page_token.is_empty() {
                break;
            }
        }
        let newest_first: Vec<String> = sent.iter().rev().map(|task| task.id.clone()).collect();
        assert_eq!(listed, newest_first);
        let one = ListTasksRequest {
            context_id: sent[0].context_id.clone(),
            status: TaskState::Completed.into(),
            include_artifacts: Some(true),
            ..Default::default()
        };
        let found = peer.list(one.clone()).await.unwrap().tasks;
        assert_eq!((found.len(), found[0].artifact_text().as_str()), (1, "1"));
        let none = ListTasksRequest { status: TaskState::Failed.into(), ..one };
        assert!(peer.list(none).await.unwrap().tasks.is_empty());
        let foreign = ListTasksRequest { page_token: "zz".into(), ..Default::default() };
        let refused = peer.list(foreign).await.unwrap_err();
        assert_eq!((refused.code(), refused.violations()[0].field.as_str()), (ErrorCode::InvalidParams, "page_token"));
    }

    async fn send_04_return_immediately_and_send_23_no_webhook(via: Via) {
        let go = Arc::new(tokio::sync::Semaphore::new(0));
        let gate = Arc::clone(&go);
        let peer = via.serve(Agent::builder(executor_fn(move |_, out: EventSink| {
            let gate = Arc::clone(&gate);
            async move {
                gate.acquire().await?.forget();
                Ok(out.reply("done").await?)
            }
        }))).await;
        let task = peer.run(immediately(ask("go"))).await.unwrap();
        assert_state(&task, TaskState::Submitted);
        go.add_permits(1);
        assert_eq!(peer.wait_for(&task.id, TaskState::Completed).await.artifact_text(), "done");
        let configuration = SendMessageConfiguration {
            task_push_notification_config: Some(a2a_proto::v1::TaskPushNotificationConfig {
                url: "https://example.org/hook".into(),
                ..Default::default()
            }),
            ..Default::default()
        };
        let hooked = SendMessageRequest { configuration: Some(configuration), ..ask("go") };
        assert_eq!(peer.run(hooked).await.unwrap_err().code(), ErrorCode::PushNotificationNotSupported);
    }

    async fn ext_01_06_extensions_are_declared_and_asked_for_by_choice_only(via: Via) {
        let asked = || Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            Ok(out.reply(format!("asked for {}", cx.requested_extensions().len())).await?)
        }));
        let plain = via.serve(asked()).await;
        assert_eq!(plain.run(ask("go")).await.unwrap().artifact_text(), "asked for 0");
        assert!(plain.extensions().is_empty());
        let declaration = AgentExtension {
            uri: "https://example.com/ext/declared".into(),
            description: "says what it is".into(),
            required: false,
            params: Some(a2a_proto::Struct::from_iter([("level", 3)])),
        };
        let declared = via.serve(asked().extension(Declared(declaration.clone()))).await;
        assert_eq!(declared.run(ask("go")).await.unwrap().artifact_text(), "asked for 0");
        assert_eq!(declared.extensions(), [declaration]);
    }
}

struct Declared(AgentExtension);

impl Extension for Declared {
    fn declaration(&self) -> AgentExtension {
        self.0.clone()
    }
}
