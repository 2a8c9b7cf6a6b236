//! Compares this project with kagent's own helper, kagent-core.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::interop::Result;
use crate::interop::peer::Peer;
use crate::interop::prepare::{Preparation, once, prepare, python_with_venv, succeed, target};

const USAGE: &str = "usage: cargo xtask kagent [--prepare] [--require]";

/// The wheel, whose dependencies can't be resolved: what it needs of them is in requirements.txt.
const WHEEL: &str = "kagent-core==1.0.0a17";

/// Prepares the other side and, unless that is all that is asked for, compares.
pub fn run(words: &[&str]) -> Result<()> {
    let mut only_prepare = false;
    let mut require = false;
    for word in words {
        match *word {
            "--prepare" => only_prepare = true,
            "--require" => require = true,
            _ => return Err(USAGE.into()),
        }
    }
    let Some(python) = python_with_venv() else {
        let lacks = "kagent-core needs python3 3.10 or newer with venv";
        if require {
            return Err(lacks.into());
        }
        println!("skipped: {lacks}");
        return Ok(());
    };
    let root = crate::workspace_root();
    let source = root.join("tests/interop/kagent");
    let place = target().join("kagent");
    let own = install(python, &source, &place)?;
    let generated = generate(&own, &root, &source, &place)?;
    if only_prepare {
        return Ok(());
    }
    let Preparation::Ready(ours) = prepare(Peer::Rust)? else {
        return Err("our own side can't be built".into());
    };
    let program = ours.agent.first().ok_or("there is no program")?;
    let mut compare = Command::new(program);
    succeed(compare.arg("kagent").arg(own).arg(source).arg(generated))
}

fn install(python: &str, source: &Path, place: &Path) -> Result<PathBuf> {
    fs::create_dir_all(place)?;
    let own = place.join("venv/bin/python");
    once(place, &source.join("requirements.txt"), || {
        let venv = place.join("venv");
        succeed(
            Command::new(python)
                .args(["-m", "venv", "--clear"])
                .arg(venv),
        )?;
        let pip = |words: &[&str]| {
            let mut pip = Command::new(&own);
            pip.args(["-m", "pip", "install", "--quiet"]).args(words);
            pip
        };
        succeed(pip(&["--requirement"]).arg(source.join("requirements.txt")))?;
        succeed(&mut pip(&["--no-deps", WHEEL]))
    })?;
    Ok(own)
}

/// The Python code of the messages that the wheel misses. What it knows the A2A messages by is a module of another name.
fn generate(python: &Path, root: &Path, source: &Path, place: &Path) -> Result<PathBuf> {
    let (protos, generated) = (place.join("protos"), place.join("generated"));
    for directory in [&protos, &generated] {
        fs::create_dir_all(directory)?;
    }
    let a2a = root.join("a2a-proto/proto");
    fs::copy(a2a.join("lf/a2a/v1/a2a.proto"), protos.join("a2a.proto"))?;
    // The wheel knows the A2A messages as a file of that name.
    let store = "kagent/runtime/v1/task_store.proto";
    let ours = fs::read_to_string(root.join("kagent-ext/proto").join(store))?;
    let theirs = ours.replace("lf/a2a/v1/a2a.proto", "a2a.proto");
    fs::create_dir_all(protos.join("kagent/runtime/v1"))?;
    fs::write(protos.join(store), theirs)?;
    fs::write(
        generated.join("a2a_pb2.py"),
        "from a2a.types.a2a_pb2 import *\nfrom a2a.types.a2a_pb2 import DESCRIPTOR\n",
    )?;
    let mut protoc = Command::new(python);
    protoc.args(["-m", "grpc_tools.protoc"]);
    for directory in [&protos, &a2a, &source.join("protos")] {
        protoc.arg("-I").arg(directory);
    }
    for option in ["--python_out", "--grpc_python_out"] {
        protoc.arg(format!("{option}={}", generated.display()));
    }
    protoc.args([
        "kagent/api/v1/common.proto",
        "kagent/config/v1/adk.proto",
        "kagent/config/v1/config.proto",
        "kagent/runtime/v1/memory.proto",
        store,
    ]);
    succeed(&mut protoc)?;
    Ok(generated)
}
