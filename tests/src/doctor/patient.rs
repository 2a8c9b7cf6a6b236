//! An agent with one fault, which the examination starts as a process of its own.

use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_proto::v1::{
    AgentCard, Artifact, CancelTaskRequest, GetExtendedAgentCardRequest, GetTaskRequest,
    ListTasksRequest, ListTasksResponse, Message, Part, SendMessageRequest, StreamResponse,
    SubscribeToTaskRequest, TaskArtifactUpdateEvent, TaskState,
};
use a2a_server::{
    AgentError, AgentExecutor, BoundaryPolicy, CallContext, Event, EventSink, EventStream,
    ExecutionContext, Limits, RequestHandler, SendReply, TaskReply,
};
use async_trait::async_trait;
use futures::{StreamExt as _, stream};
use kagent_ext::byo::Byo;
use kagent_ext::config::{Config, Environment};
use kagent_ext::hitl::{self, Hitl, HitlRequest, HitlTool, ToolApprovalRequest};
use kagent_ext::memory::Continuation;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

pub(super) const FAULT: &str = "A2A_TESTS_PATIENT";
pub(super) const PROGRAM: &str = "serves_where_it_is_told_to";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    WrongPort,
    ReadinessOnV6Only,
    NoHealth,
    ReplyInStatus,
    AppendToUnseen,
    EventBehindBoundary,
    PayloadWithoutActivation,
    StateInMemory,
    SlowReady,
    SmallMessages,
}

const FAULTS: [Fault; 11] = [
    Fault::None,
    Fault::WrongPort,
    Fault::ReadinessOnV6Only,
    Fault::NoHealth,
    Fault::ReplyInStatus,
    Fault::AppendToUnseen,
    Fault::EventBehindBoundary,
    Fault::PayloadWithoutActivation,
    Fault::StateInMemory,
    Fault::SlowReady,
    Fault::SmallMessages,
];

/// The program; in a run of the tests it has nothing to do.
#[tokio::test]
async fn serves_where_it_is_told_to() {
    let Ok(name) = std::env::var(FAULT) else {
        return;
    };
    let fault = FAULTS
        .into_iter()
        .find(|fault| format!("{fault:?}") == name)
        .unwrap();
    match fault {
        Fault::NoHealth | Fault::AppendToUnseen | Fault::EventBehindBoundary => {
            serve_by_hand(fault).await
        }
        _ => serve(fault).await,
    }
}

async fn serve(fault: Fault) {
    let mut byo = Byo::new(Agent::of(fault));
    match fault {
        Fault::WrongPort => byo = byo.listen("127.0.0.1:0"),
        Fault::ReadinessOnV6Only => byo = byo.readiness_port(0),
        Fault::SlowReady => tokio::time::sleep(Duration::from_secs(1)).await,
        Fault::SmallMessages => {
            byo = byo
                .agent(|agent| agent.limits(Limits::default().executions(1).body_bytes(4 << 20)));
        }
        _ => {}
    }
    let _readiness = (fault == Fault::ReadinessOnV6Only).then(|| tokio::spawn(ready(true)));
    byo.serve().await.unwrap();
}

/// Does what Byo does, where that can't be made to do it wrong.
async fn serve_by_hand(fault: Fault) {
    let environment = Environment::process();
    let runtime = Config::read(&environment).unwrap().runtime.unwrap();
    let store =
        kagent_ext::task_store::ControllerTaskStore::new(&runtime.control_plane_url, environment)
            .unwrap();
    let builder = kagent_ext::byo::preset(a2a_server::Agent::builder(Agent::of(fault)));
    let builder = match fault {
        Fault::EventBehindBoundary => builder.boundary(BoundaryPolicy::immediate()),
        _ => builder,
    };
    let agent = builder.store(store).build().unwrap();
    let endpoint = match fault {
        Fault::AppendToUnseen => {
            let card = agent.card().clone();
            a2a_server::Endpoint::builder(Arc::new(Careless(agent)), card).build()
        }
        _ => agent.endpoint(),
    };
    let address = format!("127.0.0.1:{}", runtime.port.unwrap());
    let server = endpoint.bind_with(address, |router| match fault {
        Fault::NoHealth => router.route(
            "/grpc.health.v1.Health/{method}",
            axum::routing::any(|| async { "none" }),
        ),
        _ => router,
    });
    let _server = server.await.unwrap();
    let mut signal =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).unwrap();
    tokio::select! {
        () = ready(false) => {}
        _ = signal.recv() => {}
    }
}

/// Answers as `/readyz` should.
async fn ready(only_v6: bool) {
    let port: u16 = std::env::var("KAGENT_READINESS_PORT")
        .unwrap()
        .parse()
        .unwrap();
    let socket = socket2::Socket::new(socket2::Domain::IPV6, socket2::Type::STREAM, None).unwrap();
    socket.set_only_v6(only_v6).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
        .bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)).into())
        .unwrap();
    socket.listen(16).unwrap();
    let listener = tokio::net::TcpListener::from_std(socket.into()).unwrap();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1024]).await;
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK")
            .await;
    }
}

/// Answers, and asks before it does what it is asked for.
pub(super) struct Agent {
    fault: Fault,
    asked: Continuation<String>,
}

impl Agent {
    pub(super) fn of(fault: Fault) -> Self {
        let asked = match fault {
            Fault::StateInMemory => Continuation::in_memory(),
            _ => Continuation::open(&Environment::process(), "asked"),
        };
        Self { fault, asked }
    }
}

impl AgentExecutor for Agent {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        if let Hitl::Approvals(_) = Hitl::of(&cx) {
            let asked = self.asked.take(cx.task_id()).await?;
            return match asked {
                Some(what) => Ok(out.reply(format!("did {what}")).await?),
                None => Ok(out.fail("forgot what it asked").await?),
            };
        }
        if cx.message().text() == "ask" {
            self.asked.save(cx.task_id(), &"it".to_owned()).await?;
            let request = ToolApprovalRequest::new([HitlTool::new("1", "rm")]);
            if self.fault == Fault::PayloadWithoutActivation {
                let message = HitlRequest::from(request).into_status_message(true)?;
                return Ok(out.input_required(message).await?);
            }
            return Ok(hitl::pause(&cx, &out, request).await?);
        }
        match self.fault {
            Fault::ReplyInStatus => {
                let message = Message::agent("only here");
                out.status(TaskState::Completed, Some(message)).await?;
            }
            Fault::EventBehindBoundary => {
                out.auth_required("log in").await?;
                out.reply("here").await?;
            }
            _ => out.reply("here").await?,
        }
        Ok(())
    }
}

/// Passes calls on, and spoils the stream.
struct Careless(a2a_server::Agent);

#[async_trait]
impl RequestHandler for Careless {
    async fn send_message(
        &self,
        cx: CallContext,
        request: SendMessageRequest,
    ) -> Result<SendReply, A2aError> {
        self.0.send_message(cx, request).await
    }

    async fn send_streaming_message(
        &self,
        cx: CallContext,
        request: SendMessageRequest,
    ) -> Result<EventStream, A2aError> {
        let mut events = self.0.send_streaming_message(cx, request).await?;
        let first = events.next().await.unwrap()?;
        let event = first.response();
        let update = TaskArtifactUpdateEvent {
            task_id: event.task_id().to_owned(),
            context_id: event.context_id().to_owned(),
            artifact: Some(Artifact::new("unseen", [Part::text("here")])),
            append: true,
            ..TaskArtifactUpdateEvent::default()
        };
        let spoiled = Event::from(StreamResponse::from(update));
        Ok(EventStream::new(
            stream::iter([Ok(first), Ok(spoiled)]).chain(events),
        ))
    }

    async fn get_task(
        &self,
        cx: CallContext,
        request: GetTaskRequest,
    ) -> Result<TaskReply, A2aError> {
        self.0.get_task(cx, request).await
    }

    async fn list_tasks(
        &self,
        cx: CallContext,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, A2aError> {
        self.0.list_tasks(cx, request).await
    }

    async fn cancel_task(
        &self,
        cx: CallContext,
        request: CancelTaskRequest,
    ) -> Result<TaskReply, A2aError> {
        self.0.cancel_task(cx, request).await
    }

    async fn subscribe_to_task(
        &self,
        cx: CallContext,
        request: SubscribeToTaskRequest,
    ) -> Result<EventStream, A2aError> {
        self.0.subscribe_to_task(cx, request).await
    }

    async fn get_extended_agent_card(
        &self,
        cx: CallContext,
        request: GetExtendedAgentCardRequest,
    ) -> Result<AgentCard, A2aError> {
        self.0.get_extended_agent_card(cx, request).await
    }
}
