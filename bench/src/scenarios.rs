//! What is measured, and what it is to come to.

use a2a_client::{Client, EventStream};
use a2a_proto::Binding;
use futures::future::{try_join, try_join_all};

use crate::load::{caller, read, send};
use crate::measure::{Both, Pair, cost, latencies, percentile};
use crate::process::Server;
use crate::report::{Aim, Report, Unit};
use crate::{Result, persist, same};

/// How much is done: enough for figures, or just enough to see that it works.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Full,
    Smoke,
}

impl Size {
    fn of(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Smoke => full.div_ceil(100),
        }
    }

    fn rounds(self) -> usize {
        match self {
            Self::Full => 5,
            Self::Smoke => 1,
        }
    }
}

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];

/// The aim for JSON over HTTP, and that for gRPC.
fn aim(binding: Binding, json: f64, grpc: f64) -> Aim {
    Aim::Ratio(match binding {
        Binding::Grpc => grpc,
        Binding::JsonRpc | Binding::HttpJson => json,
    })
}

pub(crate) async fn run(size: Size, is_pinned: bool) -> Result<()> {
    match is_pinned {
        true => println!("servers on the first processor, who calls them on the second"),
        false => println!("not pinned: there is one processor, or the system can't"),
    }
    println!(
        "medians of {} rounds; processor time of the whole server, and real time of one caller\n",
        size.rounds()
    );
    let mut report = Report::begin();
    for binding in BINDINGS {
        same::check(binding).await?;
        unary(&mut report, size, binding).await?;
        streams(&mut report, size, binding).await?;
        readers(&mut report, size, binding).await?;
        stored(&mut report, size, binding).await?;
        idle(&mut report, size, binding).await?;
        finished(&mut report, size, binding).await?;
    }
    one_thread(size).await?;
    persist::print().await?;
    println!();
    report.close();
    Ok(())
}

async fn unary(report: &mut Report, size: Size, binding: Binding) -> Result<()> {
    let mut pair = Pair::start(2).await?;
    let small = "x".repeat(64);
    let large = "x".repeat(64 << 10);
    for (what, text, count, most) in [
        ("a call of 64 B", &small, 2000, aim(binding, 1.7, 1.3)),
        ("a call of 64 KiB", &large, 300, aim(binding, 1.4, 2.0)),
    ] {
        let count = size.of(count);
        let both = pair.rounds(size.rounds(), async |server| {
            let client = caller(server, binding)?;
            cost(server, count, concurrently(&client, count, text)).await
        });
        report.line(what, binding, Unit::Nanoseconds, both.await?, most);
    }
    let count = size.of(1000);
    let both = Both {
        ours: allocations(&mut pair.ours, binding, count, &small).await?,
        floor: allocations(&mut pair.floor, binding, count, &small).await?,
    };
    report.line("  its allocations", binding, Unit::Times, both, Aim::None);
    for (what, share, most) in [
        ("one caller, p50", 0.5, Aim::Ratio(1.2)),
        ("one caller, p99", 0.99, Aim::None),
    ] {
        let both = pair.rounds(size.rounds(), async |server| {
            let client = caller(server, binding)?;
            let took = latencies(count, async || send(&client, &small).await.map(drop)).await?;
            Ok(percentile(&took, share))
        });
        report.line(what, binding, Unit::Nanoseconds, both.await?, most);
    }
    Ok(())
}

/// Eight callers at once on one client.
async fn concurrently(client: &Client, count: usize, text: &str) -> Result<()> {
    let share = count.div_ceil(8);
    let callers = (0..8).map(|_| async {
        for _ in 0..share {
            send(client, text).await?;
        }
        Result::Ok(())
    });
    try_join_all(callers).await.map(drop)
}

async fn allocations(
    server: &mut Server,
    binding: Binding,
    count: usize,
    text: &str,
) -> Result<f64> {
    let client = caller(server, binding)?;
    send(&client, text).await?;
    let before = server.allocations().await?;
    for _ in 0..count {
        send(&client, text).await?;
    }
    let after = server.allocations().await?;
    Ok((after.count - before.count) as f64 / count as f64)
}

async fn streams(report: &mut Report, size: Size, binding: Binding) -> Result<()> {
    let pair = Pair::start(2).await?;
    let per_event = async |chunks: usize, repeats: usize| {
        pair.rounds(size.rounds(), async |server| {
            let client = caller(server, binding)?;
            let text = format!("stream {chunks}");
            cost(server, chunks * repeats, async {
                for _ in 0..repeats {
                    read(client.stream_text(text.as_str()).await?).await?;
                }
                Ok(())
            })
            .await
        })
        .await
    };
    let burst = per_event(256, size.of(100)).await?;
    let most = aim(binding, 2.2, 4.0);
    report.line(
        "an event of a burst of 256",
        binding,
        Unit::Nanoseconds,
        burst,
        most,
    );
    // What the last two thousand of ten thousand cost, and what two thousand alone do: both sides are the agent's.
    let (short, most_of, long) = (
        per_event(2000, size.of(20)).await?.ours,
        per_event(8000, size.of(6)).await?.ours,
        per_event(10_000, size.of(6)).await?.ours,
    );
    let (all, before) = (long * 10.0, most_of * 8.0);
    let flat = Both {
        ours: (all - before) / 2.0,
        floor: short,
    };
    report.line(
        "the last 2,000 of 10,000 events, the first",
        binding,
        Unit::Nanoseconds,
        flat,
        Aim::Ratio(1.2),
    );
    let count = size.of(200);
    let both = pair.rounds(size.rounds(), async |server| {
        let client = caller(server, binding)?;
        cost(server, count, concurrently(&client, count, "stream 256")).await
    });
    let most = aim(binding, 5.0, 4.0);
    report.line(
        "a blocking call of 256 chunks",
        binding,
        Unit::Nanoseconds,
        both.await?,
        most,
    );
    Ok(())
}

const TASKS: usize = 24;
const READERS: usize = 9;

/// Many readers of many tasks, per event that is read.
async fn readers(report: &mut Report, size: Size, binding: Binding) -> Result<()> {
    let pair = Pair::start(2).await?;
    let chunks = size.of(256);
    // Opening the streams counts on both sides.
    let events = TASKS * READERS * chunks;
    let ours = async |server: &Server| {
        let client = caller(server, binding)?;
        cost(server, events, async {
            let mut open = Vec::new();
            for _ in 0..TASKS {
                let mut stream = client.stream_text(format!("gated {chunks}")).await?;
                let first = stream.next().await.ok_or("no event")??;
                let id = first.task_id().to_owned();
                // It waits at its gate once it says that it works.
                stream.next().await.ok_or("no event")??;
                open.push(stream);
                for _ in 1..READERS {
                    open.push(client.subscribe_to_task(id.as_str()).await?);
                }
            }
            try_join(send(&client, "open"), read_all(open)).await?;
            Ok(())
        })
        .await
    };
    let floor = async |server: &Server| {
        let client = caller(server, binding)?;
        let text = format!("stream {chunks}");
        cost(server, events, async {
            let opening = (0..TASKS * READERS).map(|_| client.stream_text(text.as_str()));
            let open = try_join_all(opening).await?;
            read_all(open).await
        })
        .await
    };
    let is_ours = |server: &Server| server.ready.http == pair.ours.ready.http;
    let both = pair.rounds(size.rounds(), async |server| match is_ours(server) {
        true => ours(server).await,
        false => floor(server).await,
    });
    let what = "an event of 24 tasks with 9 readers each";
    report.line(
        what,
        binding,
        Unit::Nanoseconds,
        both.await?,
        aim(binding, 1.15, 1.0),
    );
    Ok(())
}

async fn read_all(streams: Vec<EventStream>) -> Result<()> {
    try_join_all(streams.into_iter().map(read)).await.map(drop)
}

async fn stored(report: &mut Report, size: Size, binding: Binding) -> Result<()> {
    let pair = Pair::start(2).await?;
    let count = size.of(500);
    let both = pair.rounds(size.rounds(), async |server| {
        let client = caller(server, binding)?;
        let id = send(&client, "artifacts 100").await?.id;
        cost(server, count, async {
            for _ in 0..count {
                client.get_task(id.as_str()).await?;
            }
            Ok(())
        })
        .await
    });
    let what = "GetTask with 100 artifacts";
    report.line(
        what,
        binding,
        Unit::Nanoseconds,
        both.await?,
        aim(binding, 1.2, 1.1),
    );
    Ok(())
}

/// Memory of streams on which nothing happens.
async fn idle(report: &mut Report, size: Size, binding: Binding) -> Result<()> {
    let pair = Pair::start(2).await?;
    let count = size.of(500);
    let each = async |server: &Server| {
        // More than a connection takes are spread over several.
        let clients = (0..4)
            .map(|_| caller(server, binding))
            .collect::<Result<Vec<_>>>()?;
        let mut open = Vec::new();
        let mut before = 0;
        for index in 0..count + 50 {
            if index == 50 {
                before = server.resident()?;
            }
            let client = clients.get(index % 4).ok_or("no client")?;
            let mut stream = client.stream_text("idle").await?;
            stream.next().await.ok_or("no event")??;
            open.push(stream);
        }
        Ok::<f64, Box<dyn std::error::Error + Send + Sync>>(
            server.resident()?.saturating_sub(before) as f64 / count as f64,
        )
    };
    let both = Both {
        ours: each(&pair.ours).await?,
        floor: each(&pair.floor).await?,
    };
    let most = match binding {
        Binding::Grpc => 12.0,
        Binding::JsonRpc | Binding::HttpJson => 28.0,
    };
    report.line(
        "memory of an idle stream",
        binding,
        Unit::Bytes,
        both,
        Aim::Most(most * 1024.0),
    );
    Ok(())
}

/// What a finished task goes on holding.
async fn finished(report: &mut Report, size: Size, binding: Binding) -> Result<()> {
    let mut pair = Pair::start(2).await?;
    let text = "x".repeat(64 << 10);
    let count = size.of(300);
    let mut held = Vec::new();
    for server in [&mut pair.ours, &mut pair.floor] {
        let client = caller(server, binding)?;
        send(&client, &text).await?;
        let before = server.allocations().await?.live;
        for _ in 0..count {
            send(&client, &text).await?;
        }
        let after = server.allocations().await?.live;
        held.push(after.saturating_sub(before) as f64 / count as f64);
    }
    let both = Both {
        ours: held.first().copied().unwrap_or_default(),
        floor: held.last().copied().unwrap_or_default(),
    };
    let what = "memory of a finished echo of 64 KiB";
    report.line(what, binding, Unit::Bytes, both, Aim::Most(140.0 * 1024.0));
    Ok(())
}

/// A burst of ten thousand on a server with one thread loses nothing.
async fn one_thread(size: Size) -> Result<()> {
    let server = Server::start("agent", 1).await?;
    let chunks = size.of(10_000);
    println!();
    for binding in BINDINGS {
        let client = caller(&server, binding)?;
        let task = client
            .stream_text(format!("stream {chunks}"))
            .await?
            .into_task()
            .await?;
        let parts = task
            .artifacts
            .first()
            .map_or(0, |artifact| artifact.parts.len());
        // The end of the text is one more part, with nothing in it.
        let lost = (chunks + 1).saturating_sub(parts);
        println!(
            "a burst of {chunks} with one thread over {}: {lost} lost",
            binding.name()
        );
        if lost > 0 {
            return Err("events were lost".into());
        }
    }
    Ok(())
}
