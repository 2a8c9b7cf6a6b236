//! What can be shown from within only: two engines on one store, and that nothing is kept that nobody needs. How the
//! rules hold for callers is shown in the workspace's `tests`.

mod hub;
mod restart;

use std::sync::Arc;
use std::time::Duration;

use a2a_proto::v1::{
    CancelTaskRequest, GetTaskRequest, Message, SendMessageRequest, StreamResponse, Task, TaskState,
};
use a2a_proto::{A2aError, ErrorCode, Method};
use tokio::sync::Semaphore;

use super::{Begun, Engine, Join, Joined};
use crate::store::MemoryStore;
use crate::{
    Agent, AgentExecutor, CallContext, EventSink, ExecutionContext, Limits, RequestHandler,
    SendReply, executor_fn,
};
use hub::Hub;

const DEADLINE: Duration = Duration::from_secs(30);

async fn within<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, Box::pin(test))
        .await
        .expect("the test hangs")
}

fn call() -> CallContext {
    CallContext::new(Method::SendMessage)
}

fn ask(text: &str) -> SendMessageRequest {
    SendMessageRequest {
        message: Some(Message::user(text)),
        ..SendMessageRequest::default()
    }
}

fn answer(task_id: &str, text: &str) -> SendMessageRequest {
    let message = Message {
        task_id: task_id.to_owned(),
        ..Message::user(text)
    };
    SendMessageRequest {
        message: Some(message),
        ..SendMessageRequest::default()
    }
}

async fn run(agent: &Agent, request: SendMessageRequest) -> Result<Task, A2aError> {
    match agent.send_message(call(), request).await? {
        SendReply::Task(task) => Ok(task.into_task()),
        SendReply::Message(_) => panic!("not a task"),
    }
}

async fn stream(engine: &Engine, request: SendMessageRequest) -> (Arc<Task>, Joined) {
    match engine.deliver(call(), request, Join::Stream).await.unwrap() {
        Begun::Stream(task, joined) => (task, joined),
        Begun::Boundary(_) | Begun::Message(_) | Begun::Now(_) => panic!("not a stream"),
    }
}

async fn next(joined: &mut Joined) -> Option<Result<StreamResponse, A2aError>> {
    use futures_core::Stream as _;
    let event =
        std::future::poll_fn(|cx| std::pin::Pin::new(&mut joined.events).poll_next(cx)).await?;
    Some(event.map(|event| event.response().clone()))
}

async fn until(joined: &mut Joined, state: TaskState) {
    while next(joined)
        .await
        .expect("the stream has ended")
        .unwrap()
        .state()
        != Some(state)
    {}
}

/// Asks, waits for the gate when told to, and repeats the answer.
fn executor(gate: &Arc<Semaphore>) -> impl AgentExecutor {
    let gate = Arc::clone(gate);
    executor_fn(move |cx: ExecutionContext, out: EventSink| {
        let gate = Arc::clone(&gate);
        async move {
            match cx.message().text().as_str() {
                "ask" => out.input_required(Message::agent("which?")).await?,
                "wait" => {
                    out.working("waiting").await?;
                    tokio::select! {
                        permit = gate.acquire() => permit?.forget(),
                        _ = cx.cancelled() => return Ok(()),
                    }
                    out.reply("waited").await?;
                }
                other => out.reply(other).await?,
            }
            Ok(())
        }
    })
}

fn two_engines(gate: &Arc<Semaphore>) -> (Agent, Agent) {
    let (hub, store) = (Arc::new(Hub::default()), Arc::new(MemoryStore::new()));
    let agent = || {
        Agent::builder(executor(gate))
            .store(Arc::clone(&store))
            .placement(Arc::clone(&hub) as Arc<dyn super::Placement>)
            .limits(Limits::default().grace(Duration::from_millis(20)))
            .build()
            .unwrap()
    };
    (agent(), agent())
}

#[tokio::test]
async fn a_task_that_runs_on_one_engine_is_followed_on_another() {
    within(async {
        let gate = Arc::new(Semaphore::new(0));
        let (one, two) = two_engines(&gate);
        let (task, mut here) = stream(one.engine(), ask("wait")).await;
        until(&mut here, TaskState::Working).await;
        let (snapshot, mut there) = two.engine().subscribe(&call(), &task.id).await.unwrap();
        assert_eq!(snapshot.state(), TaskState::Working);
        let mut folded = Task::clone(&snapshot);
        drop(snapshot);
        let refused = run(&two, answer(&task.id, "more")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::UnsupportedOperation);
        gate.add_permits(1);
        while let Some(event) = next(&mut there).await {
            folded.apply(&event.unwrap()).unwrap();
        }
        assert_eq!(folded.state(), TaskState::Completed);
        let request = GetTaskRequest {
            id: task.id.clone(),
            ..GetTaskRequest::default()
        };
        assert_eq!(
            folded,
            two.get_task(call(), request).await.unwrap().into_task()
        );
    })
    .await;
}

#[tokio::test]
async fn a_task_that_runs_on_one_engine_is_canceled_on_another() {
    within(async {
        let (one, two) = two_engines(&Arc::new(Semaphore::new(0)));
        let (task, mut here) = stream(one.engine(), ask("wait")).await;
        until(&mut here, TaskState::Working).await;
        let request = CancelTaskRequest {
            id: task.id.clone(),
            ..CancelTaskRequest::default()
        };
        let canceled = two.cancel_task(call(), request).await.unwrap();
        assert_eq!(canceled.task().state(), TaskState::Canceled);
        until(&mut here, TaskState::Canceled).await;
    })
    .await;
}

#[tokio::test]
async fn a_task_that_waits_is_answered_on_another_engine() {
    within(async {
        let (one, two) = two_engines(&Arc::new(Semaphore::new(0)));
        for _ in 0..100 {
            let task = run(&one, ask("ask")).await.unwrap();
            assert_eq!(task.state(), TaskState::InputRequired);
            // Whoever joined on the first engine sees what the second does.
            let (_, mut here) = one.engine().subscribe(&call(), &task.id).await.unwrap();
            let done = run(&two, answer(&task.id, "that")).await.unwrap();
            assert_eq!(done.state(), TaskState::Completed);
            until(&mut here, TaskState::Working).await;
            until(&mut here, TaskState::Completed).await;
            assert!(next(&mut here).await.is_none());
        }
    })
    .await;
}

#[tokio::test]
async fn of_two_engines_one_takes_the_answer() {
    within(async {
        let (one, two) = two_engines(&Arc::new(Semaphore::new(0)));
        for _ in 0..200 {
            let task = run(&one, ask("ask")).await.unwrap();
            let (here, there) = tokio::join!(
                run(&one, answer(&task.id, "here")),
                run(&two, answer(&task.id, "there")),
            );
            let (won, lost) = match (here, there) {
                (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
                other => panic!("not one of two: {other:?}"),
            };
            assert_eq!(won.state(), TaskState::Completed);
            assert_eq!(lost.code(), ErrorCode::UnsupportedOperation);
        }
    })
    .await;
}

/// Rule 11: an idle task has no entry, and an entry that nobody reads keeps no events.
#[tokio::test]
async fn nothing_is_kept_of_idle_tasks() {
    within(async {
        let gate = Arc::new(Semaphore::new(0));
        let agent = Agent::builder(executor(&gate)).build().unwrap();
        let registry = &agent.engine().0.registry;
        for _ in 0..50 {
            run(&agent, ask("hello")).await.unwrap();
            let task = run(&agent, ask("ask")).await.unwrap();
            let (_, joined) = agent.engine().subscribe(&call(), &task.id).await.unwrap();
            drop(joined);
            run(&agent, answer(&task.id, "that")).await.unwrap();
        }
        for id in 0..1_000 {
            let missing = agent.engine().subscribe(&call(), &id.to_string()).await;
            assert_eq!(missing.err().unwrap().code(), ErrorCode::TaskNotFound);
        }
        // The last executors have still to be taken off.
        while registry.len() > 0 {
            tokio::task::yield_now().await;
        }

        let (task, joined) = stream(agent.engine(), ask("wait")).await;
        drop(joined);
        let entry = registry
            .find(&call(), &task.id, crate::TaskScope::Principal)
            .unwrap();
        gate.add_permits(1);
        entry
            .bus()
            .wait(super::bus::Until::Terminal)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(entry.bus().kept(), 0);
    })
    .await;
}

/// SEC-05: to another caller a live task does not exist either.
#[tokio::test]
async fn a_live_task_is_hidden_from_other_principals() {
    within(async {
        let agent = Agent::builder(executor(&Arc::new(Semaphore::new(0))))
            .build()
            .unwrap();
        let (task, _joined) = stream(agent.engine(), ask("wait")).await;
        let other = || call().with_principal(crate::Principal::named("other"));
        let unknown = agent
            .engine()
            .subscribe(&other(), "nope")
            .await
            .err()
            .unwrap();
        let get = GetTaskRequest {
            id: task.id.clone(),
            ..GetTaskRequest::default()
        };
        let cancel = CancelTaskRequest {
            id: task.id.clone(),
            ..CancelTaskRequest::default()
        };
        for error in [
            agent.get_task(other(), get).await.unwrap_err(),
            agent.cancel_task(other(), cancel).await.unwrap_err(),
            agent
                .engine()
                .subscribe(&other(), &task.id)
                .await
                .err()
                .unwrap(),
            agent
                .send_message(other(), answer(&task.id, "x"))
                .await
                .unwrap_err(),
            agent
                .send_message(call().with_tenant("t"), answer(&task.id, "x"))
                .await
                .unwrap_err(),
        ] {
            assert_eq!(format!("{error:?}"), format!("{unknown:?}"));
        }
    })
    .await;
}
