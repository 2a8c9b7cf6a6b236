//! Checks that each crate builds with each of its features alone, and without any.

use std::error::Error;
use std::process::Command;

use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Checks every library of the workspace that is published.
pub fn check() -> Result<()> {
    for package in published()? {
        check_with(&package.name, None)?;
        for feature in &package.features {
            check_with(&package.name, Some(feature))?;
        }
    }
    Ok(())
}

struct Package {
    name: String,
    features: Vec<String>,
}

fn published() -> Result<Vec<Package>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let libraries = packages.filter(|package| package["publish"].is_null());
    Ok(libraries.filter_map(package).collect())
}

fn package(metadata: &Value) -> Option<Package> {
    let features = metadata["features"].as_object()?.keys();
    Some(Package {
        name: metadata["name"].as_str()?.to_owned(),
        features: features
            .filter(|name| *name != "default")
            .cloned()
            .collect(),
    })
}

fn check_with(package: &str, feature: Option<&str>) -> Result<()> {
    let shown = feature.unwrap_or("no feature");
    println!("{package}: {shown}");
    let mut command = Command::new(env!("CARGO"));
    command.args([
        "clippy",
        "--quiet",
        "--package",
        package,
        "--no-default-features",
    ]);
    command.args(feature.map(|feature| format!("--features={feature}")));
    command.args(["--", "-D", "warnings"]);
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{package} does not build with {shown}").into())
    }
}
