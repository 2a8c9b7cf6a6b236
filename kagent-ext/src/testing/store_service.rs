//! The task store as a gRPC service.

use std::sync::{Arc, Mutex, PoisonError};

use a2a_proto::v1::Task;
use http::HeaderMap;
use prost::Message as _;
use tonic::{Code, Request, Response, Status};

use super::fault::Faults;
use super::sessions::Sessions;
use super::{StoreCall, StoreMethod, listing};
use crate::task_store::wire::{
    self, TaskStoreServiceCreateTaskRequest as CreateRequest,
    TaskStoreServiceCreateTaskResponse as CreateResponse,
    TaskStoreServiceGetTaskRequest as GetRequest, TaskStoreServiceGetTaskResponse as GetResponse,
    TaskStoreServiceListTasksRequest as ListRequest,
    TaskStoreServiceListTasksResponse as ListResponse,
    TaskStoreServiceSettleTaskRequest as SettleRequest,
    TaskStoreServiceSettleTaskResponse as SettleResponse,
    TaskStoreServiceUpdateTaskRequest as UpdateRequest,
    TaskStoreServiceUpdateTaskResponse as UpdateResponse,
};

/// Answers agents, and notes what they asked.
#[derive(Debug)]
pub(super) struct StoreService {
    pub(super) sessions: Arc<Sessions>,
    pub(super) faults: Faults,
    pub(super) calls: Mutex<Vec<StoreCall>>,
    /// The name by which agents call the service.
    pub(super) name: String,
}

impl StoreService {
    /// Answers a call, with the fault that is due, and notes it.
    async fn answer<T>(
        &self,
        mut call: StoreCall,
        answer: impl FnOnce(&Sessions) -> Result<T, Status>,
    ) -> Result<Response<T>, Status> {
        let outcome = match self.faults.before(call.method).await {
            Err(refused) => Err(refused),
            Ok(behind) => behind.answer(admit(&call).and_then(|()| answer(&self.sessions))),
        };
        call.code = outcome.as_ref().map_or_else(Status::code, |_| Code::Ok);
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(call);
        outcome.map(Response::new)
    }

    fn call(&self, method: StoreMethod, metadata: HeaderMap, session_id: String) -> StoreCall {
        StoreCall {
            method,
            service: self.name.clone(),
            metadata,
            session_id,
            task: None,
            task_id: String::new(),
            version: None,
            dispatch_id: None,
            bytes: 0,
            code: Code::Ok,
        }
    }
}

#[tonic::async_trait]
impl wire::task_store_service_server::TaskStoreService for StoreService {
    async fn create_task(
        &self,
        request: Request<CreateRequest>,
    ) -> Result<Response<CreateResponse>, Status> {
        let (metadata, request) = split(request);
        let call = StoreCall {
            task_id: id(request.task.as_ref()),
            task: request.task.clone().map(Arc::new),
            dispatch_id: request.dispatch_id.clone(),
            bytes: request.encoded_len(),
            ..self.call(StoreMethod::Create, metadata, request.session_id.clone())
        };
        self.answer(call, |sessions| {
            let dispatch = request.dispatch_id.as_deref();
            let version = sessions.create(
                &request.session_id,
                &request,
                request.task.as_ref(),
                dispatch,
            )?;
            Ok(CreateResponse { version })
        })
        .await
    }

    async fn get_task(
        &self,
        request: Request<GetRequest>,
    ) -> Result<Response<GetResponse>, Status> {
        let (metadata, request) = split(request);
        let call = StoreCall {
            task_id: request.task_id.clone(),
            bytes: request.encoded_len(),
            ..self.call(StoreMethod::Get, metadata, request.session_id.clone())
        };
        self.answer(call, |sessions| {
            let stored = sessions.stored(&request.session_id, &request.task_id)?;
            Ok(GetResponse {
                stored: Some(stored),
            })
        })
        .await
    }

    async fn update_task(
        &self,
        request: Request<UpdateRequest>,
    ) -> Result<Response<UpdateResponse>, Status> {
        let (metadata, request) = split(request);
        let call = StoreCall {
            task_id: id(request.task.as_ref()),
            task: request.task.clone().map(Arc::new),
            version: Some(request.expected_version),
            dispatch_id: request.dispatch_id.clone(),
            bytes: request.encoded_len(),
            ..self.call(StoreMethod::Update, metadata, request.session_id.clone())
        };
        self.answer(call, |sessions| {
            let version = sessions.update(
                &request.session_id,
                &request,
                request.task.as_ref(),
                request.expected_version,
                request.dispatch_id.as_deref(),
            )?;
            Ok(UpdateResponse { version })
        })
        .await
    }

    async fn list_tasks(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListResponse>, Status> {
        let (metadata, request) = split(request);
        let call = StoreCall {
            bytes: request.encoded_len(),
            ..self.call(StoreMethod::List, metadata, request.session_id.clone())
        };
        self.answer(call, |sessions| {
            let asked = request.request.as_ref();
            let asked = asked.ok_or_else(|| Status::invalid_argument("request is required"))?;
            let tasks = sessions.public_tasks(&request.session_id);
            Ok(ListResponse {
                result: Some(listing::page(&request.session_id, tasks, asked)?),
            })
        })
        .await
    }

    async fn settle_task(
        &self,
        request: Request<SettleRequest>,
    ) -> Result<Response<SettleResponse>, Status> {
        let (metadata, request) = split(request);
        let call = StoreCall {
            task_id: request.task_id.clone(),
            version: Some(request.version),
            bytes: request.encoded_len(),
            ..self.call(StoreMethod::Settle, metadata, request.session_id.clone())
        };
        self.answer(call, |sessions| {
            sessions.settle(&request.session_id, &request.task_id, request.version)?;
            Ok(SettleResponse {})
        })
        .await
    }
}

/// The identity comes from the credential, which Substrate puts in the place of this one.
fn admit(call: &StoreCall) -> Result<(), Status> {
    let credential = call.metadata.get(http::header::AUTHORIZATION);
    match credential.is_some_and(|value| value == "Bearer placeholder") {
        true => Ok(()),
        false => Err(Status::permission_denied("no runtime of a session calls")),
    }
}

/// The metadata of the caller's, without those of gRPC, and the message.
fn split<M>(request: Request<M>) -> (HeaderMap, M) {
    let (metadata, _, message) = request.into_parts();
    let mut headers = metadata.into_headers();
    for name in [
        "te",
        "content-type",
        "user-agent",
        "grpc-timeout",
        "grpc-accept-encoding",
    ] {
        headers.remove(name);
    }
    (headers, message)
}

fn id(task: Option<&Task>) -> String {
    task.map(|task| task.id.clone()).unwrap_or_default()
}
