//! The table that a run prints.

use a2a_proto::Binding;

use crate::measure::Both;

/// What a number is to come to.
#[derive(Clone, Copy)]
pub(crate) enum Aim {
    /// At most so many times the floor.
    Ratio(f64),
    /// At most so many, of the agent alone.
    Most(f64),
    None,
}

pub(crate) struct Report {
    missed: usize,
}

impl Report {
    pub(crate) fn begin() -> Self {
        println!(
            "{:<44} {:<10} {:>12} {:>12} {:>7} {:>9}",
            "", "", "agent", "floor", "ratio", "aim"
        );
        Self { missed: 0 }
    }

    pub(crate) fn line(&mut self, what: &str, binding: Binding, unit: Unit, both: Both, aim: Aim) {
        let ratio = both.ours / both.floor;
        let (shown, met) = match aim {
            Aim::Ratio(most) => (format!("{most:.2}x"), ratio <= most),
            Aim::Most(most) => (unit.show(most), both.ours <= most),
            Aim::None => (String::new(), true),
        };
        self.missed += usize::from(!met);
        println!(
            "{what:<44} {:<10} {:>12} {:>12} {ratio:>6.2}x {shown:>9} {}",
            binding.name(),
            unit.show(both.ours),
            unit.show(both.floor),
            if met { "" } else { "MISSED" },
        );
    }

    pub(crate) fn close(&self) {
        match self.missed {
            0 => println!("every aim is met"),
            missed => println!("{missed} aims are missed"),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Nanoseconds,
    Bytes,
    Times,
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::Nanoseconds => format!("{:.2} us", value / 1000.0),
            Self::Bytes => format!("{:.1} KiB", value / 1024.0),
            Self::Times => format!("{value:.1}"),
        }
    }
}
