//! Events out of the body of an HTTP answer.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use a2a_proto::v1::StreamResponse;
use a2a_proto::wire;
use a2a_proto::wire::sse::{Decoder, Event, SseError};
use bytes::Bytes;
use futures_core::Stream;
use http_body::Body as _;
use reqwest::Body;

use super::http;
use crate::error::{Error, Kind, Result};

/// What a binding makes of a frame.
pub(super) trait Frames: Send + Unpin + 'static {
    /// Reads a frame that has data.
    fn read(&self, frame: Event<'_>) -> Result<StreamResponse>;
}

/// The events of a body, read as fast as they are asked for and no faster.
pub(super) struct SseStream<F> {
    body: Body,
    decoder: Decoder,
    chunk: Bytes,
    frames: F,
    over: bool,
}

impl<F: Frames> SseStream<F> {
    pub(super) fn new(body: Body, limit: usize, frames: F) -> Self {
        Self {
            body,
            decoder: Decoder::new(limit),
            chunk: Bytes::new(),
            frames,
            over: false,
        }
    }

    /// Reads what stands in the chunk at hand.
    fn take(&mut self) -> Result<Option<StreamResponse>> {
        while let Some(frame) = self.decoder.next(&mut self.chunk).map_err(sse_error)? {
            if let Some(frame) = with_data(frame) {
                return self.frames.read(frame).map(Some);
            }
        }
        Ok(None)
    }

    /// Reads what is left at the end of the body. A frame that is no whole JSON was cut with the connection.
    fn finish(&mut self) -> Result<Option<StreamResponse>> {
        match self
            .decoder
            .finish()
            .map_err(sse_error)?
            .and_then(with_data)
        {
            Some(frame) if wire::is_json(frame.data.as_bytes()) => {
                self.frames.read(frame).map(Some)
            }
            Some(_) => Err(Error::new(Kind::Transport)),
            None => Ok(None),
        }
    }

    fn end(
        &mut self,
        item: Option<Result<StreamResponse>>,
    ) -> Poll<Option<Result<StreamResponse>>> {
        self.over = true;
        Poll::Ready(item)
    }
}

impl<F: Frames> Stream for SseStream<F> {
    type Item = Result<StreamResponse>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while !self.over {
            match self.take() {
                Ok(Some(event)) => return Poll::Ready(Some(Ok(event))),
                Ok(None) => {}
                Err(error) => return self.end(Some(Err(error))),
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => self.chunk = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return self.end(Some(Err(http::body_error(error)))),
                None => {
                    let last = self.finish().transpose();
                    return self.end(last);
                }
            }
        }
        Poll::Ready(None)
    }
}

/// Frames without data keep a stream alive and say nothing.
fn with_data(frame: Event<'_>) -> Option<Event<'_>> {
    (!frame.data.is_empty()).then_some(frame)
}

fn sse_error(error: SseError) -> Error {
    Error::decode("the stream can't be read").with_source(error)
}
