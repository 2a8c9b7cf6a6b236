//! What goes wrong between an agent and its task store, as a test wants it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use a2a_server::testing::Signal;
use tonic::{Code, Status};

use super::StoreMethod;

/// What becomes of a call of the task store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoreFault {
    /// It is refused with this code, and nothing is done.
    Refused(Code),
    /// It is done, and the answer is lost: the caller is told UNAVAILABLE.
    AnswerLost,
    /// It waits until the test lets it go on.
    Held(Signal),
}

/// The faults that are still to come.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<VecDeque<(StoreMethod, StoreFault)>>);

impl Faults {
    pub(super) fn push(&self, method: StoreMethod, fault: StoreFault) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back((method, fault));
    }

    /// Does what is to be done before the call, and says what is to be done behind it.
    pub(super) async fn before(&self, method: StoreMethod) -> Result<Behind, Status> {
        match self.take(method) {
            None => Ok(Behind::Answer),
            Some(StoreFault::Refused(code)) => Err(Status::new(code, "as the test wants it")),
            Some(StoreFault::AnswerLost) => Ok(Behind::Lose),
            Some(StoreFault::Held(signal)) => {
                signal.wait().await;
                Ok(Behind::Answer)
            }
        }
    }

    fn take(&self, method: StoreMethod) -> Option<StoreFault> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = faults.iter().position(|(of, _)| *of == method)?;
        faults.remove(index).map(|(_, fault)| fault)
    }
}

/// What becomes of the answer.
pub(super) enum Behind {
    Answer,
    Lose,
}

impl Behind {
    pub(super) fn answer<T>(self, answer: Result<T, Status>) -> Result<T, Status> {
        match self {
            Self::Answer => answer,
            Self::Lose => Err(Status::unavailable(
                "the answer is lost, as the test wants it",
            )),
        }
    }
}
