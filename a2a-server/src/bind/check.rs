//! What is wrong with a request before anything is looked up.

use a2a_proto::header::Extensions;
use a2a_proto::v1::{
    AgentCard, CancelTaskRequest, ListTaskPushNotificationConfigsRequest, ListTasksRequest,
    Message, SendMessageRequest,
};
use a2a_proto::wire::Operation;
use a2a_proto::{A2aError, Call, FieldViolation, Method, StreamCall, Struct, Validate};
use prost::Message as _;

use super::Inner;
use crate::handler::push_not_supported;
use crate::limits::Limits;

/// Parameters, then required extensions, then capabilities.
pub(super) fn operation(
    endpoint: &Inner,
    requested: &Extensions,
    operation: &Operation,
) -> Result<(), A2aError> {
    let faults = faults(&endpoint.limits, operation);
    if !faults.is_empty() {
        return Err(A2aError::invalid_fields(faults));
    }
    required_extensions(&endpoint.card, requested)?;
    capability(&endpoint.card, operation)
}

fn faults(limits: &Limits, operation: &Operation) -> Vec<FieldViolation> {
    let mut faults = Faults(Vec::new());
    match operation {
        Operation::Unary(Call::SendMessage(request))
        | Operation::Stream(StreamCall::SendStreamingMessage(request)) => {
            faults.required(request);
            faults.send_message(limits, request);
        }
        Operation::Unary(Call::GetTask(request)) => {
            faults.required(request);
            faults.history_length("history_length", request.history_length);
        }
        Operation::Unary(Call::ListTasks(request)) => {
            faults.required(request);
            faults.list_tasks(request);
        }
        Operation::Unary(Call::CancelTask(request)) => {
            faults.required(request);
            faults.cancel_task(limits, request);
        }
        Operation::Unary(Call::CreateTaskPushNotificationConfig(request)) => {
            faults.required(request);
            if request.task_id.is_empty() {
                faults.add("task_id", "must be set");
            }
        }
        Operation::Unary(Call::GetTaskPushNotificationConfig(request)) => faults.required(request),
        Operation::Unary(Call::ListTaskPushNotificationConfigs(request)) => {
            faults.required(request);
            faults.list_push_configs(request);
        }
        Operation::Unary(Call::DeleteTaskPushNotificationConfig(request)) => {
            faults.required(request)
        }
        Operation::Unary(Call::GetExtendedAgentCard(request)) => faults.required(request),
        Operation::Stream(StreamCall::SubscribeToTask(request)) => faults.required(request),
    }
    faults.0
}

struct Faults(Vec<FieldViolation>);

impl Faults {
    fn add(&mut self, field: &str, description: impl Into<String>) {
        self.0.push(FieldViolation::new(field, description));
    }

    fn required(&mut self, request: &impl Validate) {
        self.0.extend(request.validate().err().unwrap_or_default());
    }

    fn send_message(&mut self, limits: &Limits, request: &SendMessageRequest) {
        let message = request.message.as_ref();
        let parts = message.map_or(0, |message| message.parts.len());
        if parts > limits.message_parts {
            let limit = limits.message_parts;
            self.add("message.parts", format!("must be at most {limit}"));
        }
        let in_message = message.map_or(0, metadata_of);
        self.metadata(limits, size(request.metadata.as_ref()) + in_message);
        let Some(configuration) = &request.configuration else {
            return;
        };
        self.history_length("configuration.history_length", configuration.history_length);
        let Some(push) = &configuration.task_push_notification_config else {
            return;
        };
        if !push.tenant.is_empty() && push.tenant != request.tenant {
            let field = "configuration.task_push_notification_config.tenant";
            self.add(field, "must be empty or the tenant of the request");
        }
        let task_id = message.map_or("", |message| &message.task_id);
        if !push.task_id.is_empty() && push.task_id != task_id {
            let field = "configuration.task_push_notification_config.task_id";
            self.add(field, "must be empty or the task of the message");
        }
    }

    fn list_tasks(&mut self, request: &ListTasksRequest) {
        self.history_length("history_length", request.history_length);
        if request
            .page_size
            .is_some_and(|size| !(1..=100).contains(&size))
        {
            self.add("page_size", "must be within 1 and 100");
        }
    }

    fn cancel_task(&mut self, limits: &Limits, request: &CancelTaskRequest) {
        self.metadata(limits, size(request.metadata.as_ref()));
    }

    fn list_push_configs(&mut self, request: &ListTaskPushNotificationConfigsRequest) {
        if request.page_size < 0 {
            self.add("page_size", "must not be negative");
        }
    }

    fn history_length(&mut self, field: &str, length: Option<i32>) {
        if length.is_some_and(|length| length < 0) {
            self.add(field, "must not be negative");
        }
    }

    fn metadata(&mut self, limits: &Limits, size: usize) {
        let limit = limits.metadata_bytes;
        if size > limit {
            self.add("metadata", format!("must be at most {limit} bytes in all"));
        }
    }
}

fn metadata_of(message: &Message) -> usize {
    let parts = message
        .parts
        .iter()
        .map(|part| size(part.metadata.as_ref()));
    size(message.metadata.as_ref()) + parts.sum::<usize>()
}

fn size(metadata: Option<&Struct>) -> usize {
    metadata.map_or(0, Struct::encoded_len)
}

fn required_extensions(card: &AgentCard, requested: &Extensions) -> Result<(), A2aError> {
    let missing: Vec<&str> = card
        .required_extensions()
        .filter(|uri| !requested.contains(uri))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(",");
    Err(A2aError::extension_support_required(format!(
        "this agent requires extensions: send the header `A2A-Extensions: {missing}`"
    ))
    .with_metadata("requiredExtensions", missing))
}

fn capability(card: &AgentCard, operation: &Operation) -> Result<(), A2aError> {
    match operation.method() {
        Method::SendStreamingMessage | Method::SubscribeToTask if !card.supports_streaming() => {
            let text = "this agent does not stream";
            Err(A2aError::unsupported_operation(text))
        }
        Method::GetExtendedAgentCard if !card.has_extended_card() => {
            let text = "this agent has no extended card";
            Err(A2aError::unsupported_operation(text))
        }
        method
            if (is_push(method) || registers_push(operation))
                && !card.supports_push_notifications() =>
        {
            Err(push_not_supported())
        }
        _ => Ok(()),
    }
}

/// Whether a message brings a push configuration along.
fn registers_push(operation: &Operation) -> bool {
    let (Operation::Unary(Call::SendMessage(request))
    | Operation::Stream(StreamCall::SendStreamingMessage(request))) = operation
    else {
        return false;
    };
    let configuration = request.configuration.as_ref();
    configuration.is_some_and(|given| given.task_push_notification_config.is_some())
}

fn is_push(method: Method) -> bool {
    matches!(
        method,
        Method::CreateTaskPushNotificationConfig
            | Method::GetTaskPushNotificationConfig
            | Method::ListTaskPushNotificationConfigs
            | Method::DeleteTaskPushNotificationConfig
    )
}
