use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use a2a_client::Client;
use a2a_proto::v1::{Message, Part, TaskState};
use a2a_proto::{Binding, ErrorCode};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use super::{agent, installed};
use crate::harness::*;

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];

/// nginx in front of an agent, buffering as it does by default; one process, which ends with this.
struct Nginx {
    http: SocketAddr,
    grpc: SocketAddr,
    folder: PathBuf,
    _process: Child,
}

impl Nginx {
    /// Starts in front of the agent at that address; `None` where nginx is not installed.
    async fn start(agent: SocketAddr) -> Option<Self> {
        let program = installed("nginx")?;
        let (http, grpc) = (free_address(), free_address());
        let folder = std::env::temp_dir().join(format!("a2a-nginx-{}", http.port()));
        std::fs::create_dir_all(&folder).unwrap();
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {}/{name};", folder.display()))
            .join("\n");
        let configuration = format!(
            "daemon off; master_process off; pid {folder}/pid; error_log stderr; worker_processes 1;
             events {{}}
             http {{
               access_log off; {temporary}
               server {{
                 listen {http};
                 location / {{ proxy_pass http://{agent}; proxy_http_version 1.1; }}
                 location = /agents/echo {{ proxy_pass http://{agent}/; proxy_http_version 1.1; }}
                 location /agents/echo/ {{ proxy_pass http://{agent}/; proxy_http_version 1.1; }}
               }}
               server {{
                 listen {grpc} http2;
                 location / {{ grpc_pass grpc://{agent}; }}
               }}
             }}",
            folder = folder.display(),
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, configuration).unwrap();
        let mut process = Command::new(program)
            .arg("-p")
            .arg(&folder)
            .arg("-c")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.join("log")).unwrap())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        for address in [http, grpc] {
            // A foreign process gives no other signal.
            while TcpStream::connect(address).await.is_err() {
                let ended = process.try_wait().unwrap();
                let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
                assert!(ended.is_none(), "nginx ended: {}", log());
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Some(Self {
            http,
            grpc,
            folder,
            _process: process,
        })
    }

    fn client(&self, binding: Binding) -> Client {
        let url = match binding {
            Binding::Grpc => self.grpc.to_string(),
            Binding::JsonRpc | Binding::HttpJson => format!("http://{}", self.http),
        };
        Client::builder().from_endpoint(binding, url).unwrap()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// An address that nothing listens on.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

#[tokio::test]
async fn streams_pass_nginx_as_they_are_produced() {
    within(async {
        let go = Arc::new(Semaphore::new(0));
        let server = agent(&go).bind("127.0.0.1:0").await.unwrap();
        let Some(nginx) = Nginx::start(server.local_addr()).await else {
            return;
        };
        for binding in BINDINGS {
            let client = nginx.client(binding);
            let mut events = client.stream_text("slow").await.unwrap();
            while events.next().await.unwrap().unwrap().state() != Some(TaskState::Working) {}
            // Only now may the agent say the rest.
            go.add_permits(1);
            let mut last = None;
            while let Some(event) = events.next().await {
                last = event.unwrap().state().or(last);
            }
            assert_eq!(last, Some(TaskState::Completed), "{binding}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_leaves_behind_nginx_does_not_end_the_task() {
    within(async {
        let go = Arc::new(Semaphore::new(0));
        let server = agent(&go).bind("127.0.0.1:0").await.unwrap();
        let Some(nginx) = Nginx::start(server.local_addr()).await else {
            return;
        };
        for binding in BINDINGS {
            let client = nginx.client(binding);
            let mut events = client.stream_text("slow").await.unwrap();
            let id = first_task(events.next().await.unwrap().unwrap()).id;
            drop(events);
            let mut joined = client.subscribe_to_task(id.as_str()).await.unwrap();
            joined.next().await.unwrap().unwrap();
            go.add_permits(1);
            while let Some(event) = joined.next().await {
                event.unwrap();
            }
            let task = client.get_task(id.as_str()).await.unwrap();
            assert_state(&task, TaskState::Completed);
            assert_eq!(task.artifact_text(), "second", "{binding}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_nginx_itself_refuses_is_a_typed_error() {
    within(async {
        let go = Arc::new(Semaphore::new(0));
        let server = agent(&go).bind("127.0.0.1:0").await.unwrap();
        let Some(nginx) = Nginx::start(server.local_addr()).await else {
            return;
        };
        // nginx takes bodies of 1 MiB by default and answers with a page of HTML.
        let large = || Message {
            parts: vec![Part::text("x".repeat(5 * 1024 * 1024))],
            ..Message::user("")
        };
        for binding in [Binding::JsonRpc, Binding::HttpJson] {
            let client = nginx.client(binding);
            let error = client.send_message(large()).await.unwrap_err();
            let status = error.http_status().map(|status| status.as_u16());
            assert_eq!(status, Some(413), "{binding}: {error:?}");
            assert_eq!(error.code(), Some(ErrorCode::ResourceExhausted));
            assert!(error.protocol().is_none() && !error.is_retryable());
        }
        // In front of gRPC the answer is a reset of the stream, or a status of nginx's that says nothing of tasks.
        let error = nginx.client(Binding::Grpc).send_message(large()).await;
        let error = error.unwrap_err();
        assert!(!error.is_retryable(), "{error:?}");
        assert_ne!(error.code(), Some(ErrorCode::TaskNotFound), "{error:?}");

        server.shutdown().await;
        for binding in BINDINGS {
            let error = nginx.client(binding).get_task("t1").await.unwrap_err();
            let status = error.http_status().map(|status| status.as_u16());
            assert_eq!(status, Some(502), "{binding}: {error:?}");
            assert!(error.protocol().is_none(), "{binding}: {error:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_card_leads_through_nginx_under_a_prefix() {
    within(async {
        // The public URL has to be known before the agent is bound, and so the address of nginx before that.
        let go = Arc::new(Semaphore::new(0));
        let listening = free_address();
        let Some(nginx) = Nginx::start(listening).await else {
            return;
        };
        let public = format!("http://{}/agents/echo", nginx.http);
        let builder = agent(&go).bindings([Binding::JsonRpc, Binding::HttpJson]);
        let _server = builder.public_url(&public).bind(listening).await.unwrap();
        for binding in [Binding::JsonRpc, Binding::HttpJson] {
            let builder = Client::builder().prefer([binding]);
            let client = builder.connect(&public).await.unwrap();
            assert!(client.interface().url.starts_with(&public), "{binding}");
            let task = client
                .send_text("hello")
                .await
                .unwrap()
                .into_task()
                .unwrap();
            assert_eq!(task.artifact_text(), "hello", "{binding}");
        }
    })
    .await;
}
