use a2a_proto::Method;
use a2a_proto::v1::{
    Message, SendMessageRequest, StreamResponse, SubscribeToTaskRequest, TaskState,
};

use super::*;
use crate::event::EventStream;
use crate::{Agent, CallContext, RequestHandler};

async fn stream(agent: &Agent, message: Message) -> EventStream {
    let call = CallContext::new(Method::SendStreamingMessage);
    let request = SendMessageRequest::from(message);
    agent.send_streaming_message(call, request).await.unwrap()
}

fn agent(script: Script) -> Agent {
    Agent::builder(script).build().unwrap()
}

fn states(events: &[StreamResponse]) -> Vec<Option<TaskState>> {
    events.iter().map(StreamResponse::state).collect()
}

#[tokio::test]
async fn a_script_does_its_steps_in_order_and_its_turns_one_a_message() {
    let signal = Signal::new();
    let script = Script::new()
        .working("on it")
        .wait(&signal)
        .input_required("which?")
        .then()
        .chunks(["th", "is"])
        .complete();
    let agent = agent(script);
    let mut events = stream(&agent, Message::user("go")).await;
    let working = expect_state(&mut events, TaskState::Working).await;
    signal.reached().await;
    signal.release();
    let rest = collect(events).await;
    assert_eq!(states(&rest), [Some(TaskState::InputRequired)]);
    let answer = Message::user("this").with_task_id(working.task_id());
    let rest = collect(stream(&agent, answer.clone()).await).await;
    assert_eq!(rest.last().unwrap().state(), Some(TaskState::Completed));
}

#[tokio::test]
async fn what_fails_panics_or_has_no_turn_fails_the_task() {
    let script = Script::new().fail("no").then().panic("scripted");
    let agent = agent(script);
    for text in ["fails", "panics", "has no turn"] {
        let events = collect(stream(&agent, Message::user(text)).await).await;
        let last = events.last().unwrap().state();
        assert_eq!(last, Some(TaskState::Failed), "what {text}");
    }
}

#[tokio::test]
#[should_panic(
    expected = "expected TASK_STATE_COMPLETED, the stream ends behind 3 events: \
                           [TASK_STATE_SUBMITTED, TASK_STATE_WORKING, TASK_STATE_INPUT_REQUIRED]"
)]
async fn a_state_that_does_not_come_is_told_with_what_came() {
    let agent = agent(Script::new().working("on it").input_required("which?"));
    let mut events = stream(&agent, Message::user("go")).await;
    expect_state(&mut events, TaskState::Completed).await;
}

#[tokio::test]
#[should_panic(expected = "the stream fails with")]
async fn a_stream_that_is_cut_is_no_whole_one() {
    let agent = agent(Script::new().input_required("which?"));
    let events = collect(stream(&agent, Message::user("go")).await).await;
    let request = SubscribeToTaskRequest {
        id: events[0].task_id().to_owned(),
        ..SubscribeToTaskRequest::default()
    };
    let call = CallContext::new(Method::SubscribeToTask);
    let parked = agent.subscribe_to_task(call, request).await.unwrap();
    agent.shutdown().await;
    collect(parked).await;
}

#[tokio::test]
async fn an_agent_on_loopback_takes_connections_until_it_is_shut_down() {
    let served = loopback(Agent::builder(Script::new().reply("hello"))).await;
    let address = served.url().strip_prefix("http://").unwrap().to_owned();
    tokio::net::TcpStream::connect(&address).await.unwrap();
    served.shutdown().await;
    let refused = tokio::net::TcpStream::connect(&address).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
}
