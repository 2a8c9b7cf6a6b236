use super::send_message_response::Payload;
use super::{
    CancelTaskRequest, GetTaskRequest, Message, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse, SubscribeToTaskRequest, Task,
};
use crate::Struct;

impl SendMessageRequest {
    /// Asks for an answer at once, without waiting until the task stops.
    #[must_use]
    pub fn returning_immediately(mut self) -> Self {
        self.configuration_mut().return_immediately = true;
        self
    }

    /// Limits the history in the answer to that many of the newest messages; 0 is none.
    #[must_use]
    pub fn with_history_length(mut self, length: i32) -> Self {
        self.configuration_mut().history_length = Some(length);
        self
    }

    /// Adds a media type that the caller takes.
    #[must_use]
    pub fn with_accepted_output_mode(mut self, media_type: impl Into<String>) -> Self {
        let modes = &mut self.configuration_mut().accepted_output_modes;
        modes.push(media_type.into());
        self
    }

    /// Sets a metadata entry of the request.
    #[must_use]
    pub fn with_metadata(
        mut self,
        key: impl Into<String>,
        value: impl Into<serde_json::Value>,
    ) -> Self {
        self.metadata
            .get_or_insert_with(Struct::new)
            .insert(key, value);
        self
    }

    /// The configuration, made when there is none.
    pub fn configuration_mut(&mut self) -> &mut SendMessageConfiguration {
        self.configuration.get_or_insert_default()
    }
}

impl<M: Into<Message>> From<M> for SendMessageRequest {
    fn from(message: M) -> Self {
        Self {
            message: Some(message.into()),
            ..Self::default()
        }
    }
}

impl SendMessageResponse {
    /// The task, if that is the answer.
    #[must_use]
    pub fn as_task(&self) -> Option<&Task> {
        match &self.payload {
            Some(Payload::Task(task)) => Some(task),
            _ => None,
        }
    }

    /// The message, if that is the answer.
    #[must_use]
    pub fn as_message(&self) -> Option<&Message> {
        match &self.payload {
            Some(Payload::Message(message)) => Some(message),
            _ => None,
        }
    }

    /// The task, if that is the answer.
    #[must_use]
    pub fn into_task(self) -> Option<Task> {
        match self.payload {
            Some(Payload::Task(task)) => Some(task),
            _ => None,
        }
    }

    /// The message, if that is the answer.
    #[must_use]
    pub fn into_message(self) -> Option<Message> {
        match self.payload {
            Some(Payload::Message(message)) => Some(message),
            _ => None,
        }
    }

    /// The context of the answer; empty where it names none.
    #[must_use]
    pub fn context_id(&self) -> &str {
        match &self.payload {
            Some(Payload::Task(task)) => &task.context_id,
            Some(Payload::Message(message)) => &message.context_id,
            None => "",
        }
    }

    /// What the agent has to say.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.payload {
            Some(Payload::Task(task)) => task.text(),
            Some(Payload::Message(message)) => message.text(),
            None => String::new(),
        }
    }
}

impl From<Task> for SendMessageResponse {
    fn from(task: Task) -> Self {
        Self {
            payload: Some(Payload::Task(task)),
        }
    }
}

impl From<Message> for SendMessageResponse {
    fn from(message: Message) -> Self {
        Self {
            payload: Some(Payload::Message(message)),
        }
    }
}

impl GetTaskRequest {
    /// Asks for a task.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// Limits the history to that many of the newest messages; 0 is none.
    #[must_use]
    pub fn with_history_length(mut self, length: i32) -> Self {
        self.history_length = Some(length);
        self
    }
}

impl CancelTaskRequest {
    /// Asks to cancel a task.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }
}

impl SubscribeToTaskRequest {
    /// Asks for the events of a task.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }
}

/// The request about the task with that id.
macro_rules! about_a_task {
    ($($request:ident),*) => {$(
        impl From<&str> for $request {
            fn from(id: &str) -> Self {
                Self::new(id)
            }
        }

        impl From<String> for $request {
            fn from(id: String) -> Self {
                Self::new(id)
            }
        }

        impl From<&String> for $request {
            fn from(id: &String) -> Self {
                Self::new(id)
            }
        }
    )*};
}

about_a_task!(GetTaskRequest, CancelTaskRequest, SubscribeToTaskRequest);
