//! byo-doctor finds what is wrong with an agent, and nothing where nothing is.

mod patient;

use std::net::TcpListener;
use std::time::Duration;

use kagent_ext::doctor::{Check, Options, Outcome, Report, examine};

use crate::harness::within;
use patient::Fault;

/// Examines this program as an agent with that fault.
async fn examined(fault: Fault) -> Report {
    let program = std::env::current_exe().unwrap();
    let readiness = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let command = format!(
        "env {}={fault:?} {} --exact doctor::patient::{} --nocapture",
        patient::FAULT,
        program.display(),
        patient::PROGRAM,
    );
    let mut options = Options::run(command)
        .with_pause("ask")
        .with_readiness_port(readiness);
    if fault == Fault::SlowReady {
        options = options.with_ready_within(Duration::from_millis(200));
    }
    examine(&options).await.unwrap()
}

async fn finds(fault: Fault, checks: &[Check]) {
    within(async {
        let report = examined(fault).await;
        let failed: Vec<Check> = report.failures().collect();
        assert_eq!(failed, checks, "{report}");
    })
    .await;
}

#[tokio::test]
async fn nothing_is_wrong_with_an_agent_that_keeps_the_contract() {
    within(async {
        let report = examined(Fault::None).await;
        let passed = |finding: &&kagent_ext::doctor::Finding| finding.outcome == Outcome::Passed;
        assert_eq!(
            report.findings().iter().filter(passed).count(),
            Check::ALL.len(),
            "{report}"
        );
        assert_eq!(report.to_json()["healthy"], true);
    })
    .await;
}

#[tokio::test]
async fn a_wrong_port_is_found() {
    finds(Fault::WrongPort, &[Check::Reachable]).await;
}

#[tokio::test]
async fn readiness_on_one_family_is_found() {
    finds(Fault::ReadinessOnV6Only, &[Check::ReadinessOnV4]).await;
}

#[tokio::test]
async fn missing_health_is_found() {
    finds(Fault::NoHealth, &[Check::Health]).await;
}

#[tokio::test]
async fn a_reply_in_the_status_is_found() {
    finds(Fault::ReplyInStatus, &[Check::ReplyInArtifact]).await;
}

#[tokio::test]
async fn an_append_to_nothing_is_found() {
    finds(Fault::AppendToUnseen, &[Check::ChunksInOrder]).await;
}

#[tokio::test]
async fn an_event_behind_the_boundary_is_found() {
    finds(Fault::EventBehindBoundary, &[Check::EndsAtBoundary]).await;
}

#[tokio::test]
async fn a_payload_that_nobody_asked_for_is_found() {
    finds(
        Fault::PayloadWithoutActivation,
        &[Check::PauseWithoutActivation],
    )
    .await;
}

#[tokio::test]
async fn state_in_memory_is_found() {
    finds(Fault::StateInMemory, &[Check::ColdBoot]).await;
}

#[tokio::test]
async fn a_late_readiness_is_found() {
    finds(Fault::SlowReady, &[Check::ReadyInTime]).await;
}

#[tokio::test]
async fn a_limit_of_4_mib_is_found() {
    finds(Fault::SmallMessages, &[Check::LargeMessages]).await;
}

#[tokio::test]
async fn a_program_that_ends_is_told_and_nothing_else_is_guessed() {
    within(async {
        let report = examine(&Options::run("false")).await.unwrap();
        assert_eq!(
            report.failures().collect::<Vec<_>>(),
            [Check::ReadyInTime],
            "{report}"
        );
        let rest = report.outcome(Check::Reachable).unwrap();
        assert!(
            matches!(rest, Outcome::NotChecked(lacks) if lacks.contains("has ended")),
            "{report}"
        );
    })
    .await;
}

#[tokio::test]
async fn of_an_agent_that_runs_is_checked_what_can_be() {
    within(async {
        let agent = kagent_ext::byo::Byo::new(patient::Agent::of(Fault::None))
            .environment(kagent_ext::config::Environment::empty())
            .listen("127.0.0.1:0")
            .readiness_port(0)
            .bind()
            .await
            .unwrap();
        let options = Options::url(agent.local_addr().to_string())
            .with_pause("ask")
            .with_readiness_port(agent.readiness_addrs()[0].port());
        let report = examine(&options).await.unwrap();
        for check in [
            Check::Reachable,
            Check::Health,
            Check::ReplyInArtifact,
            Check::PausePayload,
        ] {
            assert_eq!(report.outcome(check), Some(&Outcome::Passed), "{report}");
        }
        for check in [Check::StoredTasks, Check::ColdBoot, Check::Terminates] {
            let outcome = report.outcome(check).unwrap();
            assert!(
                matches!(outcome, Outcome::NotChecked(lacks) if lacks.contains("--run")),
                "{report}"
            );
        }
    })
    .await;
}
