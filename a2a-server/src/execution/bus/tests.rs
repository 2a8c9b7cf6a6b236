use std::task::Waker;

use a2a_proto::v1::{StreamResponse, TaskStatus, TaskStatusUpdateEvent};

use super::*;

fn bus(events: usize, bytes: usize) -> Arc<Bus> {
    let bus = Arc::new(Bus::new(Window { events, bytes }, 2));
    bus.load(Arc::new(Task::submitted("t", "c")));
    bus
}

fn event(state: TaskState) -> Event {
    let update = TaskStatusUpdateEvent {
        task_id: "t".into(),
        context_id: "c".into(),
        status: Some(TaskStatus::new(state)),
        metadata: None,
    };
    StreamResponse::from(update).into()
}

fn publish(bus: &Bus, count: usize) {
    for _ in 0..count {
        bus.publish(bus.task().unwrap(), &event(TaskState::Working));
    }
}

fn poll(subscription: &mut Subscription) -> Poll<Option<Result<Event, A2aError>>> {
    Pin::new(subscription).poll_next(&mut Context::from_waker(Waker::noop()))
}

fn count(subscription: &mut Subscription) -> usize {
    let mut count = 0;
    while let Poll::Ready(Some(Ok(_))) = poll(subscription) {
        count += 1;
    }
    count
}

#[test]
fn what_all_have_read_is_freed_at_once() {
    let bus = bus(100, 1 << 20);
    publish(&bus, 10);
    assert_eq!(bus.kept(), 0, "nobody reads");
    let (_, mut one) = bus.subscribe().unwrap().unwrap();
    let (_, mut two) = bus.subscribe().unwrap().unwrap();
    publish(&bus, 10);
    assert_eq!(count(&mut one), 10);
    assert_eq!(bus.kept(), 10, "the other has not read");
    assert_eq!(count(&mut two), 10);
    assert_eq!(bus.kept(), 0);
    publish(&bus, 5);
    assert_eq!(count(&mut one), 5);
    drop(two);
    assert_eq!(bus.kept(), 0, "who has left reads no more");
}

#[test]
fn the_window_is_bounded_by_events_and_bytes_and_keeps_the_newest() {
    for (events, bytes) in [
        (4, 1 << 20),
        (
            1_000,
            4 * event(TaskState::Working).response().encoded_len(),
        ),
    ] {
        let bus = bus(events, bytes);
        let (_, mut slow) = bus.subscribe().unwrap().unwrap();
        publish(&bus, 4);
        assert_eq!(bus.kept(), 4);
        publish(&bus, 1);
        assert_eq!(bus.kept(), 4);
        assert!(matches!(poll(&mut slow), Poll::Ready(Some(Err(error))) if error.is_retryable()));
        assert!(matches!(poll(&mut slow), Poll::Ready(None)));
        assert_eq!(bus.kept(), 0);
    }
    let bus = bus(10, 1);
    let (_, mut reader) = bus.subscribe().unwrap().unwrap();
    publish(&bus, 1);
    assert_eq!(count(&mut reader), 1, "the newest is never evicted");
}

#[test]
fn a_stream_ends_behind_the_event_that_closes_it() {
    let bus = bus(100, 1 << 20);
    let (_, mut reader) = bus.subscribe().unwrap().unwrap();
    publish(&bus, 1);
    bus.publish(bus.task().unwrap(), &event(TaskState::InputRequired));
    bus.publish(bus.task().unwrap(), &event(TaskState::Working));
    assert_eq!(count(&mut reader), 2);
    assert!(matches!(poll(&mut reader), Poll::Ready(None)));
    assert!(bus.is_deserted());
    assert_eq!(bus.kept(), 0);
}

#[test]
fn readers_are_limited() {
    let bus = bus(100, 1 << 20);
    let _one = bus.subscribe().unwrap().unwrap();
    let two = bus.subscribe().unwrap().unwrap();
    let refused = bus.subscribe().unwrap().err().unwrap();
    assert_eq!(refused.code(), a2a_proto::ErrorCode::ResourceExhausted);
    drop(two);
    assert!(bus.subscribe().unwrap().is_ok());
}

#[test]
fn a_wait_ends_with_its_state_or_the_failure() {
    let bus = bus(100, 1 << 20);
    let mut boundary = bus.wait(Until::Boundary);
    let mut terminal = bus.wait(Until::Terminal);
    publish(&bus, 1);
    assert!(boundary.try_recv().is_err());
    bus.publish(bus.task().unwrap(), &event(TaskState::AuthRequired));
    assert!(boundary.try_recv().unwrap().is_ok());
    assert!(terminal.try_recv().is_err());
    bus.fail(&A2aError::internal("lost"), None);
    assert!(terminal.try_recv().unwrap().is_err());
    assert!(bus.task().is_none());
}

#[test]
fn one_that_falls_behind_takes_nothing_from_the_others() {
    let bus = bus(4, 1 << 20);
    let (_, mut behind) = bus.subscribe().unwrap().unwrap();
    publish(&bus, 5);
    let (_, mut slow) = bus.subscribe().unwrap().unwrap();
    publish(&bus, 4);
    assert!(matches!(
        poll(&mut behind),
        Poll::Ready(Some(Err(error))) if error.is_retryable()
    ));
    assert_eq!(count(&mut slow), 4);
    assert_eq!(bus.kept(), 0);
}
