//! What can be seen of an agent without a message.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use a2a_client::Client;
use a2a_proto::ErrorCode;
use a2a_proto::v1::GetTaskRequest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::process::Patient;
use super::{Check, Report, brief};

pub(super) const LOCALHOSTS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

pub(super) async fn readiness(patient: &Patient, report: &mut Report) {
    let checks = [Check::ReadinessOnV4, Check::ReadinessOnV6];
    if !is_local(&patient.host) {
        for check in checks {
            report.skip(
                check,
                "the agent is on another machine, which may have one family only",
            );
        }
        return;
    }
    let has_v6 = std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    let answers = ready_on(LOCALHOSTS, patient.readiness_port).await;
    for (check, answer) in checks.into_iter().zip(answers) {
        match answer {
            Ok(()) => report.pass(check),
            Err(_) if check == Check::ReadinessOnV6 && !has_v6 => {
                report.skip(check, "this machine has no IPv6");
            }
            Err(error) => {
                report.fail(check, format!("port {}: {error}", patient.readiness_port));
            }
        }
    }
}

fn is_local(host: &str) -> bool {
    host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

pub(super) async fn ready_on(hosts: [IpAddr; 2], port: u16) -> [io::Result<()>; 2] {
    let [v4, v6] = hosts.map(|host| ready(SocketAddr::new(host, port)));
    let (v4, v6) = tokio::join!(v4, v6);
    [v4, v6]
}

async fn ready(address: SocketAddr) -> io::Result<()> {
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        let request = "GET /readyz HTTP/1.1\r\nhost: agent\r\nconnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await?;
        let mut head = [0; 12];
        stream.read_exact(&mut head).await?;
        io::Result::Ok(String::from_utf8_lossy(&head).into_owned())
    };
    let head = match tokio::time::timeout(LIMIT, ask).await {
        Ok(answer) => answer?,
        Err(_) => return Err(io::Error::from(io::ErrorKind::TimedOut)),
    };
    match head.ends_with(" 200") {
        true => Ok(()),
        false => Err(io::Error::other(format!("it answers `{head}`"))),
    }
}

/// Whether gRPC answers where kagent dials.
pub(super) async fn reach(patient: &mut Patient, report: &mut Report) -> bool {
    let answer = get_task(patient, "no-such-task").await;
    // Whatever it says, it says it in the protocol.
    let reached = answer
        .as_ref()
        .is_err_and(|error| error.protocol().is_some())
        || answer.is_ok();
    report.tell(Check::Reachable, reached, || match answer {
        Ok(()) => String::new(),
        Err(error) => brief(&error),
    });
    reached
}

pub(super) async fn health(patient: &Patient, report: &mut Report) {
    let ask = async {
        let endpoint =
            Endpoint::try_from(patient.url.clone()).map_err(|error| error.to_string())?;
        let mut client = HealthClient::new(endpoint.connect_lazy());
        let request = HealthCheckRequest {
            service: "lf.a2a.v1.A2AService".to_owned(),
        };
        let answer = client
            .check(request)
            .await
            .map_err(|status| format!("{:?}", status.code()))?;
        match answer.into_inner().status() {
            ServingStatus::Serving => Ok(()),
            other => Err(other.as_str_name().to_owned()),
        }
    };
    match tokio::time::timeout(LIMIT, ask).await {
        Ok(Ok(())) => report.pass(Check::Health),
        Ok(Err(seen)) => report.fail(Check::Health, seen),
        Err(_) => report.fail(Check::Health, "no answer"),
    }
}

/// A long id is as good as a long message, and nobody works on it.
pub(super) async fn large_message(patient: &Patient, report: &mut Report) {
    let answer = get_task(patient, &"x".repeat(LARGE)).await;
    let code = answer.as_ref().err().and_then(a2a_client::Error::code);
    let taken = match code {
        Some(code) => matches!(
            code,
            ErrorCode::TaskNotFound | ErrorCode::InvalidParams | ErrorCode::InvalidRequest
        ),
        None => answer.is_ok(),
    };
    report.tell(Check::LargeMessages, taken, || match &answer {
        Ok(()) => String::new(),
        Err(error) => brief(error),
    });
}

async fn get_task(patient: &Patient, id: &str) -> Result<(), a2a_client::Error> {
    let client = patient
        .client(Client::builder().timeout(LIMIT))
        .map_err(a2a_client::Error::other)?;
    client.get_task(GetTaskRequest::from(id)).await.map(drop)
}

const LIMIT: Duration = Duration::from_secs(10);
const LARGE: usize = 5 << 20;
