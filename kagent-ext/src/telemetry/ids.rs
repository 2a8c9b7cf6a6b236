//! Ids from the system's randomness alone, and what each span of an invocation carries.

use std::time::Duration;

use opentelemetry::trace::{Span as _, SpanId, TraceId};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{IdGenerator, Span, SpanData, SpanProcessor};
use uuid::Uuid;

/// No generator with a state of its own: two processes restored from one snapshot would mint the same ids.
#[derive(Debug)]
pub(super) struct FreshIds;

impl IdGenerator for FreshIds {
    fn new_trace_id(&self) -> TraceId {
        TraceId::from_bytes((u128::from(random()) << 64 | u128::from(random())).to_be_bytes())
    }

    fn new_span_id(&self) -> SpanId {
        SpanId::from_bytes(random().to_be_bytes())
    }
}

/// The first 48 and the last 16 bits of a version 4 UUID: its fixed ones stand between them.
fn random() -> u64 {
    let id = Uuid::new_v4().as_u128();
    ((id >> 80) << 16 | (id & 0xffff)) as u64
}

/// Who talks about what, in the context of an invocation.
#[derive(Clone, Debug)]
pub(super) struct InvocationIds(pub(super) Vec<KeyValue>);

/// Gives each span within an invocation its ids, whoever makes it.
#[derive(Debug)]
pub(super) struct IdsOnSpans;

impl SpanProcessor for IdsOnSpans {
    fn on_start(&self, span: &mut Span, cx: &Context) {
        if let Some(InvocationIds(ids)) = cx.get() {
            span.set_attributes(ids.iter().cloned());
        }
    }

    fn on_end(&self, _span: SpanData) {}

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}
