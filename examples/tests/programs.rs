//! Runs every example as a user would.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// An example that serves, on a free port.
struct Agent {
    process: Child,
    url: String,
    curl: String,
}

impl Agent {
    async fn start(program: &str) -> Self {
        let mut process = Command::new(program)
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (mut url, mut curl) = (None, None);
        while curl.is_none() {
            let line = in_time(lines.next_line())
                .await
                .unwrap()
                .expect("the banner ends early");
            let line = line.trim();
            url = url.or_else(|| {
                line.strip_prefix("HTTP+JSON")
                    .map(|url| url.trim().to_owned())
            });
            curl = line.starts_with("curl ").then(|| line.to_owned());
        }
        Self {
            process,
            url: url.unwrap(),
            curl: curl.unwrap(),
        }
    }

    /// Asks the agent to stop, and gives its exit code.
    async fn stop(mut self, signal: &str) -> Option<i32> {
        let id = self.process.id().unwrap().to_string();
        run(Command::new("kill").args([signal, &id])).await;
        in_time(self.process.wait()).await.unwrap().code()
    }
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(10), work)
        .await
        .expect("took too long")
}

async fn run(command: &mut Command) -> Output {
    in_time(command.kill_on_drop(true).output()).await.unwrap()
}

async fn ask(agent: &Agent, arguments: &[&str]) -> String {
    let mut client = Command::new(env!("CARGO_BIN_EXE_hello_client"));
    let output = run(client.arg(&agent.url).args(arguments)).await;
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn hello_agent_answers_the_curl_line_that_it_prints() {
    let agent = Agent::start(env!("CARGO_BIN_EXE_hello_agent")).await;
    let output = run(Command::new("sh").args(["-c", &agent.curl])).await;
    let reply: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let task = &reply["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{reply}");
    assert_eq!(
        task["artifacts"][0]["parts"][0]["text"], "You said: hello",
        "{reply}"
    );
    assert_eq!(agent.stop("-TERM").await, Some(0));
}

#[tokio::test]
async fn hello_client_sends_a_text_and_a_file() {
    let agent = Agent::start(env!("CARGO_BIN_EXE_hello_agent")).await;
    assert_eq!(
        ask(&agent, &["good morning"]).await,
        "You said: good morning\n[TASK_STATE_COMPLETED] \n"
    );
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    assert_eq!(
        ask(&agent, &["look", "--file", file]).await,
        "You said: look\nYou sent: Cargo.toml\n[TASK_STATE_COMPLETED] \n",
    );
}

#[tokio::test]
async fn hello_client_says_how_it_is_called() {
    let output = run(&mut Command::new(env!("CARGO_BIN_EXE_hello_client"))).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("usage: hello_client URL TEXT"),
        "{output:?}"
    );
}

#[tokio::test]
async fn an_agent_that_can_not_start_says_why_and_what_to_do() {
    let refusals = [
        ("KAGENT_CONFIG_JSON", "{}", "call `byo::run_local`"),
        (
            "KAGENT_CONFIG_JSON",
            "{",
            "KAGENT_CONFIG_JSON can't be parsed",
        ),
        ("KAGENT_URL", "http://kagent:8083", "is kagent 0.x"),
    ];
    for (variable, value, text) in refusals {
        let mut agent = Command::new(env!("CARGO_BIN_EXE_hello_agent"));
        let output = run(agent.args(["--port", "0"]).env(variable, value)).await;
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.starts_with("Error: ") && told.contains(text), "{told}");
        assert!(output.stdout.is_empty());
    }
}

#[tokio::test]
async fn hitl_agent_asks_hello_client_before_it_deletes() {
    let agent = Agent::start(env!("CARGO_BIN_EXE_hitl_agent")).await;
    assert_eq!(
        ask(&agent, &["a.txt b.txt"]).await,
        "\n[TASK_STATE_INPUT_REQUIRED] Gone is gone. (delete_file, delete_file)\n",
    );
    assert_eq!(agent.stop("-INT").await, Some(0));
}

#[tokio::test]
async fn quickstart_shows_everything_over_each_binding() {
    let output = run(&mut Command::new(env!("CARGO_BIN_EXE_quickstart"))).await;
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8(output.stdout).unwrap();
    for binding in ["JSONRPC", "HTTP+JSON", "GRPC"] {
        assert!(
            shown.contains(&format!(
                "== operator (Asks before it acts) over {binding} at "
            )),
            "{shown}"
        );
    }
    let lines = [
        "< A pod is the smallest thing that a cluster runs.",
        "< Approval is required for tool(s): restart_pod, delete_volume",
        "> Approved 1 of 2",
        "  artifact: call of delete_volume",
        "  artifact: result of delete_volume",
        "  artifact: restart_pod: done. delete_volume: Tool call was rejected by user. Reason: it holds the backups",
        "  TASK_STATE_COMPLETED, 6 tokens read, 14 written",
        "< To which cluster?",
        "> staging",
        "  artifact: Deployed to staging.",
        "< You said: What is a pod? | Clean up. | Approved 1 of 2 | Deploy. | staging",
    ];
    for line in lines {
        assert_eq!(
            shown.lines().filter(|shown| *shown == line).count(),
            3,
            "{line}\n{shown}"
        );
    }
}
