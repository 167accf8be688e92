//! Which zones give endpoints away, and to which.

use crate::allocation::{Allocations, count_as_float};

/// How many endpoints each zone still gives and receives, by position in the allocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quotas {
    pub(crate) give: Vec<usize>,
    pub(crate) receive: Vec<usize>,
}

impl Quotas {
    /// Turns fractions of endpoints into whole ones (TP-10).
    ///
    /// The zone with the greatest surplus gives one to the zone with the greatest deficit, over and over, as long as
    /// that improves matters by more than leaving an endpoint to its own zone is worth. The first by name wins a tie.
    pub(crate) fn new(allocations: &Allocations, hinted: &[usize]) -> Quotas {
        let surplus = |(allocation, hinted): (&crate::allocation::Allocation, &usize)| {
            count_as_float(*hinted) - allocation.desired
        };
        Quotas::from_surplus(allocations.as_slice().iter().zip(hinted).map(surplus).collect())
    }

    /// The same, of what each zone has too much.
    fn from_surplus(mut surplus: Vec<f64>) -> Quotas {
        let mut quotas = Quotas { give: vec![0; surplus.len()], receive: vec![0; surplus.len()] };
        let mut deficit: Vec<f64> = surplus.iter().map(|it| -it).collect();
        while let (Some(giver), Some(receiver)) = (greatest(&surplus), greatest(&deficit)) {
            let (most, least) = (surplus[giver].max(deficit[receiver]), surplus[giver].min(deficit[receiver]));
            if most < 1.0 || least < 0.5 {
                break;
            }
            quotas.give[giver] += 1;
            surplus[giver] -= 1.0;
            quotas.receive[receiver] += 1;
            deficit[receiver] -= 1.0;
        }
        quotas
    }

    /// Takes one from what zone `giver` still gives and returns the zone it goes to, the first by name that still
    /// receives; `None` if it gives no more or nobody receives.
    pub(crate) fn take(&mut self, giver: usize) -> Option<usize> {
        let left = self.give[giver].checked_sub(1)?;
        let receiver = self.receive.iter().position(|left| *left > 0)?;
        self.give[giver] = left;
        self.receive[receiver] -= 1;
        Some(receiver)
    }

    /// Whether nothing is left to give.
    pub(crate) fn is_done(&self) -> bool {
        self.give.iter().all(|left| *left == 0)
    }
}

/// The first of the greatest values above zero.
fn greatest(values: &[f64]) -> Option<usize> {
    let mut found: Option<usize> = None;
    for (position, value) in values.iter().enumerate() {
        if *value > found.map_or(0.0, |at| values[at]) {
            found = Some(position);
        }
    }
    found
}
