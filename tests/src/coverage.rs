//! COVERAGE.md and WIRE_FACTS.md are true: every requirement and every fact has its row, and what a row names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const COVERAGE: &str = include_str!("../COVERAGE.md");
const WIRE_FACTS: &str = include_str!("../interop/WIRE_FACTS.md");
const CONTRACT: &str = include_str!("../interop/README.md");
const REQUIREMENTS: &str = include_str!("../data/requirements.txt");

/// The facts of which a part is left out or decided otherwise, or of which a peer's own fault is all there is to say.
const REMARKED: [&str; 8] = ["W2", "W6", "W9", "W30", "W38", "W40", "W52", "W60"];

struct Row<'a> {
    id: &'a str,
    /// The side of a requirement; the cases of the interop matrix for a wire fact.
    second: &'a str,
    tests: Vec<&'a str>,
    remark: &'a str,
}

fn rows(table: &str) -> Vec<Row<'_>> {
    let lines = table.lines().filter(|line| line.starts_with("| "));
    let rows = lines.skip(1).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" |").map(str::trim).collect();
        let [id, second, tests, remark] = cells[..] else {
            panic!("not four cells: {line}");
        };
        Row {
            id,
            second,
            tests: tests
                .split('`')
                .filter(|name| !name.trim().is_empty())
                .collect(),
            remark,
        }
    });
    rows.collect()
}

/// The names of the functions in all sources of the workspace that tests are written in.
fn functions() -> BTreeSet<String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace");
    let mut names = BTreeSet::new();
    for member in [
        "a2a-proto",
        "a2a-client",
        "a2a-server",
        "kagent-ext",
        "examples",
        "tests",
    ] {
        for path in sources(&workspace.join(member)) {
            let source = fs::read_to_string(&path).expect("a source is UTF-8");
            let found = source.split("fn ").skip(1).filter_map(|rest| {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
                rest[end..].starts_with('(').then(|| rest[..end].to_owned())
            });
            names.extend(found);
        }
    }
    names
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the workspace") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("generated") && !path.ends_with("target") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_requirement_has_one_row_with_tests_or_a_reason() {
    let rows = rows(COVERAGE);
    let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
    let required: Vec<&str> = REQUIREMENTS.lines().collect();
    assert_eq!(ids, required);
    let empty = rows
        .iter()
        .filter(|row| row.tests.is_empty() && row.remark.is_empty());
    assert_eq!(empty.map(|row| row.id).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_test_that_a_row_names_exists() {
    let functions = functions();
    for row in rows(COVERAGE).into_iter().chain(rows(WIRE_FACTS)) {
        for test in row.tests {
            assert!(
                functions.contains(test),
                "{}: there is no test `{test}`",
                row.id
            );
        }
    }
}

#[test]
fn every_wire_fact_has_one_row_whose_cases_exist() {
    let rows = rows(WIRE_FACTS);
    let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
    let facts: Vec<String> = (1..=61).map(|number| format!("W{number}")).collect();
    assert_eq!(ids, facts);
    for row in rows {
        let number = row.id.to_lowercase();
        let named = row
            .tests
            .iter()
            .any(|test| test.split('_').any(|word| word == number));
        assert!(named, "{}: no test has its number in its name", row.id);
        assert!(
            row.remark.is_empty() || REMARKED.contains(&row.id),
            "{}: what may be left out stands in this test",
            row.id
        );
        for case in row.second.split_whitespace() {
            assert!(
                CONTRACT.contains(&format!("`{case}`")),
                "{}: no case {case}",
                row.id
            );
        }
    }
}
