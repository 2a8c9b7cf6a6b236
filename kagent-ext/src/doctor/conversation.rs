//! The messages of an examination.

use std::time::Duration;

use a2a_client::{Client, ClientBuilder};
use a2a_proto::v1::{CancelTaskRequest, Message, SendMessageRequest, Task, TaskState};
use tonic::Code;

use super::observed::Observed;
use super::process::Patient;
use super::{Check, Options, Report, brief};
use crate::client;
use crate::hitl::{HitlRequest, Pause};
use crate::testing::{StoreCall, StoreMethod};
use crate::uri;

pub(super) struct Conversation<'a> {
    patient: &'a mut Patient,
    options: &'a Options,
}

impl<'a> Conversation<'a> {
    pub(super) fn with(patient: &'a mut Patient, options: &'a Options) -> Self {
        Self { patient, options }
    }

    pub(super) async fn hold(mut self, report: &mut Report) {
        self.greet(report).await;
        match self.options.pause_with.clone() {
            Some(text) => self.pause(&text, report).await,
            None => {
                for check in [
                    Check::PausePayload,
                    Check::PauseWithoutActivation,
                    Check::ColdBoot,
                ] {
                    report.skip(check, "say with --pause-with what makes the agent ask");
                }
            }
        }
    }

    /// A message that is answered.
    async fn greet(&mut self, report: &mut Report) {
        self.patient.kagent.forget_calls();
        let message = self.message(&self.options.say);
        let seen = self.send(message, client::preset).await;
        report.tell(Check::ChunksInOrder, seen.unseen.is_empty(), || {
            format!("appended to before they began: {:?}", seen.unseen)
        });
        let shown = seen.shown();
        match (&seen.error, seen.boundary) {
            (Some(error), _) if shown.is_empty() => report.fail(Check::ReplyInArtifact, error),
            (_, Some(TaskState::InputRequired)) if shown.is_empty() => {
                report.skip(
                    Check::ReplyInArtifact,
                    "it asks instead of answering: say something else with --say",
                );
            }
            _ => report.tell(Check::ReplyInArtifact, !shown.is_empty(), || {
                format!("no artifact has text; the status says `{}`", seen.hidden())
            }),
        }
        let calls = self.patient.kagent.calls();
        report.tell(
            Check::EndsAtBoundary,
            seen.late == 0 && ends_once(&calls),
            || match seen.late {
                0 => format!("calls of the task store: {:?}", changes(&calls)),
                late => format!("{late} events behind it"),
            },
        );
        self.judge_store(&calls, report);
    }

    fn judge_store(&self, calls: &[StoreCall], report: &mut Report) {
        let checks = [Check::StoredTasks, Check::StoreCredential, Check::Dispatch];
        if !self.patient.is_ours() {
            for check in checks {
                report.skip(check, "the agent has another task store: use --run");
            }
            return;
        }
        let [stored, credential, dispatch] = checks;
        let changes = changes(calls);
        let first = changes
            .first()
            .is_some_and(|call| call.method == StoreMethod::Create);
        let settled = changes
            .iter()
            .any(|call| call.method == StoreMethod::Settle && call.code == Code::Ok);
        report.tell(stored, first && settled, || match calls.is_empty() {
            true => "the task store was not called".to_owned(),
            false => format!("the calls that change something: {changes:?}"),
        });
        if calls.is_empty() {
            report.skip(credential, "the task store was not called");
            return report.skip(dispatch, "the task store was not called");
        }
        let wrong = calls.iter().find(|call| {
            let mut metadata = call.metadata.iter();
            let only = metadata.next().filter(|_| metadata.next().is_none());
            only.is_none_or(|(name, value)| {
                name != "authorization" || value != "Bearer placeholder"
            })
        });
        report.tell(credential, wrong.is_none(), || {
            let names = wrong.map(|call| {
                call.metadata
                    .keys()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
            });
            format!("metadata of another kind: {:?}", names.unwrap_or_default())
        });
        let nameless = changes
            .iter()
            .filter(|call| call.task.is_some())
            .any(|call| call.dispatch_id.is_none());
        report.tell(dispatch, !nameless, || {
            "a save names no delivery".to_owned()
        });
    }

    /// A message that makes the agent ask.
    async fn pause(&mut self, text: &str, report: &mut Report) {
        let plain = self.send(self.message(text), |builder| builder).await;
        if plain.boundary == Some(TaskState::InputRequired) {
            let message = plain.task.status_message();
            let carries = message.is_some_and(|message| {
                let names = message.extensions.iter().any(|named| named == uri::HITL);
                names
                    || message
                        .metadata
                        .as_ref()
                        .is_some_and(|metadata| metadata.contains_key(uri::HITL))
            });
            report.tell(Check::PauseWithoutActivation, !carries, || {
                "the payload is there though the call did not list the extension".to_owned()
            });
            self.cancel(&plain.task).await;
        } else {
            report.skip(Check::PauseWithoutActivation, not_asked(&plain));
        }
        let asked = self.send(self.message(text), client::preset).await;
        if asked.boundary != Some(TaskState::InputRequired) {
            for check in [Check::PausePayload, Check::ColdBoot] {
                report.skip(check, not_asked(&asked));
            }
            return;
        }
        let request = asked.task.status_message().and_then(HitlRequest::of);
        report.tell(Check::PausePayload, request.is_some(), || {
            "the status message has no request that can be read".to_owned()
        });
        self.answer_after_cold_boot(&asked.task, report).await;
    }

    async fn answer_after_cold_boot(&mut self, asked: &Task, report: &mut Report) {
        if !self.patient.is_ours() {
            return report.skip(
                Check::ColdBoot,
                "the agent is not ours to restart: use --run",
            );
        }
        let answer = match Pause::of(asked) {
            Some(Pause::Answerable(pause)) => match pause.request() {
                HitlRequest::ToolApproval(_) => pause.approve_all(),
                HitlRequest::AskUser(request) => {
                    let count = request.questions.len();
                    pause.answer(std::iter::repeat_n(["yes"], count))
                }
            }
            .map_err(|error| error.to_string()),
            // What asks in text is answered in text.
            _ => Ok(Message::user("yes").with_task_id(&asked.id)),
        };
        let answer = match answer {
            Ok(answer) => answer.with_context_id(&self.patient.session),
            Err(error) => {
                return report.fail(Check::ColdBoot, format!("it can't be answered: {error}"));
            }
        };
        match self.patient.cold_boot().await {
            Ok(true) => {}
            Ok(false) => return report.fail(Check::ColdBoot, "it is not ready after the restart"),
            Err(error) => {
                return report.fail(Check::ColdBoot, format!("it can't be restarted: {error}"));
            }
        }
        let seen = self.send(answer, client::preset).await;
        let went_on = matches!(
            seen.boundary,
            Some(TaskState::Completed | TaskState::InputRequired | TaskState::AuthRequired)
        );
        report.tell(
            Check::ColdBoot,
            went_on && seen.error.is_none(),
            || match &seen.error {
                Some(error) => error.clone(),
                None => format!(
                    "the answer ended in {:?}: `{}`",
                    seen.boundary,
                    seen.hidden()
                ),
            },
        );
    }

    fn message(&self, text: &str) -> Message {
        Message::user(text).with_context_id(&self.patient.session)
    }

    async fn send(
        &self,
        message: Message,
        prepare: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Observed {
        let mut seen = Observed::default();
        let listen = async {
            let client = self.patient.client(prepare(Client::builder()))?;
            let request = SendMessageRequest::from(message);
            let told = |error: a2a_client::Error| brief(&error);
            let mut events = client.send_streaming_message(request).await.map_err(told)?;
            while let Some(event) = events.next().await {
                seen.event(&event.map_err(told)?);
            }
            Ok(())
        };
        let outcome = tokio::time::timeout(LIMIT, listen).await;
        seen.error = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error),
            Err(_) => Some(format!("no end after {} s", LIMIT.as_secs())),
        };
        seen
    }

    async fn cancel(&self, task: &Task) {
        if let Ok(client) = self.patient.client(Client::builder()) {
            // Whether it can be canceled is not what is checked.
            let _ = client
                .cancel_task(CancelTaskRequest::from(task.id.as_str()))
                .await;
        }
    }
}

fn changes(calls: &[StoreCall]) -> Vec<&StoreCall> {
    let reads = |call: &&StoreCall| matches!(call.method, StoreMethod::Get | StoreMethod::List);
    calls.iter().filter(|call| !reads(call)).collect()
}

/// Whether no save comes behind that of a boundary.
fn ends_once(calls: &[StoreCall]) -> bool {
    let saves = changes(calls);
    let boundary = saves
        .iter()
        .position(|call| call.state().is_some_and(TaskState::is_boundary));
    let behind = saves
        .iter()
        .skip(boundary.map_or(saves.len(), |index| index + 1));
    behind
        .into_iter()
        .all(|call| call.method == StoreMethod::Settle)
}

fn not_asked(seen: &Observed) -> String {
    match &seen.error {
        Some(error) => format!("what --pause-with says ends in an error: {error}"),
        None => format!(
            "what --pause-with says does not make it ask: {:?}",
            seen.boundary
        ),
    }
}

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(120);
