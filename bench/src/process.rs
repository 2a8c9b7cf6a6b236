//! The processes: servers that are measured, and what the system says of them.

use std::fs;
use std::future::Future;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::{ALLOCATOR, Result};

/// Where a server listens: one line on its standard output.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Ready {
    pub(crate) http: String,
    pub(crate) grpc: String,
}

/// What the allocator of a process has done so far.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Allocations {
    pub(crate) count: u64,
    pub(crate) live: u64,
}

/// Runs the side that is measured: says where it listens, answers each line with its allocations, and ends with its
/// standard input.
pub(crate) fn server<S>(
    threads: &str,
    start: impl Future<Output = Result<(Ready, S)>>,
) -> Result<()> {
    let threads: usize = threads.parse()?;
    pin(0);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()?;
    // What is served lives as long as the process.
    let (ready, _served) = runtime.block_on(start)?;
    say(&serde_json::to_string(&ready)?)?;
    for line in std::io::stdin().lines() {
        line?;
        let stats = ALLOCATOR.stats();
        let allocations = Allocations {
            count: (stats.allocations + stats.reallocations) as u64,
            live: stats
                .bytes_allocated
                .saturating_sub(stats.bytes_deallocated) as u64,
        };
        say(&serde_json::to_string(&allocations)?)?;
    }
    runtime.shutdown_background();
    Ok(())
}

/// Runs the side that makes the load.
pub(crate) fn client(run: impl Future<Output = Result<()>>) -> Result<()> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(run)
}

fn say(line: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}

/// A server that runs.
pub(crate) struct Server {
    pub(crate) ready: Ready,
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Server {
    pub(crate) async fn start(kind: &str, threads: usize) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = command
            .args([kind, &threads.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = process.stdin.take().ok_or("no input")?;
        let output = process.stdout.take().ok_or("no output")?;
        let mut output = BufReader::new(output).lines();
        let line = tokio::time::timeout(START, output.next_line()).await??;
        let ready = serde_json::from_str(&line.ok_or("the server died")?)?;
        Ok(Self {
            ready,
            process,
            input,
            output,
        })
    }

    /// Nanoseconds on a processor, all threads together.
    pub(crate) fn cpu(&self) -> Result<u64> {
        let mut total = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.id()?))? {
            let path = task?.path().join("schedstat");
            // A thread may have ended meanwhile.
            let Ok(text) = fs::read_to_string(path) else {
                continue;
            };
            let time = text.split_whitespace().next().unwrap_or("0");
            total += time.parse::<u64>()?;
        }
        Ok(total)
    }

    /// Bytes in memory.
    pub(crate) fn resident(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.split_whitespace().next());
        Ok(kibibytes.ok_or("no VmRSS")?.parse::<u64>()? * 1024)
    }

    pub(crate) async fn allocations(&mut self) -> Result<Allocations> {
        self.input.write_all(b"\n").await?;
        let line = self.output.next_line().await?;
        Ok(serde_json::from_str(&line.ok_or("the server died")?)?)
    }

    fn id(&self) -> Result<u32> {
        Ok(self.process.id().ok_or("the server has ended")?)
    }
}

/// Keeps this process on one processor, so that the other is left to whoever it talks to; whether that could be done. To
/// be called while there is one thread, which hands it on to those that it starts.
pub(crate) fn pin(processor: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_setaffinity};

        let mut set = CpuSet::new();
        set.set(processor);
        // It fails where there is no such processor.
        sched_setaffinity(None, &set).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = processor;
        false
    }
}

const START: Duration = Duration::from_secs(20);
