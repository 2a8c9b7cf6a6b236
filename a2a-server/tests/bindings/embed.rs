//! The endpoint inside an application's own server.

use std::sync::Arc;

use a2a_server::Endpoint;
use axum::Router;
use axum::body::Body;
use axum::middleware::{Next, from_fn};
use axum::routing::get as get_route;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use tower_service::Service;

use crate::support::{CURRENT, Script, Web, card, grpc, operations, within};

fn endpoint(script: &Arc<Script>) -> Endpoint {
    Endpoint::builder(script.clone(), card())
        .public_url("https://agents.test/agents/one")
        .build()
}

async fn get(router: &mut Router, path: &str) -> Response<Body> {
    let request = Request::get(path).header("a2a-version", "1.0");
    router
        .call(request.body(Body::empty()).unwrap())
        .await
        .unwrap()
}

#[tokio::test]
async fn the_http_bindings_can_be_nested_under_a_prefix() {
    within(async {
        let script = Arc::new(Script::default());
        let mut app = Router::new().nest("/agents/one", endpoint(&script).into_router());
        for path in ["/agents/one/tasks/t1", "/agents/one/acme/tasks/t1"] {
            assert_eq!(get(&mut app, path).await.status(), 200, "{path}");
        }
        let request = Request::post("/agents/one")
            .header("a2a-version", "1.0")
            .body(Body::from(
                r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks"}"#,
            ))
            .unwrap();
        assert_eq!(app.call(request).await.unwrap().status(), 200);
        let card = get(&mut app, "/agents/one/.well-known/agent-card.json").await;
        let card: serde_json::Value =
            serde_json::from_slice(&card.into_body().collect().await.unwrap().to_bytes()).unwrap();
        let url = |index: usize| card["supportedInterfaces"][index]["url"].clone();
        assert_eq!(url(0), "https://agents.test/agents/one");
        assert_eq!(url(1), "https://agents.test/agents/one");
        assert_eq!(get(&mut app, "/tasks/t1").await.status(), 404);
    })
    .await;
}

#[tokio::test]
async fn what_layers_attach_reaches_the_handler() {
    #[derive(Clone, Debug, PartialEq)]
    struct Tag(&'static str);
    within(async {
        let script = Arc::new(Script::default());
        let mut service = endpoint(&script).into_service();
        let mut request = Request::get("/tasks/t1").header("a2a-version", "1.0");
        request
            .extensions_mut()
            .unwrap()
            .insert(Tag("from a layer"));
        let response = service
            .call(request.body(Body::empty()).unwrap())
            .await
            .unwrap();
        assert_eq!(response.status(), 200);
        let (cx, _) = script.call();
        assert_eq!(cx.http_extensions().get(), Some(&Tag("from a layer")));
    })
    .await;
}

#[tokio::test]
async fn an_application_can_add_layers_and_routes_to_the_server() {
    async fn tag(mut request: Request<Body>, next: Next) -> Response<Body> {
        request.extensions_mut().insert("from a layer");
        let mut response = next.run(request).await;
        let value = http::HeaderValue::from_static("yes");
        response.headers_mut().insert("x-tagged", value);
        response
    }
    within(async {
        let script = Arc::new(Script::default());
        let endpoint = Endpoint::builder(script.clone(), card()).build();
        let server = endpoint
            .bind_with("127.0.0.1:0", |router| {
                router
                    .route("/mine", get_route(async || "mine"))
                    .layer(from_fn(tag))
            })
            .await
            .unwrap();
        let web = Web(server.local_addr());
        assert_eq!(web.get("/mine", &[]).await.text(), "mine");
        let response = web.get("/tasks/t1", CURRENT).await;
        assert_eq!(
            (response.status, response.header("x-tagged")),
            (200, Some("yes"))
        );
        let (cx, _) = script.call();
        assert_eq!(cx.http_extensions().get(), Some(&"from a layer"));
        let card = web.get("/.well-known/agent-card.json", &[]).await.json();
        let url = card["supportedInterfaces"][2]["url"].clone();
        assert_eq!(url, server.local_addr().to_string());
        let subscribe = operations().remove(5);
        grpc::call(server.local_addr(), &subscribe, CURRENT)
            .await
            .unwrap();
    })
    .await;
}

#[tokio::test]
async fn health_over_http_has_a_path_where_one_is_set_and_says_when_the_server_stops() {
    within(async {
        let script = Arc::new(Script::default());
        let mut unset = endpoint(&script).into_router();
        assert_eq!(get(&mut unset, "/health").await.status(), 404);
        let endpoint = Endpoint::builder(script, card())
            .health_path("/health")
            .build();
        let mut router = endpoint.clone().into_router();
        assert_eq!(get(&mut router, "/health").await.status(), 200);
        endpoint.shutdown().await;
        assert_eq!(get(&mut router, "/health").await.status(), 503);
        // And so do calls.
        assert_eq!(get(&mut router, "/tasks/t1").await.status(), 503);
    })
    .await;
}
