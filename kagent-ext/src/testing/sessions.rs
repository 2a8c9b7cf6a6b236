//! The sessions that the controller keeps: their tasks, versions and deliveries (kagent contract 2.2).

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_proto::v1::{Task, TaskState};
use prost::Message;
use tokio::sync::watch;
use tokio::time::Instant;
use tonic::Status;
use uuid::Uuid;

use crate::task_store::wire::StoredTask;

/// All sessions. Whoever waits for a change is told of each.
#[derive(Debug)]
pub(super) struct Sessions {
    sessions: Mutex<HashMap<String, Session>>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Session {
    version: i64,
    tasks: BTreeMap<String, Kept>,
    /// What was answered to each request that changed something, by a digest of the request.
    receipts: HashMap<u64, i64>,
    deliveries: HashMap<String, Delivery>,
    owner: String,
}

#[derive(Debug)]
struct Kept {
    task: Arc<Task>,
    version: i64,
    /// What clients see: a boundary state only once it is settled.
    public: Arc<Task>,
}

#[derive(Debug)]
struct Delivery {
    /// When a first save comes too late.
    expires: Instant,
    revoked: bool,
    /// It has saved something.
    used: bool,
}

impl Sessions {
    pub(super) fn new() -> Self {
        Self {
            sessions: Mutex::new(HashMap::new()),
            changed: watch::Sender::new(()),
        }
    }

    /// Begins a session.
    pub(super) fn begin(&self, owner: &str) -> String {
        let id = Uuid::new_v4().to_string();
        let session = Session {
            owner: owner.to_owned(),
            ..Session::default()
        };
        self.lock().insert(id.clone(), session);
        id
    }

    pub(super) fn owner(&self, session: &str) -> Option<String> {
        self.lock()
            .get(session)
            .map(|session| session.owner.clone())
    }

    /// The session of a task.
    pub(super) fn session_of(&self, task: &str) -> Option<String> {
        let sessions = self.lock();
        let mut all = sessions.iter();
        all.find(|(_, session)| session.tasks.contains_key(task))
            .map(|(id, _)| id.clone())
    }

    /// Reserves a delivery to the agent of a session.
    pub(super) fn dispatch(&self, session: &str) -> String {
        let id = Uuid::new_v4().to_string();
        let delivery = Delivery {
            expires: Instant::now() + RESERVED,
            revoked: false,
            used: false,
        };
        if let Some(session) = self.lock().get_mut(session) {
            session.deliveries.insert(id.clone(), delivery);
        }
        id
    }

    /// Takes the right to save from a delivery.
    pub(super) fn revoke(&self, dispatch: &str) {
        for session in self.lock().values_mut() {
            if let Some(delivery) = session.deliveries.get_mut(dispatch) {
                delivery.revoked = true;
            }
        }
    }

    pub(super) fn create(
        &self,
        session: &str,
        request: &impl Message,
        task: Option<&Task>,
        dispatch: Option<&str>,
    ) -> Result<i64, Status> {
        let task = whole(task)?;
        let digest = digest(request);
        self.change(session, |session| {
            if let Some(version) = session.receipts.get(&digest) {
                return Ok(*version);
            }
            session.check(dispatch)?;
            if session.tasks.contains_key(&task.id) {
                return Err(Status::already_exists("the task exists"));
            }
            if session.active().is_some() {
                return Err(conflict());
            }
            Ok(session.save(digest, task))
        })
    }

    pub(super) fn update(
        &self,
        session: &str,
        request: &impl Message,
        task: Option<&Task>,
        expected: i64,
        dispatch: Option<&str>,
    ) -> Result<i64, Status> {
        let task = whole(task)?;
        if expected <= 0 {
            return Err(Status::invalid_argument(
                "expected_version must be greater than 0",
            ));
        }
        let digest = digest(request);
        self.change(session, |session| {
            if let Some(version) = session.receipts.get(&digest) {
                return Ok(*version);
            }
            session.check(dispatch)?;
            let kept = session.tasks.get(&task.id).ok_or_else(unknown)?;
            if kept.version != expected {
                return Err(conflict());
            }
            if kept.public.state().is_terminal() {
                return Err(Status::failed_precondition("the task has ended"));
            }
            if session.active().is_some_and(|active| active != task.id) {
                return Err(conflict());
            }
            Ok(session.save(digest, task))
        })
    }

    pub(super) fn settle(&self, session: &str, task: &str, version: i64) -> Result<(), Status> {
        self.change(session, |session| {
            let kept = session.tasks.get_mut(task).ok_or_else(unknown)?;
            if kept.version != version {
                return Err(conflict());
            }
            if !kept.task.state().is_boundary() {
                return Err(Status::failed_precondition("the task is not at a boundary"));
            }
            kept.public = Arc::clone(&kept.task);
            Ok(())
        })
    }

    /// The task as the agent stored it.
    pub(super) fn stored(&self, session: &str, task: &str) -> Result<StoredTask, Status> {
        let sessions = self.lock();
        let session = sessions.get(session).ok_or_else(foreign)?;
        let kept = session.tasks.get(task).ok_or_else(unknown)?;
        Ok(StoredTask {
            task: Some(Task::clone(&kept.task)),
            version: kept.version,
        })
    }

    /// The tasks of a session as clients see them.
    pub(super) fn public_tasks(&self, session: &str) -> Vec<Arc<Task>> {
        let sessions = self.lock();
        let tasks = sessions.get(session).map(|session| session.tasks.values());
        tasks
            .into_iter()
            .flatten()
            .map(|kept| Arc::clone(&kept.public))
            .collect()
    }

    /// A task as clients see it.
    pub(super) fn public(&self, task: &str) -> Option<Arc<Task>> {
        let sessions = self.lock();
        let mut all = sessions.values();
        all.find_map(|session| session.tasks.get(task))
            .map(|kept| Arc::clone(&kept.public))
    }

    /// The task of a session that is neither at a settled boundary nor past one.
    pub(super) fn active(&self, session: &str) -> Option<String> {
        self.lock().get(session)?.active().map(str::to_owned)
    }

    /// The task of a session that waits for somebody.
    pub(super) fn parked(&self, session: &str) -> Option<String> {
        let sessions = self.lock();
        let mut tasks = sessions.get(session)?.tasks.values();
        tasks
            .find(|kept| kept.public.state().is_interrupted())
            .map(|kept| kept.public.id.clone())
    }

    /// Told of each change from now on.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn change<T>(
        &self,
        session: &str,
        change: impl FnOnce(&mut Session) -> Result<T, Status>,
    ) -> Result<T, Status> {
        if Uuid::parse_str(session).is_err() {
            return Err(Status::invalid_argument("session_id must be a UUID"));
        }
        let outcome = change(self.lock().get_mut(session).ok_or_else(foreign)?);
        self.changed.send_replace(());
        outcome
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn active(&self) -> Option<&str> {
        self.tasks
            .iter()
            .find(|(_, kept)| !kept.public.state().is_boundary())
            .map(|(id, _)| id.as_str())
    }

    /// Refuses what a delivery saves that is unknown, revoked or too late.
    fn check(&mut self, dispatch: Option<&str>) -> Result<(), Status> {
        let Some(id) = dispatch else { return Ok(()) };
        let delivery = self.deliveries.get_mut(id).ok_or_else(conflict)?;
        let late = !delivery.used && Instant::now() >= delivery.expires;
        if delivery.revoked || late {
            return Err(conflict());
        }
        delivery.used = true;
        Ok(())
    }

    fn save(&mut self, digest: u64, task: &Task) -> i64 {
        self.version += 1;
        let task = Arc::new(task.clone());
        let public = match self.tasks.remove(&task.id) {
            Some(kept) if task.state().is_boundary() => kept.public,
            _ => Arc::clone(&task),
        };
        self.receipts.insert(digest, self.version);
        let kept = Kept {
            version: self.version,
            public,
            task,
        };
        self.tasks.insert(kept.task.id.clone(), kept);
        self.version
    }
}

fn whole(task: Option<&Task>) -> Result<&Task, Status> {
    task.filter(|task| !task.id.is_empty() && !task.context_id.is_empty())
        .ok_or_else(|| Status::invalid_argument("task and context IDs are required"))
}

fn digest(request: &impl Message) -> u64 {
    let mut hasher = DefaultHasher::new();
    request.encode_to_vec().hash(&mut hasher);
    hasher.finish()
}

fn unknown() -> Status {
    Status::not_found("no such task")
}

fn foreign() -> Status {
    Status::permission_denied("the session is another one's")
}

fn conflict() -> Status {
    Status::aborted("task changed or the session cannot accept this update")
}

/// How long a delivery may take until it first saves something.
const RESERVED: Duration = Duration::from_secs(120);

/// Whether a task stands where a caller no longer waits.
pub(super) fn is_quiet(task: &Task) -> bool {
    TaskState::is_boundary(task.state())
}

#[cfg(test)]
mod tests {
    use a2a_proto::v1::TaskStatus;
    use tonic::Code;

    use super::*;
    use crate::task_store::wire::{
        TaskStoreServiceCreateTaskRequest as CreateRequest,
        TaskStoreServiceUpdateTaskRequest as UpdateRequest,
    };

    fn task(id: &str, state: TaskState) -> Task {
        Task {
            status: Some(TaskStatus::new(state)),
            ..Task::submitted(id, "c")
        }
    }

    struct World {
        sessions: Sessions,
        session: String,
    }

    impl World {
        fn new() -> Self {
            let sessions = Sessions::new();
            let session = sessions.begin("ada");
            Self { sessions, session }
        }

        fn create(&self, task: &Task, dispatch: Option<&str>) -> Result<i64, Code> {
            let request = CreateRequest {
                session_id: self.session.clone(),
                task: Some(task.clone()),
                dispatch_id: dispatch.map(str::to_owned),
            };
            let outcome = self
                .sessions
                .create(&self.session, &request, Some(task), dispatch);
            outcome.map_err(|status| status.code())
        }

        fn update(&self, task: &Task, expected: i64) -> Result<i64, Code> {
            let request = UpdateRequest {
                session_id: self.session.clone(),
                task: Some(task.clone()),
                expected_version: expected,
                event: None,
                dispatch_id: None,
            };
            let outcome = self
                .sessions
                .update(&self.session, &request, Some(task), expected, None);
            outcome.map_err(|status| status.code())
        }

        fn settle(&self, id: &str, version: i64) -> Result<(), Code> {
            let outcome = self.sessions.settle(&self.session, id, version);
            outcome.map_err(|status| status.code())
        }
    }

    #[test]
    fn versions_grow_with_the_session_and_only_the_newest_can_be_replaced() {
        let world = World::new();
        assert_eq!(world.create(&task("a", TaskState::Submitted), None), Ok(1));
        assert_eq!(world.update(&task("a", TaskState::Working), 1), Ok(2));
        assert_eq!(
            world.update(&task("a", TaskState::Completed), 1),
            Err(Code::Aborted)
        );
        assert_eq!(
            world.update(&task("a", TaskState::Completed), 0),
            Err(Code::InvalidArgument)
        );
        assert_eq!(
            world.update(&task("b", TaskState::Working), 2),
            Err(Code::NotFound)
        );
        assert_eq!(world.update(&task("a", TaskState::Completed), 2), Ok(3));
        assert_eq!(world.settle("a", 2), Err(Code::Aborted));
        assert_eq!(world.settle("a", 3), Ok(()));
        assert_eq!(world.create(&task("b", TaskState::Submitted), None), Ok(4));
        assert_eq!(world.settle("b", 4), Err(Code::FailedPrecondition));
    }

    #[test]
    fn the_same_request_has_the_same_answer_also_when_others_came_between() {
        let world = World::new();
        let submitted = task("a", TaskState::Submitted);
        assert_eq!(world.create(&submitted, None), Ok(1));
        let working = task("a", TaskState::Working);
        assert_eq!(world.update(&working, 1), Ok(2));
        assert_eq!(world.update(&task("a", TaskState::InputRequired), 2), Ok(3));
        assert_eq!(world.create(&submitted, None), Ok(1));
        assert_eq!(world.update(&working, 1), Ok(2));
        assert_eq!(world.create(&working, None), Err(Code::AlreadyExists));
    }

    #[test]
    fn a_session_has_one_task_that_is_worked_on() {
        let world = World::new();
        assert_eq!(world.create(&task("a", TaskState::Submitted), None), Ok(1));
        assert_eq!(
            world.create(&task("b", TaskState::Submitted), None),
            Err(Code::Aborted)
        );
        assert_eq!(world.update(&task("a", TaskState::InputRequired), 1), Ok(2));
        // A boundary that is not settled is not public yet.
        assert_eq!(
            world.create(&task("b", TaskState::Submitted), None),
            Err(Code::Aborted)
        );
        assert_eq!(
            world.sessions.public("a").unwrap().state(),
            TaskState::Submitted
        );
        assert_eq!(world.settle("a", 2), Ok(()));
        assert_eq!(
            world.sessions.public("a").unwrap().state(),
            TaskState::InputRequired
        );
        assert_eq!(world.create(&task("b", TaskState::Submitted), None), Ok(3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_delivery_expires_unless_it_has_saved_something() {
        let world = World::new();
        let [late, early] = [0, 1].map(|_| world.sessions.dispatch(&world.session));
        assert_eq!(
            world.create(&task("a", TaskState::Submitted), Some(&early)),
            Ok(1)
        );
        assert_eq!(world.update(&task("a", TaskState::Completed), 1), Ok(2));
        assert_eq!(world.settle("a", 2), Ok(()));
        tokio::time::advance(RESERVED).await;
        let next = task("b", TaskState::Submitted);
        assert_eq!(world.create(&next, Some(&late)), Err(Code::Aborted));
        assert_eq!(world.create(&next, Some("unknown")), Err(Code::Aborted));
        assert_eq!(world.create(&next, Some(&early)), Ok(3));
        world.sessions.revoke(&early);
        let other = task("c", TaskState::Submitted);
        assert_eq!(world.create(&other, Some(&early)), Err(Code::Aborted));
    }

    #[test]
    fn another_session_is_as_good_as_none() {
        let world = World::new();
        let request = CreateRequest::default();
        let of = |session: &str| {
            let task = task("a", TaskState::Submitted);
            let outcome = world.sessions.create(session, &request, Some(&task), None);
            outcome.map_err(|status| status.code())
        };
        assert_eq!(
            of("00000000-0000-4000-8000-000000000000"),
            Err(Code::PermissionDenied)
        );
        assert_eq!(of("mine"), Err(Code::InvalidArgument));
    }
}
