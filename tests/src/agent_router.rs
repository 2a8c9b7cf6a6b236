//! Many agents behind one server: each is reached by its card and by its tenant, and none sees the others.

use a2a_client::{Client, ErrorCode};
use a2a_proto::Binding;
use a2a_proto::v1::{AgentCard, ListTasksRequest, TaskPushNotificationConfig, TaskState};
use a2a_server::auth::BearerTokens;
use a2a_server::{
    Agent, AgentBuilder, AgentRouter, BuildError, Limits, Principal, Server, executor_fn,
};

use crate::harness::*;

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];

/// Says its name and the tenant that it sees; `hang` waits to be canceled.
fn named(name: &'static str) -> AgentBuilder {
    Agent::builder(executor_fn(move |cx, out| async move {
        if cx.message().text() == "hang" {
            out.working("on it").await?;
            cx.cancelled().await;
            return Ok(());
        }
        Ok(out.reply(format!("{name} of {:?}", cx.tenant())).await?)
    }))
    .name(name)
}

fn agent(name: &'static str) -> Agent {
    named(name).build().unwrap()
}

async fn two() -> Server {
    let router = AgentRouter::new()
        .agent("one", agent("one"))
        .agent("two", agent("two"));
    router.bind("127.0.0.1:0").await.unwrap()
}

async fn by_card(server: &Server, name: &str, binding: Binding) -> Client {
    let url = format!("http://{}/{name}", server.local_addr());
    let builder = Client::builder().prefer([binding]);
    let client = builder.connect(url).await.unwrap();
    assert_eq!(client.binding(), Some(binding));
    client
}

fn by_tenant(server: &Server, tenant: &str, binding: Binding) -> Client {
    let url = match binding {
        Binding::Grpc => server.local_addr().to_string(),
        Binding::JsonRpc | Binding::HttpJson => format!("http://{}", server.local_addr()),
    };
    let builder = Client::builder().tenant(tenant);
    builder.from_endpoint(binding, url).unwrap()
}

async fn says(client: &Client) -> String {
    let reply = client.send_text("hello").await.unwrap();
    reply.into_task().unwrap().artifact_text()
}

#[tokio::test]
async fn each_agent_is_reached_by_its_card_on_every_binding() {
    within(async {
        let server = two().await;
        for binding in BINDINGS {
            for name in ["one", "two"] {
                let client = by_card(&server, name, binding).await;
                assert_eq!(client.card().unwrap().name, name);
                assert_eq!(says(&client).await, format!("{name} of \"\""), "{binding}");
                let stream = client.stream_text("hello").await.unwrap();
                let task = stream.into_task().await.unwrap();
                assert_state(&task, TaskState::Completed);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn each_agent_is_reached_by_its_tenant_and_sees_what_stands_behind_its_name() {
    within(async {
        let server = two().await;
        for binding in BINDINGS {
            for (tenant, answer) in [
                ("one", "one of \"\""),
                ("two", "two of \"\""),
                ("two/acme/eu", "two of \"acme/eu\""),
            ] {
                let client = by_tenant(&server, tenant, binding);
                assert_eq!(says(&client).await, answer, "{binding}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn the_tasks_of_one_agent_do_not_exist_for_another() {
    within(async {
        let server = two().await;
        for binding in BINDINGS {
            let (one, two) = (
                by_card(&server, "one", binding).await,
                by_card(&server, "two", binding).await,
            );
            let task = one.send_text("hello").await.unwrap().into_task().unwrap();
            let foreign = two.get_task(task.id.as_str()).await.unwrap_err();
            let unknown = two.get_task("none").await.unwrap_err();
            assert_eq!(foreign.code(), Some(ErrorCode::TaskNotFound));
            assert_eq!(foreign.to_string(), unknown.to_string());
            for refused in [
                two.cancel_task(task.id.as_str()).await.err(),
                two.send_message(answer(&task.id, "more")).await.err(),
                async {
                    two.subscribe_to_task(task.id.as_str())
                        .await?
                        .into_task()
                        .await
                }
                .await
                .err(),
            ] {
                assert_eq!(refused.unwrap().code(), Some(ErrorCode::TaskNotFound));
            }
            let listed = two.list_tasks(ListTasksRequest::default()).await.unwrap();
            assert!(listed.tasks.is_empty(), "{binding}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_names_no_agent_is_told_the_field_on_every_binding() {
    within(async {
        let server = two().await;
        for binding in BINDINGS {
            for tenant in ["three", "", "onetwo"] {
                let client = by_tenant(&server, tenant, binding);
                let unary = client.get_task("t").await.unwrap_err();
                let stream = async { client.stream_text("x").await?.into_task().await };
                for error in [unary, stream.await.unwrap_err()] {
                    assert_eq!(error.code(), Some(ErrorCode::InvalidParams), "{error}");
                    let said = error.protocol().unwrap();
                    assert_eq!(said.violations()[0].field, "tenant", "{binding} {tenant:?}");
                }
            }
        }
        let base = format!("http://{}", server.local_addr());
        for path in ["", "/three"] {
            let error = Client::connect(format!("{base}{path}")).await.unwrap_err();
            assert_eq!(error.http_status().unwrap(), 404, "{path}");
        }
    })
    .await;
}

#[tokio::test]
async fn each_agent_has_callers_and_limits_of_its_own() {
    within(async {
        let tokens = BearerTokens::new([("secret", Principal::named("ann"))]);
        let closed = named("closed").authenticator(tokens);
        let small = named("small").limits(Limits::default().body_bytes(2000));
        let router = AgentRouter::new()
            .agent("open", agent("open"))
            .agent("closed", closed.build().unwrap())
            .agent("small", small.build().unwrap());
        let server = router.bind("127.0.0.1:0").await.unwrap();
        for binding in BINDINGS {
            for client in [
                by_card(&server, "closed", binding).await,
                by_tenant(&server, "closed", binding),
            ] {
                let refused = client.send_text("hello").await.unwrap_err();
                assert_eq!(
                    refused.code(),
                    Some(ErrorCode::Unauthenticated),
                    "{refused}"
                );
                let header = (
                    "authorization".parse().unwrap(),
                    "Bearer secret".parse().unwrap(),
                );
                let known = client.with_header(header.0, header.1);
                assert_eq!(says(&known).await, "closed of \"\"");
            }
            assert_eq!(
                says(&by_card(&server, "open", binding).await).await,
                "open of \"\""
            );
            for client in [
                by_card(&server, "small", binding).await,
                by_tenant(&server, "small", binding),
            ] {
                let large = client.send_text("x".repeat(3000)).await.unwrap_err();
                assert_eq!(large.code(), Some(ErrorCode::ResourceExhausted), "{large}");
                assert_eq!(says(&client).await, "small of \"\"");
            }
            // Larger than any agent takes.
            let client = by_tenant(&server, "small", binding);
            let huge = client.send_text("x".repeat(17 << 20));
            let code = huge.await.unwrap_err().code();
            assert_eq!(code, Some(ErrorCode::ResourceExhausted), "{binding}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_fallback_takes_what_names_no_other_agent_as_if_it_were_alone() {
    within(async {
        let router = AgentRouter::new()
            .agent("one", agent("one"))
            .fallback(agent("rest"));
        let server = router.bind("127.0.0.1:0").await.unwrap();
        for binding in BINDINGS {
            let root = by_card(&server, "", binding).await;
            assert_eq!(says(&root).await, "rest of \"\"");
            let own = by_tenant(&server, "acme", binding);
            assert_eq!(says(&own).await, "rest of \"acme\"");
            let other = by_tenant(&server, "one", binding);
            assert_eq!(says(&other).await, "one of \"\"");
        }
    })
    .await;
}

#[tokio::test]
async fn the_name_is_taken_off_a_push_configuration_too() {
    within(async {
        let server = two().await;
        for binding in BINDINGS {
            let client = by_tenant(&server, "one", binding);
            let mut request = ask("hello");
            let configuration = request.configuration.get_or_insert_default();
            configuration.task_push_notification_config = Some(TaskPushNotificationConfig {
                tenant: "one".to_owned(),
                url: "https://hooks.test/1".to_owned(),
                ..Default::default()
            });
            let error = client.send_message(request).await.unwrap_err();
            let code = Some(ErrorCode::PushNotificationNotSupported);
            assert_eq!(error.code(), code, "{binding}: {error}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_public_url_and_own_paths_lead_below_the_name() {
    within(async {
        let own = named("own").json_rpc_path("/rpc").health_path("/alive");
        let router = AgentRouter::new()
            .agent("own", own.build().unwrap())
            .public_url("https://agents.test/all/");
        let server = router.bind("127.0.0.1:0").await.unwrap();
        let card = by_card(&server, "own", Binding::JsonRpc)
            .await
            .card()
            .unwrap();
        let urls: Vec<&str> = card
            .supported_interfaces
            .iter()
            .map(|interface| interface.url.as_str())
            .collect();
        let below = "https://agents.test/all/own";
        assert_eq!(urls, [&format!("{below}/rpc"), below, "agents.test:443"]);
        assert_eq!(card.interface(Binding::Grpc).unwrap().tenant, "own");
        let rpc = format!("http://{}/own/rpc", server.local_addr());
        let client = Client::builder()
            .from_endpoint(Binding::JsonRpc, rpc)
            .unwrap();
        assert_eq!(says(&client).await, "own of \"\"");
        assert_eq!(
            says(&by_tenant(&server, "own", Binding::JsonRpc)).await,
            "own of \"\""
        );
    })
    .await;
}

#[tokio::test]
async fn an_agent_gives_each_caller_a_card_of_its_own() {
    within(async {
        let people =
            ["ann", "bob"].map(|name| (name.to_owned() + "-secret", Principal::named(name)));
        let known = named("known")
            .authenticator(BearerTokens::new(people))
            .extended_card(|call| {
                let name = call.principal().name()?;
                Some(AgentCard {
                    name: format!("known to {name}"),
                    ..AgentCard::default()
                })
            });
        let router = AgentRouter::new()
            .agent("known", known.build().unwrap())
            .agent("open", agent("open"));
        let server = router.bind("127.0.0.1:0").await.unwrap();
        for binding in BINDINGS {
            for client in [
                by_card(&server, "known", binding).await,
                by_tenant(&server, "known", binding),
            ] {
                for name in ["ann", "bob"] {
                    let header = format!("Bearer {name}-secret").parse().unwrap();
                    let caller = client.with_header("authorization".parse().unwrap(), header);
                    let card = caller.get_extended_agent_card().await.unwrap();
                    assert_eq!(card.name, format!("known to {name}"), "{binding}");
                }
            }
            let open = by_tenant(&server, "open", binding);
            let none = open.get_extended_agent_card().await.unwrap_err();
            assert_eq!(none.code(), Some(ErrorCode::UnsupportedOperation), "{none}");
        }
    })
    .await;
}

#[tokio::test]
async fn shutdown_ends_the_streams_of_all_agents() {
    within(async {
        for binding in BINDINGS {
            let server = two().await;
            let mut streams = Vec::new();
            for name in ["one", "two"] {
                let client = by_card(&server, name, binding).await;
                let mut stream = client.stream_text("hang").await.unwrap();
                while stream.next().await.unwrap().unwrap().state() != Some(TaskState::Working) {}
                streams.push(stream);
            }
            server.shutdown().await;
            for mut stream in streams {
                let mut last = None;
                while let Some(event) = stream.next().await {
                    last = event.map_or(None, |event| event.state());
                }
                assert!(
                    last.is_some_and(TaskState::is_terminal),
                    "{binding}: {last:?}"
                );
            }
        }
    })
    .await;
}

#[test]
fn a_name_that_can_not_be_one_is_refused() {
    let wrong = |names: &[&str]| {
        let router = names.iter().fold(AgentRouter::new(), |router, name| {
            router.agent(*name, agent("x"))
        });
        router.into_service().unwrap_err()
    };
    for name in ["", "a/b", "tasks", "..", "caf\u{e9}", "message:send"] {
        let error = wrong(&[name]);
        assert!(
            matches!(&error, BuildError::AgentName { name: named, .. } if named == name),
            "{error}"
        );
    }
    assert!(
        wrong(&["a", "a"])
            .to_string()
            .contains("another agent has it")
    );
}
