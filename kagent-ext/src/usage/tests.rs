use a2a_proto::Struct;
use a2a_proto::v1::Task;
use serde_json::{Value, json};

use super::*;

fn task(usage: Value) -> Task {
    let mut task = Task::submitted("t", "c");
    task.metadata = Some(Struct::try_from(json!({uri::USAGE: usage})).unwrap());
    task
}

#[test]
fn the_payload_of_the_contract_is_read_and_written_unchanged() {
    let payload = json!({
        "inputTokens": 1300, "outputTokens": 210, "reasoningTokens": 40, "cachedInputTokens": 800, "totalTokens": 1550,
        "models": [
            {"model": "claude-sonnet-4", "inputTokens": 300, "outputTokens": 60, "reasoningTokens": 0,
                "cachedInputTokens": 0, "totalTokens": 360},
            {"model": "gpt-4o-2024-11-20", "inputTokens": 1000, "outputTokens": 150, "reasoningTokens": 40,
                "cachedInputTokens": 800, "totalTokens": 1190},
        ],
    });
    let usage = Usage::of(&task(payload.clone())).unwrap();
    let mut metadata = Struct::new();
    usage.write_to(&mut metadata);
    assert_eq!(metadata[uri::USAGE], payload);
}

#[test]
fn all_five_counts_are_written_and_no_usage_is_no_key() {
    let mut metadata = Struct::new();
    Usage::default().write_to(&mut metadata);
    assert!(metadata.is_empty());

    let mut usage = Usage::default();
    usage.add("", TokenCounts::new(3, 0));
    usage.write_to(&mut metadata);
    assert_eq!(
        metadata[uri::USAGE],
        json!({"inputTokens": 3, "outputTokens": 0, "reasoningTokens": 0, "cachedInputTokens": 0, "totalTokens": 0}),
    );
}

#[test]
fn a_count_may_come_back_as_a_float_and_anything_else_is_none() {
    let usage = Usage::of(&task(json!({
        "inputTokens": 12.0, "outputTokens": true, "reasoningTokens": "5", "cachedInputTokens": -3, "totalTokens": 1.9e3,
        "models": [{"model": ""}, {"inputTokens": 1}, "x", {"model": "m", "outputTokens": 2.7}],
    })));
    let usage = usage.unwrap();
    let counts = usage.total();
    assert_eq!((counts.input, counts.output, counts.reasoning), (12, 0, 0));
    assert_eq!((counts.cached_input, counts.total), (0, 1_900));
    assert_eq!(
        usage.models().collect::<Vec<_>>(),
        [("m", TokenCounts::new(0, 2))]
    );
    assert_eq!(Usage::of(&task(json!("none"))), None);
}

#[test]
fn models_are_sorted_by_the_bytes_of_their_names() {
    let mut usage = Usage::default();
    for model in ["b", "ä", "Z", "a"] {
        usage.add(model, TokenCounts::new(1, 1));
    }
    let models: Vec<&str> = usage.models().map(|(model, _)| model).collect();
    assert_eq!(models, ["Z", "a", "b", "ä"]);
}

#[test]
fn a_meter_derives_each_missing_total_and_counts_a_call_once() {
    let meter = UsageMeter::default();
    meter.record("1", "m", TokenCounts::new(100, 10).with_reasoning(5));
    meter.record("2", "m", TokenCounts::new(100, 10).with_total(200));
    meter
        .clone()
        .record("2", "m", TokenCounts::new(100, 10).with_total(200));
    meter.record("", "", TokenCounts::new(1, 1));
    meter.record("", "", TokenCounts::new(1, 1));
    let usage = meter.usage();
    assert_eq!(
        usage.total(),
        TokenCounts::new(202, 22).with_reasoning(5).with_total(319)
    );
    assert_eq!(
        usage.models().collect::<Vec<_>>(),
        [(
            "m",
            TokenCounts::new(200, 20).with_reasoning(5).with_total(315)
        )],
    );
}

#[test]
fn a_meter_goes_on_from_the_stored_task() {
    let stored = task(
        json!({"inputTokens": 10.0, "totalTokens": 10.0, "models": [{"model": "m", "inputTokens": 10}]}),
    );
    let meter = UsageMeter::seeded(Some(&stored));
    meter.record("1", "m", TokenCounts::new(1, 1));
    let usage = meter.usage();
    assert_eq!(usage.total(), TokenCounts::new(11, 1).with_total(12));
    assert_eq!(
        usage.models().next(),
        Some(("m", TokenCounts::new(11, 1).with_total(2)))
    );
    assert!(UsageMeter::seeded(None).usage().is_zero());
}

#[test]
fn counts_saturate() {
    let mut usage = Usage::default();
    usage.add("m", TokenCounts::new(u64::MAX, 1).with_derived_total());
    usage.add("m", TokenCounts::new(u64::MAX, 1).with_derived_total());
    assert_eq!(
        usage.total(),
        TokenCounts::new(u64::MAX, 2).with_total(u64::MAX)
    );
}

#[test]
fn usage_objects_of_openai_are_read() {
    let chat = json!({
        "prompt_tokens": 1000, "completion_tokens": 190, "total_tokens": 1190,
        "prompt_tokens_details": {"cached_tokens": 800}, "completion_tokens_details": {"reasoning_tokens": 40},
    });
    let counts = TokenCounts::new(1000, 150)
        .with_reasoning(40)
        .with_cached_input(800)
        .with_total(1190);
    assert_eq!(TokenCounts::from_openai(&chat), counts);
    let responses = json!({
        "input_tokens": 1000, "output_tokens": 190, "total_tokens": 1190,
        "input_tokens_details": {"cached_tokens": 800}, "output_tokens_details": {"reasoning_tokens": 40},
    });
    assert_eq!(TokenCounts::from_openai(&responses), counts);
    let compatible =
        json!({"prompt_tokens": 3, "completion_tokens": 4, "prompt_tokens_details": null});
    assert_eq!(
        TokenCounts::from_openai(&compatible),
        TokenCounts::new(3, 4)
    );
    assert_eq!(
        TokenCounts::from_openai(&Value::Null),
        TokenCounts::default()
    );
}

#[test]
fn usage_objects_of_anthropic_are_read() {
    let usage = json!({
        "input_tokens": 20, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 200, "output_tokens": 60,
    });
    assert_eq!(
        TokenCounts::from_anthropic(&usage),
        TokenCounts::new(320, 60).with_cached_input(200)
    );
    let plain = json!({"input_tokens": 20, "cache_read_input_tokens": null, "output_tokens": 60});
    assert_eq!(
        TokenCounts::from_anthropic(&plain),
        TokenCounts::new(20, 60)
    );
}

#[test]
fn usage_objects_of_gemini_are_read() {
    let usage = json!({
        "promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 7, "cachedContentTokenCount": 50,
        "totalTokenCount": 127,
    });
    let counts = TokenCounts::new(100, 20)
        .with_reasoning(7)
        .with_cached_input(50)
        .with_total(127);
    assert_eq!(TokenCounts::from_gemini(&usage), counts);
    let snake = json!({"prompt_token_count": 100, "candidates_token_count": 20});
    assert_eq!(TokenCounts::from_gemini(&snake), TokenCounts::new(100, 20));
}
