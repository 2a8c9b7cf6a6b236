use proptest::prelude::*;

use super::*;
use crate::ErrorCode;
use crate::v1::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, SubscribeToTaskRequest,
    TaskPushNotificationConfig, TaskState,
};

fn find(verb: &Verb, path: &str) -> (Method, String, String, String) {
    let route = Route::find(verb, path).unwrap_or_else(|error| panic!("{verb} {path}: {error:?}"));
    (route.method, route.tenant, route.task, route.config)
}

fn operation(verb: &Verb, uri: &str, body: &str) -> Result<Operation, A2aError> {
    let (path, query) = match uri.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (uri, None),
    };
    Route::find(verb, path)
        .unwrap()
        .operation(query, body.as_bytes())
}

fn list(query: &str) -> Result<ListTasksRequest, A2aError> {
    match operation(&Verb::GET, &format!("/tasks?{query}"), "")? {
        Operation::Unary(Call::ListTasks(request)) => Ok(request),
        other => panic!("{other:?}"),
    }
}

fn sent(operation: impl Into<Operation>) -> (String, Option<String>) {
    let request = request(operation.into()).unwrap();
    (
        format!("{} {}", request.verb, request.path),
        request.body.map(|body| String::from_utf8(body).unwrap()),
    )
}

#[test]
fn rest_01_every_operation_has_its_route() {
    for method in Method::all() {
        let path = method
            .template()
            .replace("{task_id}", "t")
            .replace("{id}", "i");
        let found = find(method.verb(), &path);
        assert_eq!((found.0, &*found.1), (method, ""));
        let found = find(method.verb(), &format!("/acme{path}"));
        assert_eq!((found.0, &*found.1), (method, "acme"));
    }
    assert_eq!(
        find(&Verb::GET, "/tasks/t:subscribe").0,
        Method::SubscribeToTask
    );
}

#[test]
fn rest_02_rest_03_tenants_and_ids_of_any_form() {
    let cases = [
        (
            Verb::GET,
            "/a/b%2Fc/tasks/x",
            Method::GetTask,
            "a/b/c",
            "x",
            "",
        ),
        (Verb::GET, "/tasks/a%3Ab", Method::GetTask, "", "a:b", ""),
        (Verb::GET, "/tasks/a%2Fb", Method::GetTask, "", "a/b", ""),
        (Verb::GET, "/tasks/a:b", Method::GetTask, "", "a:b", ""),
        (
            Verb::POST,
            "/tasks/a%3Acancel:cancel",
            Method::CancelTask,
            "",
            "a:cancel",
            "",
        ),
        (
            Verb::POST,
            "/tasks/a:b:cancel",
            Method::CancelTask,
            "",
            "a:b",
            "",
        ),
        (
            Verb::GET,
            "/tasks/a%3Acancel",
            Method::GetTask,
            "",
            "a:cancel",
            "",
        ),
        (Verb::GET, "/tasks/tasks", Method::GetTask, "", "tasks", ""),
        (
            Verb::GET,
            "/tasks/tasks/tasks",
            Method::GetTask,
            "tasks",
            "tasks",
            "",
        ),
        (
            Verb::POST,
            "/tasks/message:send",
            Method::SendMessage,
            "tasks",
            "",
            "",
        ),
        (
            Verb::POST,
            "/message%3Asend",
            Method::SendMessage,
            "",
            "",
            "",
        ),
        (Verb::GET, "//tasks", Method::ListTasks, "", "", ""),
        (
            Verb::GET,
            "/tasks/t/pushNotificationConfigs",
            Method::ListTaskPushNotificationConfigs,
            "",
            "t",
            "",
        ),
        (
            Verb::GET,
            "/tasks/t/pushNotificationConfigs/",
            Method::ListTaskPushNotificationConfigs,
            "",
            "t",
            "",
        ),
        (
            Verb::DELETE,
            "/x/tasks/t/pushNotificationConfigs/c%2F1",
            Method::DeleteTaskPushNotificationConfig,
            "x",
            "t",
            "c/1",
        ),
    ];
    for (verb, path, method, tenant, task, config) in cases {
        let expected = (
            method,
            tenant.to_owned(),
            task.to_owned(),
            config.to_owned(),
        );
        assert_eq!(find(&verb, path), expected, "{path}");
    }
}

#[test]
fn rest_18_unknown_paths_and_wrong_verbs_are_told_apart() {
    for path in [
        "/",
        "",
        "/task",
        "/tasks/",
        "/tasks/t/",
        "/message",
        "/message:sent",
        "/message:send/",
        "/tasks/t/x",
    ] {
        let error = Route::find(&Verb::GET, path).unwrap_err();
        assert!(matches!(error, RouteError::NotFound), "{path}: {error:?}");
        assert_eq!(error.http_status(), 404);
        assert_eq!(error.to_error().reason(), "METHOD_NOT_FOUND");
    }
    for (verb, path, expected) in [
        (Verb::PUT, "/tasks", "GET"),
        (Verb::GET, "/message:send", "POST"),
        (Verb::GET, "/tasks/t:cancel", "POST"),
        (Verb::DELETE, "/tasks/t:subscribe", "POST, GET"),
        (Verb::POST, "/tasks/t", "GET"),
        (
            Verb::PUT,
            "/t/tasks/t/pushNotificationConfigs/c",
            "GET, DELETE",
        ),
    ] {
        match Route::find(&verb, path).unwrap_err() {
            RouteError::WrongVerb { allow } => assert_eq!(allow, expected, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
    let error = Route::find(&Verb::GET, "/tasks/%ff").unwrap_err();
    assert!(matches!(&error, RouteError::Invalid(error) if error.violations()[0].field == "id"));
}

#[test]
fn rest_09_rest_10_parameters_of_a_list() {
    let request = list(concat!(
        "contextId=c%201&status=TASK_STATE_WORKING&pageSize=2&pageToken=a%2Bb%3D&historyLength=0",
        "&statusTimestampAfter=2025-01-01T00:00:00.5%2B02:00&includeArtifacts=true&tenant=t&unknown=1&A2A-Version=1.0"
    ))
    .unwrap();
    assert_eq!(request.context_id, "c 1");
    assert_eq!(request.status(), TaskState::Working);
    assert_eq!(
        (request.page_size, request.history_length),
        (Some(2), Some(0))
    );
    assert_eq!(request.page_token, "a+b=");
    assert_eq!(
        request.status_timestamp_after.unwrap().to_string(),
        "2024-12-31T22:00:00.500Z"
    );
    assert_eq!(request.include_artifacts, Some(true));
    assert_eq!(request.tenant, "t");
    assert_eq!(
        list("&&pageSize=&status=&includeArtifacts").unwrap(),
        ListTasksRequest::default()
    );
}

#[test]
fn w31_what_other_clients_send() {
    assert_eq!(list("status=2").unwrap().status(), TaskState::Working);
    assert_eq!(
        list("historyLength=%205&pageSize=+7").unwrap().page_size,
        Some(7)
    );
    assert_eq!(
        list("includeArtifacts=False").unwrap().include_artifacts,
        Some(false)
    );
    let after = list("lastUpdatedAfter=2025-01-01T00:00:00Z")
        .unwrap()
        .status_timestamp_after;
    assert_eq!(after.unwrap().to_string(), "2025-01-01T00:00:00Z");
    assert!(list("statusTimestampAfter=2025-01-01T00:00:00+02:00").is_ok());
    assert_eq!(list("page_size=3&pageSize=3").unwrap().page_size, Some(3));
}

#[test]
fn rest_11_wrong_values_name_their_fields() {
    let error = list(concat!(
        "pageSize=abc&historyLength=1.5&status=WORKING&includeArtifacts=1",
        "&statusTimestampAfter=soon&contextId=a&contextId=b"
    ))
    .unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidParams);
    let mut fields: Vec<_> = error
        .violations()
        .iter()
        .map(|v| v.field.as_str())
        .collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "context_id",
            "history_length",
            "include_artifacts",
            "page_size",
            "status",
            "status_timestamp_after"
        ]
    );
    assert!(list("status=99").is_err());
    assert!(list("pageSize=99999999999").is_err());
}

#[test]
fn ten_03_one_tenant_or_none() {
    let send = |uri: &str, body: &str| operation(&Verb::POST, uri, body);
    assert_eq!(send("/a/message:send", "{}").unwrap().tenant(), "a");
    assert_eq!(
        send("/message:send", r#"{"tenant":"a"}"#).unwrap().tenant(),
        "a"
    );
    assert_eq!(
        send("/a/message:send?tenant=a", r#"{"tenant":"a"}"#)
            .unwrap()
            .tenant(),
        "a"
    );
    for (uri, body) in [
        ("/a/message:send", r#"{"tenant":"b"}"#),
        ("/a/message:send?tenant=b", "{}"),
        ("/message:send?tenant=b", r#"{"tenant":"a"}"#),
    ] {
        let error = send(uri, body).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParams);
        assert_eq!(error.violations()[0].field, "tenant");
    }
}

#[test]
fn w29_cancel_and_subscribe_take_no_body_and_empty_ones() {
    for body in ["", "null", "{}", " "] {
        let cancel = operation(&Verb::POST, "/tasks/t:cancel", body).unwrap();
        assert_eq!(
            cancel,
            Call::CancelTask(CancelTaskRequest {
                id: "t".into(),
                ..Default::default()
            })
            .into()
        );
        for verb in [Verb::GET, Verb::POST] {
            let subscribe = operation(&verb, "/tasks/t:subscribe", body).unwrap();
            let expected = SubscribeToTaskRequest {
                id: "t".into(),
                ..Default::default()
            };
            assert_eq!(subscribe, StreamCall::SubscribeToTask(expected).into());
        }
        assert!(operation(&Verb::GET, "/tasks/t", body).is_ok());
    }
    let error = operation(&Verb::POST, "/tasks/t:cancel", "{").unwrap_err();
    assert_eq!(error.code(), ErrorCode::ParseError);
}

#[test]
fn can_06_the_metadata_of_a_cancel_arrives() {
    let call = CancelTaskRequest {
        id: "t".into(),
        metadata: Some(serde_json::json!({"why": "x"}).try_into().unwrap()),
        ..Default::default()
    };
    let (uri, body) = sent(Call::CancelTask(call.clone()));
    assert_eq!(uri, "POST /tasks/t:cancel");
    let read = operation(&Verb::POST, "/tasks/t:cancel", &body.unwrap()).unwrap();
    assert_eq!(read, Call::CancelTask(call).into());
}

#[test]
fn w28_the_path_wins_over_the_id_in_the_body() {
    let body = r#"{"taskId":"other","url":"https://x.test"}"#;
    let created = operation(&Verb::POST, "/tasks/t/pushNotificationConfigs", body).unwrap();
    let config = TaskPushNotificationConfig {
        task_id: "t".into(),
        url: "https://x.test".into(),
        ..Default::default()
    };
    assert_eq!(
        created,
        Call::CreateTaskPushNotificationConfig(config.clone()).into()
    );
    let (uri, body) = sent(Call::CreateTaskPushNotificationConfig(config));
    assert_eq!(uri, "POST /tasks/t/pushNotificationConfigs");
    assert!(body.unwrap().contains(r#""taskId":"t""#));
}

#[test]
fn ten_02_the_tenant_is_one_segment_of_the_path_and_not_in_the_body() {
    let mut operation = Operation::from_json(Method::SendMessage, b"{}").unwrap();
    operation.tenant_mut().push_str("t/1");
    let (uri, body) = sent(operation);
    assert_eq!(uri, "POST /t%2F1/message:send");
    assert!(!body.unwrap().contains("tenant"));
}

#[test]
fn rest_17_subscribe_posts_without_a_body() {
    let call = StreamCall::SubscribeToTask(SubscribeToTaskRequest {
        id: "t:1".into(),
        ..Default::default()
    });
    assert_eq!(sent(call), ("POST /tasks/t%3A1:subscribe".to_owned(), None));
}

#[test]
fn ids_that_no_path_can_carry_are_refused() {
    for id in ["", ".", ".."] {
        let call = Call::GetTask(GetTaskRequest {
            id: id.into(),
            ..Default::default()
        });
        let error = request(call.into()).unwrap_err();
        assert_eq!(error.violations()[0].field, "id", "{id}");
    }
}

#[test]
fn presence_is_kept() {
    let call = GetTaskRequest {
        id: "t".into(),
        history_length: Some(0),
        ..Default::default()
    };
    assert_eq!(sent(Call::GetTask(call)).0, "GET /tasks/t?historyLength=0");
    assert_eq!(sent(Call::ListTasks(Default::default())).0, "GET /tasks");
}

fn id() -> impl Strategy<Value = String> {
    "[a-z:/?#%+ &=.\u{e9}]{1,12}".prop_filter("dots", |id| id != "." && id != "..")
}

proptest! {
    #[test]
    fn rest_03_what_is_sent_is_read(id in id(), config in id(), tenant in id(), token in id(), size in any::<i32>()) {
        let operations: [Operation; 5] = [
            Call::GetTask(GetTaskRequest { id: id.clone(), tenant: tenant.clone(), history_length: Some(size) }).into(),
            Call::CancelTask(CancelTaskRequest { id: id.clone(), tenant: tenant.clone(), metadata: None }).into(),
            StreamCall::SubscribeToTask(SubscribeToTaskRequest { id: id.clone(), tenant: tenant.clone() }).into(),
            Call::GetTaskPushNotificationConfig(crate::v1::GetTaskPushNotificationConfigRequest {
                id: config, task_id: id.clone(), tenant,
            }).into(),
            Call::ListTasks(ListTasksRequest {
                context_id: id, page_token: token, page_size: Some(size), status: TaskState::Failed.into(),
                status_timestamp_after: Some(crate::Timestamp { seconds: 1_700_000_000, nanos: 5_000_000 }),
                include_artifacts: Some(false), ..Default::default()
            }).into(),
        ];
        for sent in operations {
            let request = request(sent.clone()).unwrap();
            let body = String::from_utf8(request.body.unwrap_or_default()).unwrap();
            prop_assert_eq!(operation(&request.verb, &request.path, &body).unwrap(), sent);
        }
    }

    #[test]
    fn any_path_and_query_is_read_without_panic(path in "[a-z:/%0-9]{0,40}(tasks|message:send)?[/:%a-f]{0,9}", query in "[a-zA-Z=&%+0-9]{0,40}") {
        for verb in [Verb::GET, Verb::POST, Verb::DELETE] {
            if let Ok(route) = Route::find(&verb, &path) {
                let _ = route.operation(Some(&query), b"{}");
            }
        }
    }
}
