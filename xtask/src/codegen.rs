//! Generates the checked-in Rust code from the `.proto` files.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use prost::Message as _;

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

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

fn generate(root: &Path) -> Result<Files> {
    let mut files = Files::new();
    let descriptors = protox::Compiler::new([root.join("a2a-proto/proto")])?
        .include_imports(true)
        .include_source_info(true)
        .open_files(["lf/a2a/v1/a2a.proto"])?
        .file_descriptor_set();

    let out = tempfile()?;
    let mut prost = prost_build::Config::new();
    prost
        .out_dir(&out)
        .btree_map(["."])
        .bytes(["."])
        .extern_path(".google.protobuf.Struct", "crate::json::Struct")
        .extern_path(".google.protobuf.Value", "crate::json::Value")
        .extern_path(".google.protobuf.Timestamp", "crate::json::Timestamp");
    tonic_prost_build::configure()
        .build_server(false)
        .out_dir(&out)
        .client_mod_attribute(".", "#[cfg(feature = \"grpc\")]")
        .compile_fds_with_config(descriptors.clone(), prost)?;
    let generated = fs::read_to_string(out.join("lf.a2a.v1.rs"))?;
    fs::remove_dir_all(&out)?;
    files.insert(
        "a2a-proto/src/generated/lf.a2a.v1.rs".into(),
        generated.into_bytes(),
    );

    let mut bare = descriptors;
    for file in &mut bare.file {
        file.source_code_info = None;
    }
    files.insert(
        "a2a-proto/src/generated/descriptor.bin".into(),
        bare.encode_to_vec(),
    );
    Ok(files)
}

fn tempfile() -> Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("a2a-codegen-{}", std::process::id()));
    fs::create_dir_all(&path)?;
    Ok(path)
}
