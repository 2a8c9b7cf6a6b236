//! The instruments (kagent contract 8). None of them is told who talks about what.

use std::time::Duration;

use opentelemetry::metrics::{Histogram, Meter};
use opentelemetry::{KeyValue, StringValue};
use opentelemetry_sdk::metrics::{Aggregation, Instrument, InstrumentKind, Stream};

use super::ErrorType;
use super::attribute::{AGENT_NAME, ERROR_TYPE, REQUEST_MODEL, TOOL_NAME};
use super::calls::ModelUsage;

pub(super) struct Instruments {
    agent: StringValue,
    invocation: Histogram<f64>,
    inference_calls: Histogram<u64>,
    tool_calls: Histogram<u64>,
    tool: Histogram<f64>,
    inference: Histogram<f64>,
    operation_input: Histogram<u64>,
    operation_output: Histogram<u64>,
    usage: Usage,
}

/// The tokens by kind.
struct Usage {
    input: Histogram<u64>,
    output: Histogram<u64>,
    cache_read: Histogram<u64>,
    cache_write: Histogram<u64>,
    reasoning: Histogram<u64>,
}

impl Instruments {
    pub(super) fn new(meter: &Meter, agent: &str) -> Self {
        let seconds = |name: &'static str| meter.f64_histogram(name).with_unit("s").build();
        let count = |name: &'static str, unit: &'static str| {
            meter.u64_histogram(name).with_unit(unit).build()
        };
        let tokens = |name| count(name, "{token}");
        Self {
            agent: agent.to_owned().into(),
            invocation: seconds("gen_ai.invoke_agent.duration"),
            inference_calls: count("gen_ai.invoke_agent.inference_calls", "{call}"),
            tool_calls: count("gen_ai.invoke_agent.tool_calls", "{call}"),
            tool: seconds("gen_ai.execute_tool.duration"),
            inference: seconds("gen_ai.client.inference.duration"),
            operation_input: tokens("gen_ai.client.inference.operation.input_tokens"),
            operation_output: tokens("gen_ai.client.inference.operation.output_tokens"),
            usage: Usage {
                input: tokens("gen_ai.client.inference.usage.input_tokens"),
                output: tokens("gen_ai.client.inference.usage.output_tokens"),
                cache_read: tokens("gen_ai.client.inference.usage.cache_read.input_tokens"),
                cache_write: tokens("gen_ai.client.inference.usage.cache_write.input_tokens"),
                reasoning: tokens("gen_ai.client.inference.usage.reasoning.output_tokens"),
            },
        }
    }

    pub(super) fn invocation(
        &self,
        took: Duration,
        error: Option<ErrorType>,
        inference_calls: u64,
        tool_calls: u64,
    ) {
        let agent = [KeyValue::new(AGENT_NAME, self.agent.clone())];
        self.inference_calls.record(inference_calls, &agent);
        self.tool_calls.record(tool_calls, &agent);
        let error = error.map(ErrorType::as_str);
        self.invocation
            .record(took.as_secs_f64(), &failed(agent, error));
    }

    pub(super) fn tool(&self, took: Duration, tool: &str, error: Option<&'static str>) {
        let tool = [KeyValue::new(TOOL_NAME, tool.to_owned())];
        self.tool.record(took.as_secs_f64(), &failed(tool, error));
    }

    pub(super) fn inference(&self, took: Duration, model: &str, error: Option<&'static str>) {
        let model = [KeyValue::new(REQUEST_MODEL, model.to_owned())];
        self.inference
            .record(took.as_secs_f64(), &failed(model, error));
    }

    pub(super) fn tokens(&self, model: &str, usage: &ModelUsage) {
        let model = [KeyValue::new(REQUEST_MODEL, model.to_owned())];
        let record = |histogram: &Histogram<u64>, count: Option<u64>| {
            if let Some(count) = count {
                histogram.record(count, &model);
            }
        };
        record(&self.operation_input, usage.input);
        record(&self.operation_output, usage.output);
        record(&self.usage.input, usage.input);
        record(&self.usage.output, usage.output);
        record(&self.usage.cache_read, usage.cache_read);
        record(&self.usage.cache_write, usage.cache_write);
        record(&self.usage.reasoning, usage.reasoning);
    }
}

/// Buckets that fit milliseconds and hours alike.
pub(super) fn exponential(instrument: &Instrument) -> Option<Stream> {
    if instrument.kind() != InstrumentKind::Histogram {
        return None;
    }
    let aggregation = Aggregation::Base2ExponentialHistogram {
        max_size: 160,
        max_scale: 20,
        record_min_max: true,
    };
    Stream::builder().with_aggregation(aggregation).build().ok()
}

fn failed<const N: usize>(attributes: [KeyValue; N], error: Option<&'static str>) -> Vec<KeyValue> {
    let mut attributes = Vec::from(attributes);
    attributes.extend(error.map(|error| KeyValue::new(ERROR_TYPE, error)));
    attributes
}
