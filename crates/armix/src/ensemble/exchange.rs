//! How processes that share a run talk to each other, and which chains each of them has.

use crate::run::Settings;
use std::ops::Range;

/// What the processes of a run need of each other. All of them call the same functions in the same
/// order. Rank 0 is the one that watches, saves and decides; messages are plain bytes.
pub trait Exchange {
    /// The place of this process, from 0 on.
    fn rank(&self) -> usize;

    /// The number of processes.
    fn ranks(&self) -> usize;

    /// Forms groups, once, before anything is shared. Whoever is in none leaves, and is not
    /// waited for from now on; these are the last ranks.
    fn group(&mut self, group: Option<usize>);

    /// Everybody's bytes to everybody in the same group, and to rank 0; in any order.
    fn share(&self, own: Vec<u8>) -> Vec<Vec<u8>>;

    /// Everybody's bytes to rank 0, in order of ranks; nothing to the others.
    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>>;

    /// The bytes of rank 0 to everybody.
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8>;
}

/// The exchange of a single process, which has everything already.
#[derive(Debug, Default, Clone, Copy)]
pub struct Local;

impl Exchange for Local {
    fn rank(&self) -> usize {
        0
    }

    fn ranks(&self) -> usize {
        1
    }

    fn group(&mut self, _: Option<usize>) {}

    fn share(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        vec![own]
    }

    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        vec![own]
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }
}

/// Which chains each rank has. All chains stand in one row, ensemble after ensemble, and are cut into
/// pieces whose lengths differ by one at most: whole ensembles, if there are enough of them, or else
/// chains of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    ensembles: usize,
    chains: usize,
    /// So many chains stay together: all of an ensemble if they are on a ladder.
    together: usize,
    /// Ranks that have chains.
    busy: usize,
}

impl Share {
    /// The shares of so many ranks.
    pub fn new(settings: &Settings, ranks: usize) -> Self {
        let (ensembles, chains) = (settings.ensembles, settings.members());
        let together = if settings.ladder.is_none() { 1 } else { chains };
        let busy = ranks.clamp(1, (ensembles * chains / together.max(1)).max(1));
        Share { ensembles, chains, together, busy }
    }

    /// The ranks that have chains; those after them have none.
    pub fn busy(&self) -> usize {
        self.busy
    }

    /// The most chains that a rank has.
    pub fn most(&self) -> usize {
        self.pieces().div_ceil(self.busy) * self.together
    }

    fn pieces(&self) -> usize {
        self.ensembles * self.chains / self.together
    }

    fn begin(&self, rank: usize) -> usize {
        rank.min(self.busy) * self.pieces() / self.busy * self.together
    }

    /// The chains that a rank has, by ensemble.
    pub fn of(&self, rank: usize) -> Vec<(usize, Range<usize>)> {
        let (from, to) = (self.begin(rank), self.begin(rank + 1));
        let within = |e: usize| {
            let first = e * self.chains;
            from.clamp(first, first + self.chains) - first
                ..to.clamp(first, first + self.chains) - first
        };
        let shares = (0..self.ensembles).map(|e| (e, within(e)));
        shares.filter(|(_, chains)| !chains.is_empty()).collect()
    }

    /// The first rank of those that need each other's states, because they have chains of the same
    /// ensembles; `None` for a rank without chains.
    pub fn group(&self, rank: usize) -> Option<usize> {
        let begins_one = |&r: &usize| self.begin(r).is_multiple_of(self.chains);
        (rank < self.busy).then(|| (0..=rank).rev().find(begins_one).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(ensembles: usize, chains: usize, ranks: usize) -> Share {
        Share::new(&Settings { ensembles, chains, ..Settings::default() }, ranks)
    }

    #[test]
    fn every_chain_has_one_rank_and_shares_are_even() {
        for (ensembles, chains) in [(1, 1), (4, 8), (3, 5), (7, 1), (1, 9)] {
            for ranks in 1..=ensembles * chains + 3 {
                let share = share(ensembles, chains, ranks);
                let all: Vec<(usize, usize)> = (0..ranks)
                    .flat_map(|r| share.of(r))
                    .flat_map(|(e, of)| of.map(move |c| (e, c)))
                    .collect();
                let expected: Vec<(usize, usize)> =
                    (0..ensembles).flat_map(|e| (0..chains).map(move |c| (e, c))).collect();
                assert_eq!(all, expected, "{share:?}");
                let count = |r| share.of(r).iter().map(|(_, of)| of.len()).sum::<usize>();
                let counts: Vec<usize> = (0..share.busy()).map(count).collect();
                assert_eq!(counts.iter().max(), Some(&share.most()));
                assert!(counts.iter().all(|&c| c + 1 >= share.most() && c > 0), "{share:?}");
                assert!((share.busy()..ranks).all(|r| count(r) == 0 && share.group(r).is_none()));
            }
        }
    }

    #[test]
    fn a_ladder_is_never_divided() {
        let ladder: crate::ladder::Ladder = "4".parse().unwrap();
        for ranks in 1..8 {
            let settings =
                Settings { ensembles: 3, chains: 2, ladder: ladder.clone(), ..Settings::default() };
            let share = Share::new(&settings, ranks);
            let shares: Vec<_> = (0..ranks).flat_map(|r| share.of(r)).collect();
            assert_eq!(shares, [(0, 0..8), (1, 0..8), (2, 0..8)]);
            assert_eq!(share.busy(), ranks.min(3));
        }
    }

    #[test]
    fn ranks_that_share_an_ensemble_share_a_group() {
        for (ensembles, chains, ranks) in [(4, 8, 3), (4, 8, 4), (4, 8, 8), (3, 5, 4), (2, 3, 9)] {
            let share = share(ensembles, chains, ranks);
            for a in 0..share.busy() {
                for b in a..share.busy() {
                    let common = share.of(a).iter().any(|x| share.of(b).iter().any(|y| x.0 == y.0));
                    assert!(!common || share.group(a) == share.group(b), "{share:?} {a} {b}");
                }
            }
        }
        let groups = |share: Share| (0..share.busy()).map(|r| share.group(r)).collect::<Vec<_>>();
        assert_eq!(groups(share(4, 8, 4)), [0, 1, 2, 3].map(Some), "whole ensembles");
        assert_eq!(groups(share(2, 4, 4)), [0, 0, 2, 2].map(Some), "halves of ensembles");
        assert_eq!(groups(share(4, 8, 3)), [0, 0, 0].map(Some), "pieces across ensembles");
        assert_eq!(groups(share(2, 3, 9)), [0, 0, 0, 3, 3, 3].map(Some), "nine ranks, six chains");
    }
}
