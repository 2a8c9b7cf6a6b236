//! Any two of what can happen to a task, at once: one end, which everybody sees.

use a2a_proto::v1::{Task, TaskState};
use a2a_proto::{A2aError, ErrorCode};

use super::{Gate, agent};
use crate::harness::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Answer,
    Cancel,
    Complete,
    Fail,
    Shutdown,
    Subscribe,
}

impl Move {
    const ALL: [Self; 6] = [
        Self::Answer,
        Self::Cancel,
        Self::Complete,
        Self::Fail,
        Self::Shutdown,
        Self::Subscribe,
    ];

    /// Makes it after so many turns of the others.
    async fn make(
        self,
        peer: &Peer,
        gate: &Gate,
        id: &str,
        turns: u32,
    ) -> Option<Result<Told, A2aError>> {
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        match self {
            Self::Answer => Some(peer.run(answer(id, "this")).await.map(Told::Task)),
            Self::Cancel => Some(peer.cancel(id).await.map(Told::Task)),
            Self::Complete => {
                gate.complete.notify_one();
                None
            }
            Self::Fail => {
                gate.fail.notify_one();
                None
            }
            Self::Shutdown => {
                peer.shutdown().await;
                None
            }
            Self::Subscribe => Some(peer.subscribe(id).await.map(Told::Stream)),
        }
    }
}

/// What a move was answered with.
enum Told {
    Task(Task),
    /// To be read to its end once the task has one.
    Stream(Events),
}

impl Told {
    async fn task(self) -> Result<Task, A2aError> {
        match self {
            Self::Task(task) => Ok(task),
            Self::Stream(events) => events.fold().await,
        }
    }
}

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).unwrap_or_default() % sides
    }
}

/// Brings two moves on a task that begins like that.
async fn round(begin: &str, moves: [Move; 2], dice: &mut Dice) {
    let what = format!("{begin}: {moves:?}");
    let gate = Gate::default();
    let peer = Via::Direct.serve(agent(&gate)).await;
    let first = match begin {
        "gate" => TaskState::Working,
        _ => TaskState::InputRequired,
    };
    let mut events = peer.stream(ask(begin)).await.unwrap();
    let id = events.snapshot().await.id;
    events.until(first).await;
    let turns = [dice.roll(12), dice.roll(12)];
    let [one, two] = [0, 1].map(|index| moves[index].make(&peer, &gate, &id, turns[index]));
    let follow = async {
        let mut last = Some(first);
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => {
                    assert!(
                        !last.is_some_and(TaskState::is_terminal),
                        "{what}: an event behind the end"
                    );
                    last = event.state().or(last);
                }
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::Unavailable, "{what}");
                    return None;
                }
            }
        }
        last
    };
    let finish = async {
        let (one, two) = tokio::join!(one, two);
        // Whatever did not end the task is ended here, so that all readers end.
        let is_over = peer
            .get(&id)
            .await
            .is_ok_and(|task| task.state().is_terminal());
        if !is_over {
            let _ = peer.cancel(&id).await;
        }
        let mut told = Vec::new();
        for answer in [one, two].into_iter().flatten() {
            told.push(match answer {
                Ok(answer) => answer.task().await,
                Err(error) => Err(error),
            });
        }
        told
    };
    let (answers, last) = tokio::join!(Box::pin(finish), follow);
    let stored = peer.get(&id).await;
    let Ok(stored) = stored else {
        // Shut down: what is stored is looked at below the engine in another test.
        assert!(moves.contains(&Move::Shutdown), "{what}: {stored:?}");
        return;
    };
    let shuts_down = moves.contains(&Move::Shutdown);
    assert!(
        stored.state().is_terminal() || shuts_down,
        "{what}: {:?}",
        stored.state()
    );
    // A stream that began before the pause ends at the pause.
    if begin == "gate"
        && let Some(last) = last
    {
        assert_eq!(last, stored.state(), "{what}: the reader saw another end");
    }
    for answer in answers {
        match answer {
            Ok(task) if task.state().is_terminal() => {
                assert_eq!(
                    task.state(),
                    stored.state(),
                    "{what}: an answer tells another end"
                );
            }
            Ok(_) => {}
            Err(error) => assert!(
                matches!(
                    error.code(),
                    ErrorCode::UnsupportedOperation
                        | ErrorCode::TaskNotCancelable
                        | ErrorCode::Unavailable
                ),
                "{what}: {error}"
            ),
        }
    }
}

async fn all_pairs(begin: &str, possible: impl Fn(Move) -> bool) {
    let mut dice = Dice(0x5eed);
    for (index, one) in Move::ALL.into_iter().enumerate() {
        for two in Move::ALL.into_iter().skip(index) {
            if !possible(one) || !possible(two) {
                continue;
            }
            for _ in 0..ROUNDS {
                let round = round(begin, [one, two], &mut dice);
                let limit = std::time::Duration::from_secs(60);
                let hangs = tokio::time::timeout(limit, Box::pin(round)).await;
                hangs.unwrap_or_else(|_| panic!("{begin}: {one:?} and {two:?} hang"));
            }
        }
    }
}

const ROUNDS: usize = 1_000;

#[tokio::test]
async fn all_pairs_of_moves_on_a_running_task() {
    all_pairs("gate", |_| true).await;
}

#[tokio::test]
async fn all_pairs_of_moves_on_a_parked_task() {
    all_pairs("pause", |chosen| {
        !matches!(chosen, Move::Complete | Move::Fail)
    })
    .await;
}
