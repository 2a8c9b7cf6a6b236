//! What an agent remembers over turns and restarts (kagent contract 1.8).
//!
//! kagent may start the process anew for each turn, from its image and the one directory that it keeps. A
//! [`ContextState`] is what an agent knows about a conversation, a [`Continuation`] what it needs to go on behind a
//! pause; each is written whole and is on the disk when `save` returns. So save first and pause then: the question is
//! never public before what its answer needs.
//!
//! What was said is with the tasks: [`ExecutionContext::conversation`](a2a_server::ExecutionContext::conversation).
//!
//! ```
//! use kagent_ext::a2a_server::executor_fn;
//! use kagent_ext::byo::Byo;
//! use kagent_ext::config::Environment;
//! use kagent_ext::memory::ContextState;
//!
//! /// Counts what it was asked in each conversation.
//! fn agent(environment: &Environment) -> Byo {
//!     let asked = ContextState::<u32>::open(environment, "asked");
//!     Byo::new(executor_fn(move |cx, out| {
//!         let asked = asked.clone();
//!         async move {
//!             let count = asked.load(cx.context_id()).await?.unwrap_or(0) + 1;
//!             asked.save(cx.context_id(), &count).await?;
//!             out.reply(format!("question {count}")).await?;
//!             Ok(())
//!         }
//!     }))
//! }
//! # let _ = agent(&Environment::empty());
//! ```

mod files;
mod place;

use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::Environment;

use place::Place;

/// State of an agent for each context.
///
/// Cheap to clone; the clones share what they keep. One process at a time may use a directory.
pub struct ContextState<T> {
    kept: Kept<T>,
}

/// What an agent needs to go on where it paused, for each task.
///
/// Cheap to clone; the clones share what they keep.
///
/// ```
/// # async fn run(cx: kagent_ext::a2a_server::ExecutionContext, out: kagent_ext::a2a_server::EventSink)
/// # -> Result<(), kagent_ext::a2a_server::AgentError> {
/// use kagent_ext::memory::Continuation;
///
/// let plans = Continuation::<Vec<String>>::in_directory("/data", "plans");
/// match plans.take(cx.task_id()).await? {
///     Some(plan) => out.reply(format!("did {}", plan.join(", "))).await?,
///     None => {
///         plans.save(cx.task_id(), &vec!["drop the table".to_owned()]).await?;
///         out.input_required("Shall I?").await?;
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Continuation<T> {
    kept: Kept<T>,
}

impl<T: Serialize + DeserializeOwned + Send + 'static> ContextState<T> {
    /// State in the directory that kagent keeps, or in memory where the environment has none.
    #[must_use]
    pub fn open(environment: &Environment, name: &str) -> Self {
        Self {
            kept: Kept::open(environment, name),
        }
    }

    /// State below a directory, which is made when it is needed. The name tells it from other state there.
    #[must_use]
    pub fn in_directory(directory: impl Into<PathBuf>, name: &str) -> Self {
        Self {
            kept: Kept::in_directory(directory.into(), name),
        }
    }

    /// State that goes with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self {
            kept: Kept::in_memory(),
        }
    }

    /// Sets the version of the type, 1 by default. What a newer version wrote is an error; what an older one wrote is read
    /// as it is, so that new members want `#[serde(default)]`.
    #[must_use]
    pub fn with_version(mut self, version: u32) -> Self {
        self.kept.version = version;
        self
    }

    /// The state of a context; `None` where nothing was saved.
    ///
    /// # Errors
    ///
    /// When it can't be read, is damaged, or comes from a newer version. It stays as it is.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn load(&self, context_id: &str) -> Result<Option<T>, MemoryError> {
        self.kept.load(context_id).await
    }

    /// Puts state in the place of the context's: on the disk when this returns.
    ///
    /// # Errors
    ///
    /// When it can't be written; then the state before stays.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the state before is there or the new one, and nothing between.
    pub async fn save(&self, context_id: &str, state: &T) -> Result<(), MemoryError> {
        self.kept.save(context_id, state).await
    }

    /// Forgets the state of a context.
    ///
    /// # Errors
    ///
    /// When it can't be removed.
    ///
    /// # Cancel safety
    ///
    /// As [`save`](Self::save).
    pub async fn remove(&self, context_id: &str) -> Result<(), MemoryError> {
        self.kept.remove(context_id).await
    }
}

impl<T: Serialize + DeserializeOwned + Send + 'static> Continuation<T> {
    /// Continuations in the directory that kagent keeps, or in memory where the environment has none.
    #[must_use]
    pub fn open(environment: &Environment, name: &str) -> Self {
        Self {
            kept: Kept::open(environment, name),
        }
    }

    /// Continuations below a directory, which is made when it is needed. The name tells them from other state there.
    #[must_use]
    pub fn in_directory(directory: impl Into<PathBuf>, name: &str) -> Self {
        Self {
            kept: Kept::in_directory(directory.into(), name),
        }
    }

    /// Continuations that go with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self {
            kept: Kept::in_memory(),
        }
    }

    /// Sets the version of the type: see [`ContextState::with_version`].
    #[must_use]
    pub fn with_version(mut self, version: u32) -> Self {
        self.kept.version = version;
        self
    }

    /// Keeps what is needed to go on with a task: before it pauses.
    ///
    /// # Errors
    ///
    /// As [`ContextState::save`].
    ///
    /// # Cancel safety
    ///
    /// As [`ContextState::save`].
    pub async fn save(&self, task_id: &str, state: &T) -> Result<(), MemoryError> {
        self.kept.save(task_id, state).await
    }

    /// Takes what was kept for a task; `None` where it did not pause. The answer to a pause has been stored when an
    /// executor asks, and no other can follow it.
    ///
    /// # Errors
    ///
    /// As [`ContextState::load`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been taken: who is canceled does not go on.
    pub async fn take(&self, task_id: &str) -> Result<Option<T>, MemoryError> {
        let state = self.kept.load(task_id).await?;
        if state.is_some() {
            self.kept.remove(task_id).await?;
        }
        Ok(state)
    }

    /// Reads what was kept for a task, and leaves it.
    ///
    /// # Errors
    ///
    /// As [`ContextState::load`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn load(&self, task_id: &str) -> Result<Option<T>, MemoryError> {
        self.kept.load(task_id).await
    }
}

impl<T> Clone for ContextState<T> {
    fn clone(&self) -> Self {
        Self {
            kept: self.kept.clone(),
        }
    }
}

impl<T> Clone for Continuation<T> {
    fn clone(&self) -> Self {
        Self {
            kept: self.kept.clone(),
        }
    }
}

impl<T> fmt::Debug for ContextState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ContextState")
            .field(&self.kept.place)
            .finish()
    }
}

impl<T> fmt::Debug for Continuation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Continuation")
            .field(&self.kept.place)
            .finish()
    }
}

/// Why state can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// A file does not hold what was written to it.
    #[error("{} is damaged: {reason}; move it away to begin anew", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The state has no JSON form.
    #[error("the state can't be written as JSON")]
    Encode(#[source] serde_json::Error),
    /// A file comes from a newer version of the agent.
    #[error("{} has version {found}, this agent knows versions up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
    /// A file can't be read or written.
    #[error("{} can't be {doing}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: `read`, `written` or `removed`.
        doing: &'static str,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The name of a context or task can't be one of a file.
    #[error("an empty id has no state")]
    EmptyId,
}

/// What both have in common.
struct Kept<T> {
    place: Arc<Place>,
    version: u32,
    state: PhantomData<fn() -> T>,
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Self {
            place: Arc::clone(&self.place),
            version: self.version,
            state: PhantomData,
        }
    }
}

impl<T: Serialize + DeserializeOwned + Send + 'static> Kept<T> {
    fn open(environment: &Environment, name: &str) -> Self {
        match environment.data_dir() {
            Some(directory) => Self::in_directory(directory, name),
            None => Self::in_memory(),
        }
    }

    fn in_directory(directory: PathBuf, name: &str) -> Self {
        Self::at(Place::directory(&directory, name))
    }

    fn in_memory() -> Self {
        Self::at(Place::memory())
    }

    fn at(place: Place) -> Self {
        Self {
            place: Arc::new(place),
            version: 1,
            state: PhantomData,
        }
    }

    async fn load(&self, id: &str) -> Result<Option<T>, MemoryError> {
        let Some((path, bytes)) = self.place.read(id).await? else {
            return Ok(None);
        };
        self.decode(&path, id, &bytes).map(Some)
    }

    async fn save(&self, id: &str, state: &T) -> Result<(), MemoryError> {
        let document = Document {
            version: self.version,
            id,
            state,
        };
        let bytes = serde_json::to_vec(&document).map_err(MemoryError::Encode)?;
        self.place.write(id, bytes).await
    }

    async fn remove(&self, id: &str) -> Result<(), MemoryError> {
        self.place.remove(id).await
    }

    fn decode(&self, path: &Path, id: &str, bytes: &[u8]) -> Result<T, MemoryError> {
        let corrupt = |reason: String| MemoryError::Corrupt {
            path: path.to_owned(),
            reason,
        };
        // The version first: a newer document may have another state.
        let header: Header =
            serde_json::from_slice(bytes).map_err(|error| corrupt(error.to_string()))?;
        if header.version > self.version {
            return Err(MemoryError::Newer {
                path: path.to_owned(),
                found: header.version,
                known: self.version,
            });
        }
        if header.id != id {
            return Err(corrupt(format!("it is the state of `{}`", header.id)));
        }
        let document: State<T> =
            serde_json::from_slice(bytes).map_err(|error| corrupt(error.to_string()))?;
        Ok(document.state)
    }
}

/// What a file holds.
#[derive(serde::Serialize)]
struct Document<'a, T> {
    version: u32,
    id: &'a str,
    state: &'a T,
}

#[derive(serde::Deserialize)]
struct Header {
    version: u32,
    id: String,
}

#[derive(serde::Deserialize)]
struct State<T> {
    state: T,
}

#[cfg(test)]
mod tests;
