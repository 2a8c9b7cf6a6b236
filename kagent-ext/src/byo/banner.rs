use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Where the agent listens, and a line to try it.
pub(super) fn text(name: &str, agent: SocketAddr, readiness: &[SocketAddr]) -> String {
    let agent = reachable(agent);
    let mut text = format!(
        "{name} listens on {agent}\n  \
         JSON-RPC   http://{agent}/\n  \
         HTTP+JSON  http://{agent}\n  \
         gRPC       {agent}\n  \
         card       http://{agent}/.well-known/agent-card.json\n"
    );
    if let Some(readiness) = readiness.first() {
        let readiness = reachable(*readiness);
        text.push_str(&format!("  readiness  http://{readiness}/readyz\n"));
    }
    text.push_str("Try it:\n  ");
    text.push_str(&curl(agent));
    text.push('\n');
    text
}

/// Prints to standard output. Nobody who reads it is no reason to stop.
pub(super) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn curl(agent: SocketAddr) -> String {
    format!(
        "curl -s http://{agent}/ -H 'content-type: application/json' -H 'a2a-version: 1.0' -d \
         '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"SendMessage\",\"params\":{{\"message\":{{\"messageId\":\"m-1\",\
         \"role\":\"ROLE_USER\",\"parts\":[{{\"text\":\"hello\"}}]}}}}}}'"
    )
}

/// The address to dial for one that is listened on.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    address
}
