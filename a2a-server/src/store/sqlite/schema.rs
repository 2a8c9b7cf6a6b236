//! How the file is opened, and what is in it.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use a2a_proto::error::WithCauses;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

/// Why a file of tasks can't be opened.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It is no SQLite file, or a damaged one. Put it aside, and a new one is made.
    #[error("`{}` is damaged or no SQLite file", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// Another application keeps its data in it.
    #[error("`{}` is a SQLite file of another application", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Another process, or another store of this one, has it open.
    #[error("`{}` is in use: each agent needs a file of its own", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this crate wrote it.
    #[error("`{}` has format {found}, and this version reads up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format that it has.
        found: i64,
        /// The newest format that is known.
        known: i64,
    },
    /// It can't be written.
    #[error("`{}` can't be written: is it read-only?", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It can't be opened, such as for a directory that is missing.
    #[error("`{}` can't be opened", path.display())]
    Unopened {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

/// In one line with all causes, as a `main` that returns it prints it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&WithCauses(self), f)
    }
}

impl OpenError {
    pub(super) fn unopened(path: &Path, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unopened {
            path: path.to_owned(),
            source: source.into(),
        }
    }

    fn of(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Damaged {
                path,
                source: Box::new(error),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::InUse { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            _ => Self::unopened(&path, error),
        }
    }
}

/// Opens the file for this process alone, and gives the number of this opening.
pub(super) fn open(path: &Path) -> Result<(Connection, i64), OpenError> {
    let connection = Connection::open(path).map_err(|error| OpenError::of(path, error))?;
    prepare(connection, path)
}

pub(super) fn prepare(
    mut connection: Connection,
    path: &Path,
) -> Result<(Connection, i64), OpenError> {
    let of = |error| OpenError::of(path, error);
    connection.busy_timeout(BUSY).map_err(of)?;
    let number = |connection: &Connection, sql: &str| {
        connection.query_row(sql, [], |row| row.get::<_, i64>(0))
    };
    // Whose file it is comes first: a foreign one stays as it is.
    let application = number(&connection, "PRAGMA application_id").map_err(of)?;
    let format = number(&connection, "PRAGMA user_version").map_err(of)?;
    let objects = number(&connection, "SELECT count(*) FROM sqlite_schema").map_err(of)?;
    let path_buf = || path.to_owned();
    if application != APPLICATION && (application != 0 || format != 0 || objects != 0) {
        return Err(OpenError::Foreign { path: path_buf() });
    }
    if format > FORMAT {
        return Err(OpenError::Newer {
            path: path_buf(),
            found: format,
            known: FORMAT,
        });
    }
    if connection.is_readonly("main").map_err(of)? {
        return Err(OpenError::ReadOnly { path: path_buf() });
    }
    connection.execute_batch(SETTINGS).map_err(of)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(of)?;
    // Another process may have made the tables meanwhile.
    if number(&transaction, "PRAGMA user_version").map_err(of)? == 0 {
        transaction.execute_batch(TABLES).map_err(of)?;
    }
    let session = number(
        &transaction,
        "UPDATE sessions SET last = last + 1 RETURNING last",
    )
    .map_err(of)?;
    transaction.commit().map_err(of)?;
    Ok((connection, session))
}

/// The lock is kept as long as the file is open. Each commit reaches the disk before it is acknowledged.
const SETTINGS: &str = "
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
";

/// The indices have the order of lists. Of running tasks there are few: their index is small.
const TABLES: &str = "
CREATE TABLE tasks (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    owner TEXT,
    version INTEGER NOT NULL,
    session INTEGER NOT NULL,
    context_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    seconds INTEGER NOT NULL,
    nanos INTEGER NOT NULL,
    is_timed INTEGER NOT NULL,
    task BLOB NOT NULL
) STRICT;
CREATE INDEX tasks_by_time ON tasks (seconds, nanos, id);
CREATE INDEX tasks_by_owner ON tasks (tenant, owner, seconds, nanos, id);
CREATE INDEX tasks_by_context ON tasks (context_id, tenant, owner, seconds, nanos, id);
CREATE INDEX tasks_by_state ON tasks (tenant, owner, state, seconds, nanos, id);
CREATE INDEX tasks_running ON tasks (session) WHERE state IN (1, 2);
CREATE TABLE sessions (last INTEGER NOT NULL) STRICT;
INSERT INTO sessions VALUES (0);
PRAGMA application_id = 1093812555;
PRAGMA user_version = 1;
";

/// "A2AK" in the header of the file.
pub(super) const APPLICATION: i64 = 1_093_812_555;
/// The format of the tables.
pub(super) const FORMAT: i64 = 1;
/// How long the lock of another process is waited for: one that is being replaced needs a moment to let go.
const BUSY: Duration = Duration::from_secs(2);
/// How many statements are kept prepared: lists make one for each set of filters.
const STATEMENTS: usize = 64;
