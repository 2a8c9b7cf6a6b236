use a2a_server::{EventSink, executor_fn};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;

use super::collector::{Attributes, Collector, attributes};
use super::{Peer, within};

/// One call of `gpt-4o` and three of tools are counted, and nobody is named.
pub(super) fn assert_metrics(peer: &Peer) {
    let metrics = peer.collector.metrics();
    let expected = [
        ("gen_ai.client.inference.duration", "s", 1, None),
        (
            "gen_ai.client.inference.operation.input_tokens",
            "{token}",
            1,
            Some(300.0),
        ),
        (
            "gen_ai.client.inference.operation.output_tokens",
            "{token}",
            1,
            Some(100.0),
        ),
        (
            "gen_ai.client.inference.usage.cache_read.input_tokens",
            "{token}",
            1,
            Some(10.0),
        ),
        (
            "gen_ai.client.inference.usage.cache_write.input_tokens",
            "{token}",
            1,
            Some(5.0),
        ),
        (
            "gen_ai.client.inference.usage.input_tokens",
            "{token}",
            1,
            Some(300.0),
        ),
        (
            "gen_ai.client.inference.usage.output_tokens",
            "{token}",
            1,
            Some(100.0),
        ),
        (
            "gen_ai.client.inference.usage.reasoning.output_tokens",
            "{token}",
            1,
            Some(40.0),
        ),
        ("gen_ai.execute_tool.duration", "s", 3, None),
        ("gen_ai.invoke_agent.duration", "s", 1, None),
        (
            "gen_ai.invoke_agent.inference_calls",
            "{call}",
            1,
            Some(1.0),
        ),
        ("gen_ai.invoke_agent.tool_calls", "{call}", 1, Some(3.0)),
    ];
    let names: Vec<_> = metrics.keys().map(String::as_str).collect();
    assert_eq!(names, expected.map(|(name, ..)| name));
    for (name, unit, count, sum) in expected {
        let metric = &metrics[name];
        assert_eq!(metric.unit, unit, "{name}");
        let Some(Data::ExponentialHistogram(histogram)) = &metric.data else {
            panic!("{name} is no exponential histogram");
        };
        let points = &histogram.data_points;
        assert_eq!(
            points.iter().map(|point| point.count).sum::<u64>(),
            count,
            "{name}"
        );
        if let Some(sum) = sum {
            assert_eq!(
                points.iter().filter_map(|point| point.sum).sum::<f64>(),
                sum,
                "{name}"
            );
        }
        for point in points {
            assert_private(&attributes(&point.attributes), name);
        }
    }
    let resources = peer.collector.resources();
    assert!(resources.len() > 1);
    for resource in resources {
        assert_eq!(resource["service.name"], "my-agent");
        assert_eq!(resource["service.namespace"], "team-a");
        assert_eq!(resource["kagent.runtime"], "byo");
        assert_private(&resource, "the resource");
    }
}

fn assert_private(attributes: &Attributes, of: &str) {
    for name in ["a2a.task.id", "gen_ai.conversation.id", "enduser.id"] {
        assert!(!attributes.contains_key(name), "{of} says {name}");
    }
}

#[tokio::test]
async fn metrics_are_added_up_as_the_environment_says() {
    use opentelemetry_proto::tonic::metrics::v1::AggregationTemporality::{Cumulative, Delta};
    within(async {
        for (told, expected) in [("", Cumulative), ("DELTA", Delta)] {
            let echo = executor_fn(|_, out: EventSink| async move { Ok(out.reply("done").await?) });
            let collector = Collector::start().await;
            let peer = Peer::start_with(echo, collector, |environment, endpoint| {
                environment
                    .with_var("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
                    .with_var("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", told)
            })
            .await;
            peer.send("go").await;
            let metrics = peer.collector.metrics();
            let Some(Data::ExponentialHistogram(taken)) =
                &metrics["gen_ai.invoke_agent.duration"].data
            else {
                panic!("no exponential histogram");
            };
            assert_eq!(taken.aggregation_temporality(), expected);
        }
    })
    .await;
}
