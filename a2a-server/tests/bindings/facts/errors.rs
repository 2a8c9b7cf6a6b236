use a2a_proto::ErrorCode;
use a2a_server::{Limits, Principal, auth::BearerTokens};
use serde_json::{Value, json};

use super::{agent, agent_with, error, message, rpc, web};
use crate::support::{CURRENT, Peer, Script, within};

const DOMAIN: &str = "a2a-protocol.org";

/// The element of an error's details that says the reason.
fn error_info(details: &Value) -> &Value {
    let found = details
        .as_array()
        .unwrap()
        .iter()
        .find(|detail| detail["@type"] == "type.googleapis.com/google.rpc.ErrorInfo");
    found.unwrap_or_else(|| panic!("no ErrorInfo in {details}"))
}

#[tokio::test]
async fn w22_w27_every_error_has_a_list_of_objects_with_the_reason_in_it() {
    within(async {
        for code in ErrorCode::all() {
            let peer = Peer::start(Script::failing(a2a_proto::A2aError::new(code, "no"))).await;
            let body = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}"#;
            let rpc = peer.web().post("/", CURRENT, body).await.json();
            let rest = peer.web().get("/tasks/t", CURRENT).await.json();
            for details in [&rpc["error"]["data"], &rest["error"]["details"]] {
                // The Go client fails the whole reply on data that is no list of objects.
                assert!(
                    details.as_array().unwrap().iter().all(Value::is_object),
                    "{details}"
                );
                let info = error_info(details);
                assert_eq!(
                    (&info["reason"], &info["domain"]),
                    (&json!(code.reason()), &json!(DOMAIN))
                );
            }
        }
    })
    .await;
}

#[tokio::test]
async fn w21_who_is_not_let_in_is_told_a_code_of_json_rpc_and_the_reason() {
    within(async {
        let tokens = BearerTokens::new([("secret", Principal::named("ann"))]);
        let server = agent_with(|builder| builder.authenticator(tokens)).await;
        let answer = rpc(&server, &json!(1), "ListTasks", &json!({})).await;
        let error = &answer.json()["error"];
        assert_eq!(
            error_info(&error["data"])["reason"],
            "UNAUTHENTICATED",
            "{error}"
        );
        assert_eq!(error["code"], -32603);
        let rest = web(&server).get("/tasks", CURRENT).await;
        assert_eq!(rest.status, 401);
        assert_eq!(
            error_info(&rest.json()["error"]["details"])["reason"],
            "UNAUTHENTICATED"
        );
    })
    .await;
}

#[tokio::test]
async fn w23_violations_name_their_field_as_the_proto_file_does() {
    within(async {
        let server = agent().await;
        let params = json!({"message": {"role": "ROLE_USER", "parts": [{"text": "hi"}, {}]}});
        let error = error(&server, "SendMessage", &params).await;
        let violations = error["data"]
            .as_array()
            .unwrap()
            .iter()
            .find_map(|detail| detail.get("fieldViolations"));
        let fields = violations.unwrap().as_array().unwrap().iter();
        let fields: Vec<&str> = fields
            .map(|violation| violation["field"].as_str().unwrap())
            .collect();
        assert_eq!(fields, ["message.message_id", "message.parts[1]"]);
    })
    .await;
}

#[tokio::test]
async fn w33_what_leads_nowhere_is_answered_in_json() {
    within(async {
        let server = agent().await;
        for (verb, path, status) in [
            ("GET", "/nowhere", 404),
            ("GET", "/tasks/", 404),
            ("PUT", "/tasks", 405),
        ] {
            let answer = web(&server).send(verb, path, CURRENT, None).await;
            assert_eq!(answer.status, status, "{path}");
            assert!(answer.json()["error"]["message"].is_string(), "{answer:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn w41_the_codes_of_grpc_are_those_that_the_go_client_pairs_with_the_reason() {
    use crate::support::grpc::{channel, open};
    use prost::Message as _;
    use tonic::Code;
    within(async {
        for (code, expected) in [
            (ErrorCode::TaskNotFound, Code::NotFound),
            (ErrorCode::TaskNotCancelable, Code::FailedPrecondition),
            (
                ErrorCode::PushNotificationNotSupported,
                Code::FailedPrecondition,
            ),
            (ErrorCode::UnsupportedOperation, Code::FailedPrecondition),
            (ErrorCode::ContentTypeNotSupported, Code::InvalidArgument),
            (ErrorCode::InvalidAgentResponse, Code::Internal),
            (
                ErrorCode::ExtensionSupportRequired,
                Code::FailedPrecondition,
            ),
            (ErrorCode::VersionNotSupported, Code::FailedPrecondition),
            (ErrorCode::InvalidParams, Code::InvalidArgument),
            (ErrorCode::Internal, Code::Internal),
        ] {
            let peer = Peer::start(Script::failing(a2a_proto::A2aError::new(code, "no"))).await;
            let request = a2a_proto::v1::GetTaskRequest {
                id: "t".into(),
                ..Default::default()
            };
            let channel = channel(peer.server.local_addr()).await;
            let path = "/lf.a2a.v1.A2AService/GetTask";
            let status = open(channel, path, CURRENT, request.encode_to_vec())
                .await
                .unwrap_err();
            assert_eq!((status.code(), status.message()), (expected, "no"));
            let has = |text: &str| {
                status
                    .details()
                    .windows(text.len())
                    .any(|window| window == text.as_bytes())
            };
            assert!(
                has(code.reason()) && has(DOMAIN) && has("google.rpc.ErrorInfo"),
                "{code:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn w53_a_body_of_ten_mebibytes_is_taken_and_one_over_the_limit_is_told_in_json() {
    within(async {
        let server = agent().await;
        let params = json!({"message": message(&"x".repeat(10 << 20))});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params})
            .to_string();
        let answer = web(&server).post("/", CURRENT, &body).await.json();
        assert_eq!(
            answer["result"]["task"]["status"]["state"],
            "TASK_STATE_COMPLETED"
        );
        let limits = Limits::default().body_bytes(1000);
        let small = agent_with(|builder| builder.limits(limits)).await;
        for (path, body) in [("/", body.clone()), ("/message:send", params.to_string())] {
            let answer = web(&small).post(path, CURRENT, &body).await;
            assert_eq!(answer.status, 413, "{path}");
            let text = answer.text();
            assert!(text.contains("RESOURCE_EXHAUSTED"), "{path}: {text}");
        }
    })
    .await;
}

#[tokio::test]
async fn w59_an_extension_that_is_required_is_asked_for_and_a_type_that_is_not_taken_is_refused() {
    within(async {
        let server = agent().await;
        for (media_type, code) in [(json!("image/png"), Some(-32005)), (json!("text/plain"), None), (Value::Null, None)] {
            let mut message = message("hi");
            message["parts"][0]["mediaType"] = media_type;
            let answer = rpc(&server, &json!(1), "SendMessage", &json!({"message": message})).await.json();
            assert_eq!(answer["error"]["code"].as_i64(), code, "{answer}");
        }
        let mut card = crate::support::card();
        let capabilities = card.capabilities.as_mut().unwrap();
        capabilities.extensions[0].required = true;
        let peer = Peer::configured(Script::default(), card, |builder| builder).await;
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message("hi")}});
        let refused = peer.web().post("/", CURRENT, body.to_string()).await.json();
        assert_eq!(refused["error"]["code"], -32008);
        let asked = [("a2a-version", "1.0"), ("a2a-extensions", crate::support::OPTIONAL_EXTENSION)];
        let taken = peer.web().post("/", &asked, body.to_string()).await.json();
        assert!(taken.get("result").is_some(), "{taken}");
    })
    .await;
}
