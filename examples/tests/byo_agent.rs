//! `byo_agent` behind kagent's gateway, with a process that is started anew between the question and its answer.

#[allow(dead_code, reason = "its main is not called")]
#[path = "../src/bin/byo_agent.rs"]
mod agent;

use kagent_ext::doctor::{Finding, Options, Outcome, examine};
use kagent_ext::hitl::Pause;
use kagent_ext::testing::Controller;
use kagent_ext::text::reply_text;
use kagent_ext::usage::Usage;

#[tokio::test]
async fn it_forgets_only_what_it_may_and_remembers_the_rest()
-> Result<(), Box<dyn std::error::Error>> {
    let kagent = Controller::start().await?;
    kagent.run(agent::byo);
    let client = kagent.client();
    let noted = client.send_text("buy milk").await?.into_task().unwrap();
    let session = noted.context_id;
    let say = |text: &str| kagent_ext::a2a_proto::v1::Message::user(text).with_context_id(&session);
    client.send_message(say("call home")).await?;

    kagent.cold_boot(&session).await;
    let asked = client
        .send_message(say("forget buy milk"))
        .await?
        .into_task()
        .unwrap();
    let Some(Pause::Answerable(pause)) = Pause::of(&asked) else {
        panic!("it does not ask")
    };
    kagent.cold_boot(&session).await;
    let gone = client
        .send_message(pause.approve_all()?)
        .await?
        .into_task()
        .unwrap();
    assert_eq!(reply_text(&gone), "Gone, 1 left.");
    assert_eq!(Usage::of(&gone).unwrap().total().total, 4);
    let list = client.send_message(say("list")).await?.into_task().unwrap();
    assert_eq!(reply_text(&list), "- call home\n");
    Ok(())
}

#[tokio::test]
async fn it_keeps_the_contract_of_kagent() -> std::io::Result<()> {
    let ports = std::net::TcpListener::bind("127.0.0.1:0")?;
    let readiness = ports.local_addr()?.port();
    drop(ports);
    let options = Options::run(env!("CARGO_BIN_EXE_byo_agent"))
        .with_pause("forget it")
        .with_readiness_port(readiness);
    let report = examine(&options).await?;
    let passed = |finding: &&Finding| finding.outcome == Outcome::Passed;
    let passed = report.findings().iter().filter(passed).count();
    assert_eq!(passed, report.findings().len(), "{report}");
    Ok(())
}
