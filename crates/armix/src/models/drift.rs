//! When debug builds hold what is fast against its plain twin.

use std::cell::Cell;

/// One check in so many is made: tests ask millions of times, and all of them would take a third of their time. A
/// prime, so that it falls in step with nothing.
const EVERY: u32 = 13;

/// Whether it is time for a costly check; never in release builds.
#[inline(always)]
pub(super) fn check_is_due() -> bool {
    cfg!(debug_assertions) && is_every_13th()
}

fn is_every_13th() -> bool {
    thread_local! { static ASKED: Cell<u32> = const { Cell::new(0) } }
    ASKED.with(|asked| {
        asked.set((asked.get() + 1) % EVERY);
        asked.get() == 1 // also the first time
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_due_now_and_then() {
        let due: Vec<bool> = (0..40).map(|_| check_is_due()).collect();
        let expected: Vec<bool> = (0..40).map(|asked| asked % EVERY == 0).collect();
        assert_eq!(due, expected);
    }
}
