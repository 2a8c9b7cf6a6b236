//! The test of an agent that the README shows.

use kagent_ext::a2a_client::Client;
use kagent_ext::a2a_server::{Agent, executor_fn};

#[tokio::test]
async fn it_repeats_what_it_is_told() -> Result<(), Box<dyn std::error::Error>> {
    let echo = executor_fn(|cx, out| async move { Ok(out.reply(cx.message().text()).await?) });
    let agent = Agent::builder(echo).build()?;
    let client = Client::builder()
        .in_process(agent.into_service())
        .connect("http://agent")
        .await?;
    let mut reply = client.stream_text("hello").await?.into_texts();
    assert_eq!(reply.next().await.transpose()?.as_deref(), Some("hello"));
    assert!(reply.next().await.is_none());
    Ok(())
}
