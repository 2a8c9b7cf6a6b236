use serde::Deserialize;
use tempfile::TempDir;

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Plan {
    steps: Vec<String>,
}

fn plan(step: &str) -> Plan {
    Plan {
        steps: vec![step.to_owned()],
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![directory.to_owned()];
    while let Some(directory) = ahead.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => ahead.push(path),
                false => found.push(path),
            }
        }
    }
    found
}

#[tokio::test]
async fn state_is_there_for_the_next_process_and_for_its_context_only() {
    let directory = TempDir::new().unwrap();
    let first = ContextState::in_directory(directory.path(), "plans");
    assert_eq!(first.load("a").await.unwrap(), None);
    first.save("a", &plan("one")).await.unwrap();
    first.save("a", &plan("two")).await.unwrap();

    let second = ContextState::<Plan>::in_directory(directory.path(), "plans");
    assert_eq!(second.load("a").await.unwrap(), Some(plan("two")));
    assert_eq!(second.load("b").await.unwrap(), None);
    let other = ContextState::<Plan>::in_directory(directory.path(), "other");
    assert_eq!(other.load("a").await.unwrap(), None);

    second.remove("a").await.unwrap();
    second.remove("a").await.unwrap();
    assert_eq!(first.load("a").await.unwrap(), None);
    assert_eq!(files(directory.path()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn memory_alone_does_the_same() {
    let state = ContextState::in_memory();
    state.save("a", &plan("one")).await.unwrap();
    assert_eq!(state.clone().load("a").await.unwrap(), Some(plan("one")));
    state.remove("a").await.unwrap();
    assert_eq!(state.load("a").await.unwrap(), None);
}

#[tokio::test]
async fn a_continuation_is_taken_once() {
    let directory = TempDir::new().unwrap();
    let plans = Continuation::in_directory(directory.path(), "plans");
    plans.save("t", &plan("one")).await.unwrap();
    assert_eq!(plans.load("t").await.unwrap(), Some(plan("one")));
    let again = Continuation::<Plan>::in_directory(directory.path(), "plans");
    assert_eq!(again.take("t").await.unwrap(), Some(plan("one")));
    assert_eq!(again.take("t").await.unwrap(), None);
}

#[tokio::test]
async fn a_damaged_file_is_named_and_stays() {
    let directory = TempDir::new().unwrap();
    let plans = Continuation::<Plan>::in_directory(directory.path(), "plans");
    plans.save("t", &plan("one")).await.unwrap();
    let file = files(directory.path()).remove(0);
    let whole = std::fs::read(&file).unwrap();
    for damaged in [
        &b""[..],
        b"{",
        &whole[..whole.len() - 3],
        b"{\"version\":1,\"id\":\"t\",\"state\":7}",
    ] {
        std::fs::write(&file, damaged).unwrap();
        let error = plans.take("t").await.unwrap_err();
        assert!(
            matches!(&error, MemoryError::Corrupt { path, .. } if *path == file),
            "{error}"
        );
        assert_eq!(std::fs::read(&file).unwrap(), damaged);
    }
    std::fs::write(
        &file,
        br#"{"version":1,"id":"another","state":{"steps":[]}}"#,
    )
    .unwrap();
    let error = plans.load("t").await.unwrap_err().to_string();
    assert!(error.contains("`another`"), "{error}");
}

#[tokio::test]
async fn what_a_newer_agent_wrote_is_refused_and_what_an_older_one_wrote_is_read() {
    let directory = TempDir::new().unwrap();
    let newer = ContextState::in_directory(directory.path(), "plans").with_version(3);
    newer.save("a", &plan("one")).await.unwrap();
    let older = ContextState::<Plan>::in_directory(directory.path(), "plans").with_version(2);
    let error = older.load("a").await.unwrap_err();
    assert!(
        matches!(
            &error,
            MemoryError::Newer {
                found: 3,
                known: 2,
                ..
            }
        ),
        "{error}"
    );
    older.save("b", &plan("two")).await.unwrap();
    assert_eq!(newer.load("b").await.unwrap(), Some(plan("two")));
}

#[tokio::test]
async fn no_id_leads_out_of_the_directory_or_into_the_file_of_another() {
    let directory = TempDir::new().unwrap();
    let below = directory.path().join("below");
    let state = ContextState::in_directory(&below, "../x");
    let long = "l".repeat(400);
    let ids = [
        "a",
        "A",
        "%61",
        "a/b",
        "..",
        ".",
        "../../etc/passwd",
        "a\0b",
        "ä",
        "con",
        &long,
        &long[1..],
        &long[..180],
        "a.json",
        "a+",
    ];
    for (number, id) in ids.iter().enumerate() {
        state.save(id, &number).await.unwrap();
    }
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(state.load(id).await.unwrap(), Some(number), "{id}");
    }
    let all = files(directory.path());
    assert_eq!(all.len(), ids.len());
    assert!(all.iter().all(|file| file.starts_with(&below)), "{all:?}");
    assert!(matches!(state.load("").await, Err(MemoryError::EmptyId)));
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_agent_may_read_its_state() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = TempDir::new().unwrap();
    let state = ContextState::in_directory(directory.path(), "plans");
    state.save("a", &plan("one")).await.unwrap();
    let file = files(directory.path()).remove(0);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn what_cannot_be_written_is_an_error_and_the_state_before_stays() {
    let directory = TempDir::new().unwrap();
    let blocked = directory.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let state = ContextState::in_directory(&blocked, "plans");
    let error = state.save("a", &plan("one")).await.unwrap_err();
    assert!(
        matches!(
            error,
            MemoryError::Io {
                doing: "written",
                ..
            }
        ),
        "{error}"
    );

    let state = ContextState::in_directory(directory.path(), "plans");
    state.save("a", &plan("one")).await.unwrap();
    let file = files(directory.path())
        .into_iter()
        .find(|file| *file != blocked)
        .unwrap();
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    state.save("a", &plan("two")).await.unwrap_err();
    let left: Vec<_> = files(directory.path())
        .into_iter()
        .filter(|left| *left != blocked)
        .collect();
    assert_eq!(
        left,
        Vec::<PathBuf>::new(),
        "what was written beside is gone"
    );
}

/// The process that [`a_kill_in_the_middle_of_a_write_leaves_a_whole_state`] kills.
#[tokio::test]
async fn writes_for_ever_where_it_is_told_to() {
    let Some(directory) = std::env::var_os("KAGENT_EXT_TEST_WRITE_IN") else {
        return;
    };
    let state = ContextState::in_directory(directory, "plans");
    for number in 0..1_000_000 {
        let steps = vec![format!("{number} "); 5_000];
        state.save("a", &Plan { steps }).await.unwrap();
        println!("{number} is saved");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_kill_in_the_middle_of_a_write_leaves_a_whole_state() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    for round in 0..10 {
        let directory = TempDir::new().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "memory::tests::writes_for_ever_where_it_is_told_to",
                "--nocapture",
            ])
            .env("KAGENT_EXT_TEST_WRITE_IN", directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let is_saved = |line: &String| line.ends_with("is saved");
        let saved = lines.by_ref().filter(is_saved).nth(2 + round).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let last = lines.filter(is_saved).last().unwrap_or(saved);
        let last: u64 = last.split(' ').next().unwrap().parse().unwrap();

        let state = ContextState::<Plan>::in_directory(directory.path(), "plans");
        let plan = state.load("a").await.unwrap().unwrap();
        assert_eq!(plan.steps.len(), 5_000);
        assert!(plan.steps.iter().all(|step| *step == plan.steps[0]));
        let found: u64 = plan.steps[0].trim().parse().unwrap();
        assert!(found >= last, "{last} was saved, {found} is there");
        state.save("a", &plan).await.unwrap();
        assert_eq!(
            files(directory.path()).len(),
            1,
            "nothing of the killed process is left"
        );
    }
}
