use std::time::Duration;

use a2a_proto::Binding;
use serde_json::Value;

use super::{NAMES, run};

/// What takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// Every case holds (but the one that our client cannot express: it never claims a version that it does not speak) with our own agent, so that with a foreign one a failure is a difference between the two.
async fn all_cases_hold(binding: Binding) {
    let server = crate::agent::agent().bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", server.local_addr());
    let mut lines: Vec<Value> = Vec::new();
    let run = run(&url, binding, |line| {
        lines.push(line);
        Ok(())
    });
    tokio::time::timeout(DEADLINE, run)
        .await
        .expect("the client hangs")
        .unwrap();
    let bad: Vec<&Value> = lines
        .iter()
        .filter(|line| line.get("case").is_some() && line["ok"] != true)
        .filter(|line| line["case"] != "version.unknown")
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
    assert_eq!(lines.len(), NAMES.len() + 1);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_json_rpc() {
    all_cases_hold(Binding::JsonRpc).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_json() {
    all_cases_hold(Binding::HttpJson).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_grpc() {
    all_cases_hold(Binding::Grpc).await;
}
