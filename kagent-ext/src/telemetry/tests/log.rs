use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use a2a_proto::Timestamp;
use opentelemetry::Context;
use opentelemetry::trace::{SpanBuilder, TraceContextExt as _};
use serde_json::Value;

use super::collector::{Collector, attributes, text};
use super::within;
use crate::config::Environment;
use crate::telemetry::{Telemetry, log};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the model is away")]
struct Away(#[source] io::Error);

#[tokio::test]
async fn a_log_is_lines_of_json_that_name_their_span() {
    within(async {
        let collector = Collector::start().await;
        let telemetry = Telemetry::new();
        let environment =
            Environment::empty().with_var("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
        telemetry.start(&environment, None, "agent").unwrap();
        let running = telemetry.running().unwrap();
        let lines = Lines::default();
        let out = Box::new(lines.clone());
        let subscriber = log::subscriber(running, out);
        let context = running.span(SpanBuilder::from_name("work"), &Context::new());
        let span = context.span().span_context().clone();
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(count = 3, ready = true, "outside\nof spans");
            tracing::debug!("too fine");
            // The first execution begins.
            running.records().unwrap().begin();
            let _inside = context.clone().attach();
            let away = Away(io::Error::other("refused"));
            let error: &(dyn std::error::Error + 'static) = &away;
            tracing::error!(error, msg = "not this", "the call failed");
            tracing::warn!(error = ?Away(io::Error::other("refused")), "again");
            tracing::warn!(target: "h2::codec", "of the export itself");
        });
        let written = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<Value> = written
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let [outside, failed, again, _] = &lines[..] else {
            panic!("{written}");
        };
        assert_eq!(outside["level"], "INFO");
        assert_eq!(outside["logger"], module_path!());
        assert_eq!(outside["msg"], "outside\nof spans");
        assert_eq!(
            (&outside["count"], &outside["ready"]),
            (&3.into(), &true.into())
        );
        assert_eq!(outside.get("trace_id"), None);
        outside["time"]
            .as_str()
            .unwrap()
            .parse::<Timestamp>()
            .unwrap();
        assert_eq!(failed["level"], "ERROR");
        assert_eq!(failed["msg"], "the call failed");
        assert_eq!(failed["trace_id"], span.trace_id().to_string());
        assert_eq!(failed["span_id"], span.span_id().to_string());
        assert_eq!(failed["trace_flags"], "01");
        assert_eq!(failed["exception.type"], "Away");
        let trace = failed["exception.stacktrace"].as_str().unwrap();
        assert!(
            trace.contains("the model is away") && trace.contains("refused"),
            "{trace}"
        );
        assert_eq!(again["exception.type"], "Away");

        telemetry.shut_down().await;
        let records = collector.logs();
        let said: Vec<_> = records
            .iter()
            .map(|record| text(record.body.as_ref()))
            .collect();
        assert_eq!(said, ["outside\nof spans", "the call failed", "again"]);
        assert_eq!(records[1].trace_id, span.trace_id().to_bytes());
        assert_eq!(records[1].severity_text, "ERROR");
        assert_eq!(attributes(&records[1].attributes)["exception.type"], "Away");
    })
    .await;
}

#[tokio::test]
async fn what_is_logged_before_the_first_execution_is_sent_with_it() {
    within(async {
        let collector = Collector::start().await;
        let telemetry = Telemetry::new();
        let environment =
            Environment::empty().with_var("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
        telemetry.start(&environment, None, "agent").unwrap();
        let running = telemetry.running().unwrap();
        let subscriber = log::subscriber(running, Box::new(io::sink()));
        tracing::subscriber::with_default(subscriber, || tracing::info!("listening"));
        running.flusher().flush().await;
        assert_eq!((collector.logs().len(), collector.connections()), (0, 0));
        running.records().unwrap().begin();
        running.flusher().flush().await;
        assert_eq!(text(collector.logs()[0].body.as_ref()), "listening");
    })
    .await;
}
