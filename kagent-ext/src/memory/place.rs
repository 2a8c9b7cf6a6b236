//! Where state is kept.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::MemoryError;
use super::files::Files;

#[derive(Debug)]
pub(super) enum Place {
    Directory(Files),
    Memory(Memory),
}

/// What was written, by its id.
#[derive(Default)]
pub(super) struct Memory(Mutex<HashMap<String, Vec<u8>>>);

impl Place {
    pub(super) fn directory(directory: &Path, name: &str) -> Self {
        Self::Directory(Files::new(directory, name))
    }

    pub(super) fn memory() -> Self {
        Self::Memory(Memory::default())
    }

    /// What is kept, and where.
    pub(super) async fn read(&self, id: &str) -> Result<Option<(PathBuf, Vec<u8>)>, MemoryError> {
        match self {
            Self::Directory(files) => files.read(id).await,
            Self::Memory(memory) => {
                let found = memory.lock().get(id).cloned();
                Ok(found.map(|bytes| (PathBuf::from("the memory of this process"), bytes)))
            }
        }
    }

    pub(super) async fn write(&self, id: &str, bytes: Vec<u8>) -> Result<(), MemoryError> {
        match self {
            Self::Directory(files) => files.write(id, bytes).await,
            Self::Memory(memory) => {
                memory.lock().insert(id.to_owned(), bytes);
                Ok(())
            }
        }
    }

    pub(super) async fn remove(&self, id: &str) -> Result<(), MemoryError> {
        match self {
            Self::Directory(files) => files.remove(id).await,
            Self::Memory(memory) => {
                memory.lock().remove(id);
                Ok(())
            }
        }
    }
}

impl Memory {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}
