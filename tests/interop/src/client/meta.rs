//! What goes along with calls: the card, tenants, metadata, extensions, versions, webhooks.

use a2a_client::{Client, ErrorCode};
use a2a_proto::Binding;
use a2a_proto::v1::{
    ListTaskPushNotificationConfigsRequest, Message, Part, SendMessageRequest, Task,
    TaskPushNotificationConfig,
};
use serde_json::{Value, json};

use super::support::*;
use crate::values::ECHO;

const UNKNOWN: &str = "https://example.com/ext/unknown/v1";

pub(crate) async fn card(peer: &Peer) -> Verdict {
    let card = &peer.card;
    check(!card.name.is_empty(), || "there is no name".to_owned())?;
    check(!card.version.is_empty(), || {
        "there is no version".to_owned()
    })?;
    let found: Vec<_> = card
        .supported_interfaces
        .iter()
        .map(|interface| interface.binding())
        .collect();
    let expected = vec![
        Some(Binding::JsonRpc),
        Some(Binding::HttpJson),
        Some(Binding::Grpc),
    ];
    same("the interfaces", found, expected)?;
    check(card.supports_streaming(), || "no streaming".to_owned())?;
    check(card.extension(ECHO).is_some(), || {
        "the extension is missing".to_owned()
    })?;
    same("the binding", peer.client.binding(), Some(peer.binding))
}

pub(crate) async fn extended_card(peer: &Peer) -> Verdict {
    let result = peer.client.get_extended_agent_card().await;
    if peer.card.has_extended_card() {
        return check(result?.skill("extended").is_some(), || {
            "the skill is missing".to_owned()
        });
    }
    let expected = [
        ErrorCode::UnsupportedOperation,
        ErrorCode::ExtendedAgentCardNotConfigured,
    ];
    refused(result, &expected)
}

/// What the agent saw of a call.
fn seen(task: &Task) -> Verdict<&Value> {
    let part = artifact(task, "meta")?.parts.first();
    part.and_then(Part::as_data)
        .ok_or_else(|| Failure::Failed("there is no data".to_owned()))
}

pub(crate) async fn tenant(peer: &Peer) -> Verdict {
    let mut context = peer.client.context().clone();
    context.set_tenant("acme/north");
    let client = peer.client.with_context(context);
    let task = completed(&client, "meta").await?;
    let expected = json!("acme/north");
    same("the tenant", seen(&task)?.get("tenant"), Some(&expected))
}

pub(crate) async fn metadata(peer: &Peer) -> Verdict {
    let message = Message::user("meta").with_metadata("m", "of the message");
    let request = SendMessageRequest::from(message).with_metadata("r", "of the request");
    let task = completed(&peer.client, request).await?;
    let of_artifact = artifact(&task, "meta")?.metadata.as_ref();
    let found = of_artifact.and_then(|metadata| metadata.get("k"));
    same("of the artifact", found, Some(&json!("v")))?;
    let found = |object: &str, key: &str| -> Verdict<Option<Value>> {
        let object = seen(&task)?.get(object);
        Ok(object.and_then(|object| object.get(key)).cloned())
    };
    let expected = Some(json!("of the request"));
    same("of the request", found("requestMetadata", "r")?, expected)?;
    let expected = Some(json!("of the message"));
    same("of the message", found("messageMetadata", "m")?, expected)
}

pub(crate) async fn extensions(peer: &Peer) -> Verdict {
    let client = peer.client.with_extension(ECHO).with_extension(UNKNOWN);
    let mut events = client.stream_text("meta").await?;
    let read = rest(&mut events).await?;
    // Some agents say it at the end.
    let activated = events.activated_extensions().clone();
    let task = folded(&read, a2a_proto::v1::TaskState::Completed)?;
    let seen = seen(&task)?.get("extensions").and_then(Value::as_array);
    let sees_it = seen.is_some_and(|seen| seen.contains(&json!(ECHO)));
    check(sees_it, || format!("the executor sees {seen:?}"))?;
    check(activated.contains(ECHO), || {
        format!("activated: {activated:?}")
    })?;
    check(!activated.contains(UNKNOWN), || {
        "one that nobody knows is activated".to_owned()
    })
}

pub(crate) async fn unknown_version(_: &Peer) -> Verdict {
    Err(Failure::Skipped("this SDK always sends 1.0".to_owned()))
}

pub(crate) async fn push(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "echo 1").await?;
    let config = TaskPushNotificationConfig {
        task_id: task.id.clone(),
        id: fresh(),
        url: "http://127.0.0.1:9/".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    match peer.card.supports_push_notifications() {
        true => push_works(&peer.client, config).await,
        false => push_is_refused(&peer.client, config).await,
    }
}

fn all_of(config: &TaskPushNotificationConfig) -> ListTaskPushNotificationConfigsRequest {
    ListTaskPushNotificationConfigsRequest {
        task_id: config.task_id.clone(),
        ..Default::default()
    }
}

async fn push_works(client: &Client, config: TaskPushNotificationConfig) -> Verdict {
    let made = client.create_push_config(config.clone()).await?;
    same("the url", &made.url, &config.url)?;
    let (task, id) = (made.task_id.as_str(), made.id.as_str());
    let read = client.get_push_config(task, id).await?;
    same("the url read", &read.url, &config.url)?;
    let all = client.list_push_configs(all_of(&config)).await?;
    same("the number of them", all.configs.len(), 1)?;
    client.delete_push_config(task, id).await?;
    let result = client.get_push_config(task, id).await;
    refused(result, &[ErrorCode::TaskNotFound])
}

async fn push_is_refused(client: &Client, config: TaskPushNotificationConfig) -> Verdict {
    let expected = [ErrorCode::PushNotificationNotSupported];
    let (task, id) = (config.task_id.as_str(), config.id.as_str());
    refused(client.get_push_config(task, id).await, &expected)?;
    refused(client.list_push_configs(all_of(&config)).await, &expected)?;
    refused(client.delete_push_config(task, id).await, &expected)?;
    refused(client.create_push_config(config.clone()).await, &expected)
}
