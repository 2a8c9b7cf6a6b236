//! The statements.

use std::sync::Arc;

use a2a_proto::Method;
use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task, TaskState};
use prost::Message as _;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::decode;
use crate::auth::Principal;
use crate::context::CallContext;
use crate::store::listing::{self, Cursor};
use crate::store::{Abandoned, StoreError, StoredTask, TaskVersion};

/// A task, and what lists are made by.
pub(super) struct Row {
    id: String,
    context_id: String,
    state: i32,
    seconds: i64,
    nanos: i32,
    is_timed: bool,
    session: i64,
    task: Vec<u8>,
}

impl Row {
    pub(super) fn of(task: &Task, session: i64) -> Self {
        let cursor = Cursor::of(task);
        let (seconds, nanos, _) = cursor.key();
        let status = task.status.as_ref();
        Self {
            id: task.id.clone(),
            context_id: task.context_id.clone(),
            state: task.state().into(),
            seconds,
            nanos,
            is_timed: status.is_some_and(|status| status.timestamp.is_some()),
            session,
            task: task.encode_to_vec(),
        }
    }
}

/// Which tasks a caller sees.
pub(super) enum Scope {
    All,
    Owner {
        tenant: String,
        /// `None` for the anonymous caller.
        name: Option<String>,
    },
}

/// The part of a statement behind WHERE.
pub(super) struct Condition {
    text: String,
    values: Vec<Value>,
}

impl Condition {
    fn new(scope: &Scope) -> Self {
        let mut condition = Self {
            text: "TRUE".to_owned(),
            values: Vec::new(),
        };
        if let Scope::Owner { tenant, name } = scope {
            condition.and("tenant = ?", [tenant.clone().into()]);
            // Unlike `=`, `IS` finds the NULL of the anonymous caller.
            condition.and("owner IS ?", [name.clone().into()]);
        }
        condition
    }

    /// What a request selects, all its pages together.
    pub(super) fn of(request: &ListTasksRequest, scope: &Scope) -> Self {
        let mut condition = Self::new(scope);
        if !request.context_id.is_empty() {
            condition.and("context_id = ?", [request.context_id.clone().into()]);
        }
        if request.status() != TaskState::Unspecified {
            condition.and("state = ?", [i32::from(request.status()).into()]);
        }
        if let Some(since) = request.status_timestamp_after {
            let bound = [since.seconds.into(), since.nanos.into()];
            condition.and("is_timed AND (seconds, nanos) >= (?, ?)", bound);
        }
        condition
    }

    /// The statement that reads a page, newest first. Its last value is the size.
    pub(super) fn page(&self) -> String {
        format!(
            "SELECT task FROM tasks WHERE {} ORDER BY seconds DESC, nanos DESC, id DESC LIMIT ?",
            self.text
        )
    }

    fn and<const N: usize>(&mut self, text: &str, values: [Value; N]) {
        self.text.push_str(" AND ");
        self.text.push_str(text);
        self.values.extend(values);
    }
}

pub(super) fn insert(
    connection: &Connection,
    row: &Row,
    tenant: &str,
    owner: Option<&str>,
) -> Result<TaskVersion, StoreError> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO tasks (id, context_id, state, seconds, nanos, is_timed, session, task, tenant, owner, version)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (id) DO NOTHING",
    )?;
    let inserted = statement.execute(params![
        row.id,
        row.context_id,
        row.state,
        row.seconds,
        row.nanos,
        row.is_timed,
        row.session,
        row.task,
        tenant,
        owner
    ])?;
    match inserted {
        0 => Err(StoreError::AlreadyExists),
        _ => Ok(TaskVersion::new(1)),
    }
}

pub(super) fn update(
    connection: &Connection,
    row: &Row,
    scope: &Scope,
    expected: TaskVersion,
) -> Result<TaskVersion, StoreError> {
    // The file has one writer: nothing comes between the two statements.
    let mut condition = Condition::new(scope);
    condition.and("id = ?", [row.id.clone().into()]);
    let sql = format!("SELECT version FROM tasks WHERE {}", condition.text);
    let version: Option<i64> = connection
        .prepare_cached(&sql)?
        .query_row(params_from_iter(condition.values), |found| found.get(0))
        .optional()?;
    match version {
        None => return Err(StoreError::NotFound),
        Some(version) if version != expected.number() => return Err(StoreError::VersionConflict),
        Some(_) => {}
    }
    let version = expected.number() + 1;
    let mut statement = connection.prepare_cached(
        "UPDATE tasks SET context_id = ?, state = ?, seconds = ?, nanos = ?, is_timed = ?, session = ?, task = ?,
         version = ? WHERE id = ?",
    )?;
    statement.execute(params![
        row.context_id,
        row.state,
        row.seconds,
        row.nanos,
        row.is_timed,
        row.session,
        row.task,
        version,
        row.id
    ])?;
    Ok(TaskVersion::new(version))
}

pub(super) fn read(
    connection: &Connection,
    id: &str,
    scope: &Scope,
) -> Result<Option<StoredTask>, StoreError> {
    let mut condition = Condition::new(scope);
    condition.and("id = ?", [id.to_owned().into()]);
    let sql = format!("SELECT task, version FROM tasks WHERE {}", condition.text);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = statement.query(params_from_iter(condition.values))?;
    let Some(row) = found.next()? else {
        return Ok(None);
    };
    let task = decode(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?)?;
    Ok(Some(StoredTask {
        task: Arc::new(task),
        version: TaskVersion::new(row.get(1)?),
    }))
}

pub(super) fn list(
    connection: &Connection,
    request: &ListTasksRequest,
    scope: &Scope,
    after: Option<&Cursor>,
) -> Result<ListTasksResponse, StoreError> {
    let mut condition = Condition::of(request, scope);
    let sql = format!("SELECT count(*) FROM tasks WHERE {}", condition.text);
    let total: i64 = connection
        .prepare_cached(&sql)?
        .query_row(params_from_iter(&condition.values), |found| found.get(0))?;
    if let Some(after) = after {
        let (seconds, nanos, id) = after.key();
        let place = [seconds.into(), nanos.into(), id.to_owned().into()];
        condition.and("(seconds, nanos, id) < (?, ?, ?)", place);
    }
    let size = listing::page_size(request);
    let one_more = i64::try_from(size).unwrap_or(i64::MAX).saturating_add(1);
    condition.values.push(one_more.into());
    let mut statement = connection.prepare_cached(&condition.page())?;
    let mut rows = statement.query(params_from_iter(condition.values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(decode(
            row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?,
        )?);
    }
    let total = usize::try_from(total).unwrap_or_default();
    Ok(listing::page(found.iter(), total, request))
}

/// What a session that is over left SUBMITTED or WORKING.
pub(super) fn abandoned(
    connection: &Connection,
    session: i64,
) -> Result<Vec<Abandoned>, StoreError> {
    let mut statement = connection.prepare_cached(ABANDONED)?;
    let mut rows = statement.query([session])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let tenant: String = row.get(1)?;
        let owner: Option<String> = row.get(2)?;
        let principal = owner.map_or_else(Principal::anonymous, Principal::named);
        let call = CallContext::new(Method::GetTask)
            .with_tenant(tenant)
            .with_principal(principal);
        found.push(Abandoned::new(call, row.get::<_, String>(0)?));
    }
    Ok(found)
}

/// The numbers of the two states stand in the condition of the index as well.
pub(super) const ABANDONED: &str =
    "SELECT id, tenant, owner FROM tasks WHERE state IN (1, 2) AND session <> ?";

const _: () = assert!(TaskState::Submitted as i32 == 1 && TaskState::Working as i32 == 2);
