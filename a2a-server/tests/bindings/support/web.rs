//! An HTTP client of a few lines: HTTP/1.0, so that a body ends where the connection does.

use std::net::SocketAddr;

use a2a_proto::wire::sse::Decoder;
use bytes::Bytes;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

#[derive(Clone, Copy)]
pub struct Web(pub SocketAddr);

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

#[derive(Clone, Debug)]
pub struct Frame {
    pub name: String,
    pub data: String,
}

/// A response whose body is still coming.
pub struct Open {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
}

impl Web {
    /// Posts JSON.
    pub async fn post(
        self,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Response {
        self.send("POST", path, headers, Some(body.as_ref())).await
    }

    pub async fn get(self, path: &str, headers: &[(&str, &str)]) -> Response {
        self.send("GET", path, headers, None).await
    }

    /// A body is sent as JSON, unless the headers say otherwise.
    pub async fn send(
        self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Response {
        self.open(verb, path, headers, body).await.read().await
    }

    /// Posts a body whose length is not known before its end.
    pub async fn post_chunked(self, path: &str, body: &[u8]) -> Response {
        let headers = [("a2a-version", "1.0"), ("transfer-encoding", "chunked")];
        let mut stream = self.begin_1_1(path, &headers).await;
        let size = format!("{:x}\r\n", body.len());
        for piece in [size.as_bytes(), body, b"\r\n0\r\n\r\n"] {
            stream.write_all(piece).await.unwrap();
        }
        Open::read_head(stream).await.read().await
    }

    /// Sends the head of a request of HTTP/1.1 and nothing else.
    pub async fn post_1_1(self, path: &str, headers: &[(&str, &str)]) -> Response {
        let stream = self.begin_1_1(path, headers).await;
        Open::read_head(stream).await.read().await
    }

    async fn begin_1_1(self, path: &str, headers: &[(&str, &str)]) -> TcpStream {
        let mut head = format!("POST {path} HTTP/1.1\r\nhost: {}\r\n", self.0);
        let fixed = [
            ("connection", "close"),
            ("content-type", "application/json"),
        ];
        for (name, value) in headers.iter().chain(&fixed) {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        let mut stream = TcpStream::connect(self.0).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    pub async fn open(
        self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Open {
        let mut head = format!("{verb} {path} HTTP/1.0\r\nhost: {}\r\n", self.0);
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let says = |wanted: &str| headers.iter().any(|(name, _)| *name == wanted);
        if let Some(body) = body {
            if !says("content-type") {
                head += "content-type: application/json\r\n";
            }
            if !says("content-length") {
                head += &format!("content-length: {}\r\n", body.len());
            }
        }
        head += "\r\n";
        let mut stream = TcpStream::connect(self.0).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        // A server that refuses by the head alone may not read on.
        let _ = stream.write_all(body.unwrap_or_default()).await;
        Open::read_head(stream).await
    }
}

impl Open {
    async fn read_head(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let status_line = line(&mut reader).await;
        let status = status_line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let header = line(&mut reader).await;
            let Some((name, value)) = header.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Self {
            status,
            headers,
            reader,
        }
    }

    /// The next line of the body; empty at its end.
    pub async fn line(&mut self) -> String {
        line(&mut self.reader).await
    }

    /// The data of the next event.
    pub async fn event(&mut self) -> String {
        loop {
            if let Some(data) = self.line().await.strip_prefix("data:") {
                return data.trim().to_owned();
            }
        }
    }

    /// Reads to the end, or to where the connection broke.
    pub async fn read(mut self) -> Response {
        let mut body = Vec::new();
        let _ = self.reader.read_to_end(&mut body).await;
        Response {
            status: self.status,
            headers: self.headers,
            body: body.into(),
        }
    }
}

async fn line(reader: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).await.unwrap();
    line.trim_end_matches(['\r', '\n']).to_owned()
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        values.next().map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn is_event_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The events of a stream.
    pub fn frames(&self) -> Vec<Frame> {
        let mut decoder = Decoder::new(usize::MAX);
        let mut chunk = self.body.clone();
        let mut frames = Vec::new();
        while let Some(event) = decoder.next(&mut chunk).unwrap() {
            frames.push(Frame {
                name: event.name.to_owned(),
                data: event.data.to_owned(),
            });
        }
        frames
    }
}
