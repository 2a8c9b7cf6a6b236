//! Finds the toolchain of a peer and builds it under `target/interop`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Result;
use super::peer::Peer;

/// A peer that can be started.
pub struct Prepared {
    pub peer: Peer,
    pub agent: Vec<PathBuf>,
    pub client: Vec<PathBuf>,
}

pub enum Preparation {
    Ready(Prepared),
    /// What this machine lacks.
    Missing(&'static str),
}

/// Where everything goes that is built for the peers.
pub fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| crate::workspace_root().join("target"));
    target.join("interop")
}

pub fn prepare(peer: Peer) -> Result<Preparation> {
    let source = crate::workspace_root()
        .join("tests/interop")
        .join(peer.name());
    let place = target().join(peer.name());
    fs::create_dir_all(&place)?;
    match peer {
        Peer::Rust => rust(&place),
        Peer::Python => python(&source, &place),
        Peer::Js => js(&source, &place),
        Peer::Go => go(&source, &place),
    }
}

fn rust(place: &Path) -> Result<Preparation> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args([
        "build",
        "--quiet",
        "--package",
        "a2a-interop",
        "--target-dir",
    ]);
    let target = place.ancestors().nth(2).unwrap_or(place);
    succeed(build.arg(target).current_dir(crate::workspace_root()))?;
    let binary = target.join("debug").join("a2a-interop");
    Ok(Preparation::Ready(Prepared {
        peer: Peer::Rust,
        agent: vec![binary.clone(), "agent".into()],
        client: vec![binary, "client".into()],
    }))
}

/// A Python that can make environments.
pub fn python_with_venv() -> Option<&'static str> {
    const NEEDED: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    let names = [
        "python3",
        "python3.13",
        "python3.12",
        "python3.11",
        "python3.10",
    ];
    names
        .into_iter()
        .find(|name| works(Command::new(name).args(["-c", NEEDED])))
}

fn python(source: &Path, place: &Path) -> Result<Preparation> {
    let Some(python) = python_with_venv() else {
        return Ok(Preparation::Missing("python3 3.10 or newer with venv"));
    };
    let own = place.join("venv/bin/python");
    once(place, &source.join("requirements.txt"), || {
        let venv = place.join("venv");
        succeed(
            Command::new(python)
                .args(["-m", "venv", "--clear"])
                .arg(venv),
        )?;
        let mut install = Command::new(&own);
        install.args(["-m", "pip", "install", "--quiet", "--requirement"]);
        succeed(install.arg(source.join("requirements.txt")))
    })?;
    Ok(Preparation::Ready(Prepared {
        peer: Peer::Python,
        agent: vec![own.clone(), source.join("agent.py")],
        client: vec![own, source.join("client.py")],
    }))
}

fn js(source: &Path, place: &Path) -> Result<Preparation> {
    let version = output(Command::new("node").arg("--version"));
    let has_npm = works(Command::new("npm").arg("--version"));
    if !has_npm || version.is_none_or(|version| leading(&version, "v").first() < Some(&20)) {
        return Ok(Preparation::Missing("node 20 or newer and npm"));
    }
    // Node looks for packages beside the sources, and nothing is to be installed into the repository.
    copy(source, place)?;
    once(place, &source.join("package-lock.json"), || {
        let mut install = Command::new("npm");
        install.args([
            "ci",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--silent",
        ]);
        succeed(install.current_dir(place))
    })?;
    Ok(Preparation::Ready(Prepared {
        peer: Peer::Js,
        agent: vec!["node".into(), place.join("agent.mjs")],
        client: vec!["node".into(), place.join("client.mjs")],
    }))
}

fn go(source: &Path, place: &Path) -> Result<Preparation> {
    let mut asked = Command::new("go");
    let version = output(asked.args(["env", "GOVERSION"]).env("GOTOOLCHAIN", "local"));
    // From that one on it fetches the version that go.mod asks for, through the module proxy.
    if version.is_none_or(|version| leading(&version, "go") < vec![1, 21]) {
        return Ok(Preparation::Missing("go 1.21 or newer"));
    }
    let proxy = output(Command::new("go").args(["env", "GOPROXY"])).unwrap_or_default();
    let mut build = Command::new("go");
    build
        .args(["build", "-o"])
        .arg(place)
        .args(["./agent", "./client"])
        .env("GOTOOLCHAIN", "auto")
        .env("GOFLAGS", "-mod=readonly -buildvcs=false")
        .env("GOPROXY", without_direct(&proxy))
        .current_dir(source);
    succeed(&mut build)?;
    Ok(Preparation::Ready(Prepared {
        peer: Peer::Go,
        agent: vec![place.join("agent")],
        client: vec![place.join("client")],
    }))
}

/// The module proxies of a setting, without the fallback to the repositories themselves.
fn without_direct(proxy: &str) -> String {
    let end = proxy.find(",direct").or_else(|| proxy.find("|direct"));
    proxy
        .get(..end.unwrap_or(proxy.len()))
        .unwrap_or(proxy)
        .to_owned()
}

/// The numbers of a version that begins with that prefix, as far as they are numbers.
fn leading(version: &str, prefix: &str) -> Vec<u32> {
    let numbers = version.trim().strip_prefix(prefix).unwrap_or_default();
    numbers
        .split('.')
        .map_while(|number| number.parse().ok())
        .collect()
}

/// Installs unless what that file names is installed already.
pub fn once(place: &Path, names: &Path, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = place.join("installed");
    let wanted = fs::read(names)?;
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    install()?;
    Ok(fs::write(stamp, wanted)?)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == OsStr::new("node_modules") {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to.join(name))?,
            false => {
                fs::copy(entry.path(), to.join(name))?;
            }
        }
    }
    Ok(())
}

fn works(command: &mut Command) -> bool {
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

pub fn succeed(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .map_err(|error| format!("{program}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{program} ended with {status}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_proxy_is_never_left() {
        assert_eq!(
            without_direct("https://a,https://b,direct"),
            "https://a,https://b"
        );
        assert_eq!(without_direct("https://a|direct"), "https://a");
        assert_eq!(without_direct("https://a"), "https://a");
    }

    #[test]
    fn versions_are_read_as_tools_print_them() {
        assert_eq!(leading("v20.20.2\n", "v"), [20, 20, 2]);
        assert_eq!(leading("go1.26rc1", "go"), [1]);
        assert!(leading("go1.24.9", "go") < vec![1, 25]);
        assert!(leading("", "go").is_empty());
    }
}
