use std::path::Path;

use super::ByoError;
use crate::config::{Config, Environment, RuntimeConfig};

/// Where the agent runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In one of kagent's clusters.
    Cluster,
    /// On a developer's machine.
    Local,
}

impl Place {
    /// Finds out by what kagent leaves for its agents (kagent contract 11.2).
    pub(super) fn find(
        environment: &Environment,
        config: &Config,
        forced_local: bool,
    ) -> Result<Self, ByoError> {
        if forced_local {
            return Ok(Self::Local);
        }
        if environment.var("KAGENT_URL").is_some() && config.runtime.is_none() {
            return Err(ByoError::Kagent0);
        }
        let told = environment.var("KAGENT_CONFIG_JSON").is_some() || config.runtime.is_some();
        if told || environment.exists(Path::new("/run/kagent")) {
            return Ok(Self::Cluster);
        }
        Ok(Self::Local)
    }
}

/// The port that kagent dials.
pub(super) fn port(environment: &Environment, runtime: &RuntimeConfig) -> Result<u16, ByoError> {
    if let Some(port) = runtime.port {
        return Ok(port);
    }
    for variable in ["KAGENT_PORT", "PORT"] {
        if let Some(port) = port_of(environment, variable)? {
            return Ok(port);
        }
    }
    Ok(80)
}

/// The port that a variable names, if it is set.
pub(super) fn port_of(
    environment: &Environment,
    variable: &'static str,
) -> Result<Option<u16>, ByoError> {
    let Some(value) = environment.var(variable) else {
        return Ok(None);
    };
    match value.parse() {
        Ok(port) if port > 0 => Ok(Some(port)),
        _ => Err(ByoError::Port { variable, value }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNTIME: &str = r#"{"runtime": {"name": "a", "namespace": "n", "control_plane_url": "http://c",
        "gateway_url": "http://g"}}"#;

    fn place(environment: &Environment) -> Result<Place, ByoError> {
        Place::find(environment, &Config::read(environment).unwrap(), false)
    }

    #[test]
    fn what_kagent_leaves_for_its_agents_makes_a_cluster() {
        let nothing = Environment::empty();
        assert_eq!(place(&nothing).unwrap(), Place::Local);
        let agent_file = nothing
            .clone()
            .with_file("/config/config.json", r#"{"agent": {}}"#);
        assert_eq!(place(&agent_file).unwrap(), Place::Local);

        let clusters = [
            nothing.clone().with_var("KAGENT_CONFIG_JSON", "{}"),
            nothing.clone().with_file("/config/config.json", RUNTIME),
            nothing
                .clone()
                .with_file("/run/kagent/identity/name", "session-x"),
        ];
        for environment in clusters {
            assert_eq!(place(&environment).unwrap(), Place::Cluster);
            let config = Config::read(&environment).unwrap();
            assert_eq!(
                Place::find(&environment, &config, true).unwrap(),
                Place::Local
            );
        }
    }

    #[test]
    fn a_controller_without_a_runtime_is_kagent_0() {
        let environment = Environment::empty().with_var("KAGENT_URL", "http://kagent:8083");
        let error = place(&environment).unwrap_err().to_string();
        assert!(
            error.contains("kagent 0.x") && error.contains("control_plane_url"),
            "{error}"
        );
        let with_runtime = environment.with_var("KAGENT_CONFIG_JSON", RUNTIME);
        assert_eq!(place(&with_runtime).unwrap(), Place::Cluster);
    }
}
