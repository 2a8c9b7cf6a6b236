//! Requests as bytes, so that one that is sent again is the same.

use std::marker::PhantomData;

use a2a_proto::v1::Task;
use a2a_server::StoreError;
use a2a_server::store::TaskVersion;
use bytes::{BufMut as _, Bytes, BytesMut};
use prost::Message;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, EncodeBuf, Encoder};
use tonic_prost::ProstDecoder;

use super::wire;

/// A request that holds a task, without a copy of it.
pub(super) struct SaveTask<'a> {
    task: &'a Task,
    /// What else is in the request, encoded: the order of fields says nothing.
    rest: Vec<u8>,
}

impl<'a> SaveTask<'a> {
    pub(super) fn create(session: &str, task: &'a Task, dispatch_id: Option<String>) -> Self {
        let rest = wire::TaskStoreServiceCreateTaskRequest {
            session_id: session.to_owned(),
            task: None,
            dispatch_id,
        };
        let rest = rest.encode_to_vec();
        Self { task, rest }
    }

    pub(super) fn update(
        session: &str,
        task: &'a Task,
        expected: TaskVersion,
        dispatch_id: Option<String>,
    ) -> Self {
        let rest = wire::TaskStoreServiceUpdateTaskRequest {
            session_id: session.to_owned(),
            task: None,
            expected_version: expected.number(),
            event: None,
            dispatch_id,
        };
        let rest = rest.encode_to_vec();
        Self { task, rest }
    }

    /// The bytes; refused where the controller would.
    pub(super) fn encode(&self) -> Result<Bytes, StoreError> {
        let task = prost::encoding::message::encoded_len(TASK_FIELD, self.task);
        let size = self.rest.len() + task;
        if size > MESSAGE_BYTES {
            let reason = format!("the task takes {size} bytes, the controller {MESSAGE_BYTES}");
            return Err(StoreError::Backend {
                source: reason.into(),
            });
        }
        let mut bytes = BytesMut::with_capacity(size);
        prost::encoding::message::encode(TASK_FIELD, self.task, &mut bytes);
        bytes.put_slice(&self.rest);
        Ok(bytes.freeze())
    }
}

/// Sends bytes and receives a message.
pub(super) struct Encoded<R>(PhantomData<R>);

impl<R> Default for Encoded<R> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<R: Message + Default + Send + 'static> Codec for Encoded<R> {
    type Encode = Bytes;
    type Decode = R;
    type Encoder = AsIs;
    type Decoder = ProstDecoder<R>;

    fn encoder(&mut self) -> AsIs {
        AsIs
    }

    fn decoder(&mut self) -> ProstDecoder<R> {
        ProstDecoder::new(BufferSettings::default())
    }
}

/// Writes bytes that are encoded already.
pub(super) struct AsIs;

impl Encoder for AsIs {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

/// `task` in both requests.
const TASK_FIELD: u32 = 2;
/// What the controller takes in one message, its frame included (kagent contract 1.4).
pub(super) const MESSAGE_BYTES: usize = (16 << 20) - FRAME_BYTES;
const FRAME_BYTES: usize = 5;
/// What remains for the task: the ids, the version and the lengths need less than a kibibyte.
pub(super) const TASK_BYTES: usize = MESSAGE_BYTES - 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        Task {
            id: "t".into(),
            context_id: "c".into(),
            ..Task::default()
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_whole_request() {
        let bytes = SaveTask::update("s", &task(), TaskVersion::new(7), Some("d".into()))
            .encode()
            .unwrap();
        let request = wire::TaskStoreServiceUpdateTaskRequest {
            session_id: "s".into(),
            task: Some(task()),
            expected_version: 7,
            event: None,
            dispatch_id: Some("d".into()),
        };
        assert_eq!(
            wire::TaskStoreServiceUpdateTaskRequest::decode(bytes).unwrap(),
            request
        );
        let bytes = SaveTask::create("s", &task(), None).encode().unwrap();
        let request = wire::TaskStoreServiceCreateTaskRequest {
            session_id: "s".into(),
            task: Some(task()),
            dispatch_id: None,
        };
        assert_eq!(
            wire::TaskStoreServiceCreateTaskRequest::decode(bytes).unwrap(),
            request
        );
    }

    #[test]
    fn a_task_at_its_limit_fits_and_one_over_the_message_does_not() {
        let session = "00000000-0000-4000-8000-000000000000";
        let sized = |size: usize| {
            let mut task = task();
            task.context_id.clear();
            // A tag of one byte and a length of four stand before it.
            task.context_id = "c".repeat(size - task.encoded_len() - 5);
            assert_eq!(task.encoded_len(), size);
            task
        };
        let save = |task: &Task| {
            SaveTask::update(
                session,
                task,
                TaskVersion::new(i64::MAX),
                Some(session.into()),
            )
            .encode()
            .map(|bytes| bytes.len())
        };
        let longest = save(&sized(TASK_BYTES)).unwrap();
        assert!(longest <= MESSAGE_BYTES, "{longest}");
        assert!(save(&sized(MESSAGE_BYTES)).is_err());
    }
}
