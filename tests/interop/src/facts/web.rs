//! A few bytes of HTTP: one request a connection, everything as it is given.

use std::error::Error;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }

    /// The body, or null if it is none.
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The code of a JSON-RPC error.
    pub(super) fn code(&self) -> Option<i64> {
        self.json()["error"]["code"].as_i64()
    }

    /// What is worth a line of a report.
    pub(super) fn summary(&self) -> String {
        let body: String = self.body.chars().take(400).collect();
        let media_type = self.header("content-type");
        format!("{} {media_type} {body:?}", self.status)
    }
}

/// Sends a request to an address such as `http://127.0.0.1:80/rpc`.
pub(super) async fn send(
    verb: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<Answer, Box<dyn Error>> {
    let rest = url.strip_prefix("http://").ok_or("no http address")?;
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    let mut head = format!("{verb} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if verb != "GET" || !body.is_empty() {
        head.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    let mut stream = TcpStream::connect(host).await?;
    stream.write_all(head.as_bytes()).await?;
    // A server that refuses by the head alone may not read on.
    let _ = stream.write_all(body).await;
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes).await;
    if bytes.is_empty() {
        read?;
    }
    parse(&bytes).ok_or_else(|| format!("no HTTP: {:?}", String::from_utf8_lossy(&bytes)).into())
}

fn parse(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let (head, body) = bytes.split_at(end);
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let body = body.get(4..).unwrap_or_default();
    let chunked = headers
        .iter()
        .any(|(name, value)| name == "transfer-encoding" && value.eq_ignore_ascii_case("chunked"));
    let body = if chunked {
        unchunked(body)
    } else {
        body.to_vec()
    };
    Some(Answer {
        status,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|window| window == b"\r\n") {
        let (size, rest) = body.split_at(end);
        let size = std::str::from_utf8(size).unwrap_or_default();
        let size = size.split(';').next().unwrap_or_default().trim();
        let Ok(size) = usize::from_str_radix(size, 16) else {
            break;
        };
        let rest = rest.get(2..).unwrap_or_default();
        if size == 0 {
            break;
        }
        whole.extend_from_slice(rest.get(..size).unwrap_or(rest));
        body = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}
