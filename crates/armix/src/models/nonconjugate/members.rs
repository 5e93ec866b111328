//! Who sits in which slot, as linked lists: a leader who leaves makes it necessary to ask all others.

/// Nobody, in place of an item.
pub(super) const NOBODY: u32 = u32::MAX;

/// The items of each slot, in no meaningful order.
#[derive(Debug, Default)]
pub(super) struct Members {
    first: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Members {
    /// No slots, and n items that sit nowhere.
    pub(super) fn new(n: usize) -> Self {
        Members { first: Vec::new(), next: vec![NOBODY; n], previous: vec![NOBODY; n] }
    }

    pub(super) fn copy_from(&mut self, other: &Members) {
        self.first.clone_from(&other.first);
        self.next.clone_from(&other.next);
        self.previous.clone_from(&other.previous);
    }

    pub(super) fn grow(&mut self, slots: usize) {
        if self.first.len() < slots {
            self.first.resize(slots, NOBODY);
        }
    }

    pub(super) fn of(&self, slot: usize) -> impl Iterator<Item = u32> + Clone {
        let some = |item: u32| (item != NOBODY).then_some(item);
        std::iter::successors(some(self.first[slot]), move |&item| some(self.next[item as usize]))
    }

    pub(super) fn insert(&mut self, item: u32, slot: usize) {
        let next = std::mem::replace(&mut self.first[slot], item);
        self.next[item as usize] = next;
        self.previous[item as usize] = NOBODY;
        if next != NOBODY {
            self.previous[next as usize] = item;
        }
    }

    pub(super) fn remove(&mut self, item: u32, slot: usize) {
        let (previous, next) = (self.previous[item as usize], self.next[item as usize]);
        match previous {
            NOBODY => self.first[slot] = next,
            _ => self.next[previous as usize] = next,
        }
        if next != NOBODY {
            self.previous[next as usize] = previous;
        }
    }
}
