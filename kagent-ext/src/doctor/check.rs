/// What is checked, in the order of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// `/readyz` is 200 soon after the start.
    ReadyInTime,
    /// `/readyz` on IPv4.
    ReadinessOnV4,
    /// `/readyz` on IPv6.
    ReadinessOnV6,
    /// gRPC where kagent dials.
    Reachable,
    /// The health service.
    Health,
    /// Messages over 4 MiB.
    LargeMessages,
    /// Nothing is asked of the task store before the first message.
    QuietStart,
    /// The task is created, updated and settled in the controller's store.
    StoredTasks,
    /// What goes along with calls of the task store.
    StoreCredential,
    /// Saves name the delivery that they come from.
    Dispatch,
    /// The reply is in an artifact.
    ReplyInArtifact,
    /// Chunks are appended to artifacts that are there.
    ChunksInOrder,
    /// Nothing comes behind the end.
    EndsAtBoundary,
    /// A pause says what it asks to who asked for the extension.
    PausePayload,
    /// A pause says nothing but text to who did not.
    PauseWithoutActivation,
    /// A pause is answered by a process that was started anew.
    ColdBoot,
    /// SIGTERM ends the process.
    Terminates,
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::ReadyInTime,
        Self::ReadinessOnV4,
        Self::ReadinessOnV6,
        Self::Reachable,
        Self::Health,
        Self::LargeMessages,
        Self::QuietStart,
        Self::StoredTasks,
        Self::StoreCredential,
        Self::Dispatch,
        Self::ReplyInArtifact,
        Self::ChunksInOrder,
        Self::EndsAtBoundary,
        Self::PausePayload,
        Self::PauseWithoutActivation,
        Self::ColdBoot,
        Self::Terminates,
    ];

    /// The name for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What holds where it passes.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.row().1
    }

    /// What one sees on kagent where it fails.
    #[must_use]
    pub fn symptom(self) -> &'static str {
        self.row().2
    }

    /// What causes a failure.
    #[must_use]
    pub fn cause(self) -> &'static str {
        self.row().3
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        self.row().4
    }

    /// Name, title, symptom, cause, remedy.
    fn row(
        self,
    ) -> (
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
    ) {
        match self {
            Self::ReadyInTime => (
                "ready-in-time",
                "`/readyz` answers within 30 seconds of the start",
                "the Session never becomes READY",
                "the agent loads models, fetches tools or dials others before it listens",
                "answer `/readyz` first, and do the rest with the first message",
            ),
            Self::ReadinessOnV4 => (
                "readiness-ipv4",
                "`/readyz` answers on IPv4",
                "the Session never becomes READY",
                "the readiness port is bound on IPv6 or on loopback only",
                "bind port 8081 on `0.0.0.0` as well",
            ),
            Self::ReadinessOnV6 => (
                "readiness-ipv6",
                "`/readyz` answers on IPv6",
                "the Session hangs when it is resumed",
                "the readiness port is bound on IPv4 only",
                "bind port 8081 on `::` as well",
            ),
            Self::Reachable => (
                "reachable",
                "gRPC answers where kagent dials",
                "the Session is READY, and every message fails with `Connect: tunnel failed`",
                "the agent listens on another port, on loopback only, or speaks no HTTP/2",
                "serve `lf.a2a.v1.A2AService` without TLS on `runtime.port`, which is 80 where it is not set",
            ),
            Self::Health => (
                "health",
                "`grpc.health.v1.Health` says SERVING for `lf.a2a.v1.A2AService`",
                "messages fail while the agent starts or stops",
                "there is no health service, or it does not know that name",
                "serve `grpc.health.v1.Health` and set that name to SERVING",
            ),
            Self::LargeMessages => (
                "large-messages",
                "a message of 5 MiB is taken",
                "long conversations fail with RESOURCE_EXHAUSTED",
                "the gRPC server keeps its default limit of 4 MiB",
                "raise the limit for received and sent messages to 16 MiB",
            ),
            Self::QuietStart => (
                "quiet-start",
                "the task store is not called before the first message",
                "restored Sessions fail at once, or act for another Session",
                "the agent dials the controller or reads its identity when it starts, and the snapshot keeps that",
                "read the identity file and connect with each message",
            ),
            Self::StoredTasks => (
                "stored-tasks",
                "a task is created before it is worked on, updated, and settled in the controller's task store",
                "tasks are lost when the Session is suspended; GetTask finds none",
                "the agent keeps its tasks in memory, or does not settle them",
                "keep tasks with TaskStoreService: CreateTask first, UpdateTask with each change, SettleTask at the end",
            ),
            Self::StoreCredential => (
                "store-credential",
                "calls of the task store carry `authorization: Bearer placeholder` and nothing else",
                "the task store answers PERMISSION_DENIED",
                "a token of the process goes along, or none",
                "send exactly `authorization: Bearer placeholder`: it is replaced on the way",
            ),
            Self::Dispatch => (
                "dispatch",
                "saves name the delivery of their message",
                "a message that was given up is worked on all the same",
                "`x-kagent-dispatch-id` is not copied from the call",
                "put it into `dispatch_id` of each CreateTask and UpdateTask of that call",
            ),
            Self::ReplyInArtifact => (
                "reply-in-artifact",
                "the reply is in an artifact",
                "the conversation shows no answer",
                "the text stands in the message of the COMPLETED status, which the UI does not show",
                "send the text as an artifact, and complete without a message",
            ),
            Self::ChunksInOrder => (
                "chunks-in-order",
                "chunks are appended to artifacts that have begun",
                "streams break off at their first chunk",
                "the first chunk of an artifact has `append: true`",
                "send the first chunk of each artifact with `append: false`",
            ),
            Self::EndsAtBoundary => (
                "ends-at-boundary",
                "nothing comes behind the event that ends or pauses the task",
                "the task fails, or what came last is lost",
                "the agent goes on sending when it has completed or asked",
                "end or pause last, when all else is sent",
            ),
            Self::PausePayload => (
                "pause-payload",
                "a pause says what it asks to a caller with the HITL extension",
                "the UI shows no buttons, and the task waits for ever",
                "the payload is missing from the status message, or its URI from `extensions`",
                "put the payload under the HITL URI into the message's metadata, and the URI into its `extensions`",
            ),
            Self::PauseWithoutActivation => (
                "pause-without-activation",
                "a pause has only text for a caller without the HITL extension",
                "clients that know nothing of the extension get what they can't read",
                "the payload is attached whether or not `A2A-Extensions` asked for it",
                "attach it only where the call lists the HITL URI",
            ),
            Self::ColdBoot => (
                "cold-boot",
                "a pause is answered after the process was started anew",
                "an answer fails, or the agent has forgotten what it asked",
                "what the answer needs is in the memory of the process",
                "keep it below `/data`, on the disk before the question is sent",
            ),
            Self::Terminates => (
                "terminates",
                "SIGTERM ends the process within 10 seconds",
                "Sessions take long to suspend, and are killed",
                "the signal is not handled, or goes to a shell that does not pass it on",
                "handle SIGTERM, and start the program without a shell",
            ),
        }
    }
}
