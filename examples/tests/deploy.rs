//! The files for kagent keep the limits that it has (kagent contract 1.2).

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use kagent_ext::doctor::Check;
use serde::Deserialize;
use serde_json::Value;

fn file(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(root.join("..").join(path)).unwrap()
}

fn manifests() -> BTreeMap<String, Value> {
    let text = file("examples/deploy/kagent.yaml");
    serde_yaml_ng::Deserializer::from_str(&text)
        .map(|document| Value::deserialize(document).unwrap())
        .map(|manifest| (manifest["kind"].as_str().unwrap().to_owned(), manifest))
        .collect()
}

#[test]
fn the_manifests_are_a_harness_a_template_and_an_agent_of_both() {
    let all = manifests();
    assert_eq!(
        all.keys().collect::<Vec<_>>(),
        ["Agent", "AgentTemplate", "Harness"]
    );
    for manifest in all.values() {
        assert_eq!(manifest["apiVersion"], "api.kagent.dev/v1alpha3");
        assert_eq!(
            manifest["metadata"]["namespace"],
            all["Agent"]["metadata"]["namespace"]
        );
    }
    let agent = &all["Agent"]["spec"];
    assert_eq!(
        agent["templateRef"]["name"],
        all["AgentTemplate"]["metadata"]["name"]
    );
    assert_eq!(
        agent["harnessRef"]["name"],
        all["Harness"]["metadata"]["name"]
    );
    assert!(all["AgentTemplate"]["spec"]["description"].is_string());
}

#[test]
fn the_harness_keeps_the_limits() {
    let harness = &manifests()["Harness"]["spec"];
    assert_eq!(harness["byo"], serde_json::json!({}));
    let (_, digest) = harness["workload"]["image"]
        .as_str()
        .unwrap()
        .split_once("@sha256:")
        .unwrap();
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let command = harness["workload"]["command"].as_array().unwrap();
    assert!((1..=32).contains(&command.len()));
    assert!(command[0].as_str().unwrap().starts_with('/'));
    let env = harness["env"].as_array().unwrap();
    // kagent's own take about nine of them.
    assert!(env.len() <= 32 - 9);
    for variable in env {
        let name = variable["name"].as_str().unwrap();
        assert!(
            !name.starts_with("KAGENT_") && name != "SSL_CERT_FILE",
            "{name} is kagent's"
        );
        match &variable["value"] {
            Value::String(value) => {
                let encoded = serde_json::to_string(value).unwrap();
                assert!(encoded.chars().count() <= 32_768);
            }
            _ => assert!(variable["credentialRef"]["key"].is_string(), "{name}"),
        }
    }
    assert!(harness["substrate"]["workerPoolRef"]["name"].is_string());
    assert!(harness["substrate"]["snapshotPolicy"]["location"].is_string());
}

#[test]
fn the_image_is_one_binary_of_nobodys_user_that_may_bind_port_80() {
    let text = file("examples/deploy/Dockerfile");
    let lines: Vec<&str> = text.lines().collect();
    let last = lines
        .iter()
        .rposition(|line| line.starts_with("FROM"))
        .unwrap();
    let image = &lines[last..];
    assert_eq!(image[0], "FROM scratch");
    let user = image
        .iter()
        .find_map(|line| line.strip_prefix("USER "))
        .unwrap();
    assert!(
        user.split(':').all(|id| id.parse::<u32>().unwrap() > 0),
        "{user}"
    );
    assert!(image.contains(&"EXPOSE 80 8081"));
    let entry = image
        .iter()
        .find_map(|line| line.strip_prefix("ENTRYPOINT "))
        .unwrap();
    let entry: Vec<String> = serde_json::from_str(entry).unwrap();
    let command = &manifests()["Harness"]["spec"]["workload"]["command"];
    assert_eq!(command, &serde_json::json!(entry));
    let capable = "setcap cap_net_bind_service=+ep target/release/byo_agent";
    assert!(lines[..last].iter().any(|line| line.contains(capable)));
    assert!(
        lines[..last]
            .iter()
            .any(|line| line.contains("--bin byo_agent") && line.contains("--locked"))
    );
}

#[test]
fn the_guide_has_the_table_that_byo_doctor_prints() {
    let guide = file("docs/deploy-kagent.md");
    for check in Check::ALL {
        let row = format!(
            "| {} | {} | {} |",
            check.symptom(),
            check.cause(),
            check.remedy()
        );
        assert!(
            guide.lines().any(|line| line == row),
            "not in the guide: {row}"
        );
    }
}
