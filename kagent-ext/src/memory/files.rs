//! State in files: one for each id, replaced in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::MemoryError;

#[derive(Clone, Debug)]
pub(super) struct Files {
    directory: Arc<PathBuf>,
}

impl Files {
    pub(super) fn new(directory: &Path, name: &str) -> Self {
        Self {
            directory: Arc::new(directory.join(encoded(name))),
        }
    }

    pub(super) async fn read(&self, id: &str) -> Result<Option<(PathBuf, Vec<u8>)>, MemoryError> {
        let path = self.path(id)?;
        off_thread(move || match fs::read(&path) {
            Ok(bytes) => Ok(Some((path, bytes))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(fault(&path, "read", source)),
        })
        .await
    }

    pub(super) async fn write(&self, id: &str, bytes: Vec<u8>) -> Result<(), MemoryError> {
        let path = self.path(id)?;
        off_thread(move || replace(&path, &bytes).map_err(|source| fault(&path, "written", source)))
            .await
    }

    pub(super) async fn remove(&self, id: &str) -> Result<(), MemoryError> {
        let path = self.path(id)?;
        off_thread(move || match fs::remove_file(&path) {
            Ok(()) => sync_directory(&path).map_err(|source| fault(&path, "removed", source)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(source) => Err(fault(&path, "removed", source)),
        })
        .await
    }

    /// The file of an id. No two ids have one file, and no id leads out of the directory: what is no letter or digit is
    /// written as its number, and a long id goes over several directories, whose names end as no file's does.
    fn path(&self, id: &str) -> Result<PathBuf, MemoryError> {
        let name = encoded(id);
        let mut rest = name.as_str();
        if rest.is_empty() {
            return Err(MemoryError::EmptyId);
        }
        let mut path = PathBuf::clone(&self.directory);
        // All of it is ASCII, so that it can be cut anywhere.
        while let Some((piece, behind)) = rest
            .split_at_checked(LONGEST)
            .filter(|(_, b)| !b.is_empty())
        {
            path.push(format!("{piece}+"));
            rest = behind;
        }
        path.push(format!("{rest}.json"));
        Ok(path)
    }
}

/// Blocking work, on a thread for it. Once begun it runs to its end.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, MemoryError> + Send + 'static,
) -> Result<T, MemoryError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(lost) => Err(fault(
            Path::new("the state"),
            "read or written",
            io::Error::other(lost),
        )),
    }
}

/// Writes beside the file and puts that in its place, each step on the disk before the next. One write at a time: what a
/// killed process left beside the file is overwritten by the next, and never by one that is under way.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static WRITING: Mutex<()> = Mutex::new(());
    let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    create_directory(path.parent().unwrap_or_else(|| Path::new(".")))?;
    let beside = path.with_extension("new");
    let written = write_new(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // It is not what the caller asked about.
        let _ = fs::remove_file(&beside);
    }
    written?;
    sync_directory(path)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Only so is a rename on the disk; elsewhere than on Unix directories can't be opened for it.
fn sync_directory(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(directory) if cfg!(unix) => File::open(directory)?.sync_all(),
        _ => Ok(()),
    }
}

fn encoded(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => name.push(char::from(byte)),
            // Capital letters too: some file systems do not tell them from small ones.
            _ => name.push_str(&format!("%{byte:02x}")),
        }
    }
    name
}

fn fault(path: &Path, doing: &'static str, source: io::Error) -> MemoryError {
    MemoryError::Io {
        path: path.to_owned(),
        doing,
        source,
    }
}

/// Characters of a name: with what is put around it, less than file systems allow.
const LONGEST: usize = 180;
