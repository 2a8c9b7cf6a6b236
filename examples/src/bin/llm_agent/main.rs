//! An agent that kagent configures: prompt, model, MCP tools and approvals come from `KAGENT_CONFIG_JSON`.
//!
//! `KAGENT_CONFIG_JSON='{"agent": {"instruction": "Be brief.", "model": {"model": "gpt-4o", "api_key": "…"}}}' \
//!    cargo run -p examples --bin llm_agent`

mod agent;
mod model;
mod tools;

use std::error::Error;

use kagent_ext::byo::Byo;
use kagent_ext::config::{AgentConfig, Config, Environment};

fn main() -> Result<(), Box<dyn Error>> {
    let environment = Environment::process();
    let config = Config::read(&environment)?.agent.unwrap_or_default();
    Ok(byo(&environment, config).run()?)
}

pub(crate) fn byo(environment: &Environment, config: AgentConfig) -> Byo {
    // Whoever set one up before has chosen.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Byo::new(agent::LlmAgent::new(environment, config))
}
