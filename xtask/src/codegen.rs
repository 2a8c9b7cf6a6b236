//! Generates the checked-in Rust code from the `.proto` files.

mod model;
mod serde;
mod validate;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::workspace_root;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A generated file: its path below the workspace, and its content.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Writes the generated files.
pub fn write() -> Result<()> {
    let root = workspace_root();
    for (path, content) in generate(&root)? {
        let path = root.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        if fs::read(&path).ok().as_deref() != Some(content.as_slice()) {
            fs::write(&path, content)?;
            println!("wrote {}", path.display());
        }
    }
    Ok(())
}

/// Fails when a checked-in file differs from what would be generated.
pub fn check() -> Result<()> {
    let root = workspace_root();
    let stale: Vec<String> = generate(&root)?
        .into_iter()
        .filter(|(path, content)| {
            fs::read(root.join(path)).ok().as_deref() != Some(content.as_slice())
        })
        .map(|(path, _)| path.display().to_string())
        .collect();
    if stale.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "run `cargo xtask codegen`: out of date are {}",
            stale.join(", ")
        )
        .into())
    }
}

fn generate(root: &Path) -> Result<Files> {
    let mut files = a2a(root)?;
    files.extend(kagent(root)?);
    Ok(files)
}

/// The types of `lf.a2a.v1`, their JSON and validation, and their descriptors.
fn a2a(root: &Path) -> Result<Files> {
    let mut files = Files::new();
    let mut compiler = protox::Compiler::new([root.join("a2a-proto/proto")])?;
    compiler
        .include_imports(true)
        .include_source_info(true)
        .open_files(["lf/a2a/v1/a2a.proto"])?;
    let pool = compiler.descriptor_pool();
    let descriptors = compiler.file_descriptor_set();

    let out = Scratch::new()?;
    let mut prost = prost_build::Config::new();
    prost
        .out_dir(out.path())
        .btree_map(["."])
        .bytes(["."])
        // They hold secrets: their Debug is written by hand.
        .skip_debug([
            ".lf.a2a.v1.AuthenticationInfo",
            ".lf.a2a.v1.TaskPushNotificationConfig",
        ])
        .extern_path(".google.protobuf.Struct", "crate::json::Struct")
        .extern_path(".google.protobuf.Value", "crate::json::Value")
        .extern_path(".google.protobuf.Timestamp", "crate::json::Timestamp");
    tonic_prost_build::configure()
        .build_server(false)
        .out_dir(out.path())
        .client_mod_attribute(".", "#[cfg(feature = \"grpc\")]")
        .compile_fds_with_config(descriptors, prost)?;
    let generated = fs::read_to_string(out.path().join("lf.a2a.v1.rs"))?;
    files.insert(
        "a2a-proto/src/generated/lf.a2a.v1.rs".into(),
        generated.into_bytes(),
    );

    files.insert(
        "a2a-proto/src/generated/lf.a2a.v1.serde.rs".into(),
        format(&serde::generate(&pool))?,
    );
    files.insert(
        "a2a-proto/src/generated/lf.a2a.v1.validate.rs".into(),
        format(&validate::generate(&pool))?,
    );
    // Only in the descriptors: what tools need to print the details of an error.
    compiler
        .include_source_info(false)
        .open_files(["google/rpc/error_details.proto"])?;
    files.insert(
        "a2a-proto/src/generated/descriptor.bin".into(),
        compiler.encode_file_descriptor_set(),
    );
    Ok(files)
}

/// The messages of kagent's task store, and its server for tests. Its client chooses the name of the service at run
/// time, which generated code can't.
fn kagent(root: &Path) -> Result<Files> {
    let mut compiler =
        protox::Compiler::new([root.join("kagent-ext/proto"), root.join("a2a-proto/proto")])?;
    compiler
        .include_imports(true)
        .include_source_info(true)
        .open_files(["kagent/runtime/v1/task_store.proto"])?;
    let descriptors = compiler.file_descriptor_set();
    let out = Scratch::new()?;
    let mut prost = prost_build::Config::new();
    prost
        .out_dir(out.path())
        .btree_map(["."])
        .bytes(["."])
        .extern_path(".lf.a2a.v1", "::a2a_proto::v1")
        .extern_path(".google", "::a2a_proto::json");
    tonic_prost_build::configure()
        .build_client(false)
        .out_dir(out.path())
        .server_mod_attribute(".", "#[cfg(feature = \"testing\")]")
        .compile_fds_with_config(descriptors, prost)?;
    let name = "kagent.runtime.v1.rs";
    let generated = fs::read(out.path().join(name))?;
    Ok(Files::from([(
        Path::new("kagent-ext/src/generated").join(name),
        generated,
    )]))
}

fn format(code: &str) -> Result<Vec<u8>> {
    let file = syn::parse_file(code)?;
    let code = prettyplease::unparse(&file);
    Ok(format!("// This file is @generated by `cargo xtask codegen`.\n{code}").into_bytes())
}

/// A directory that is removed again.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("a2a-codegen-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind in the system's temporary files does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checked_in_code_is_what_the_protos_generate() {
        super::check().unwrap();
    }
}
