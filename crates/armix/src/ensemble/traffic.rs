//! A model of what the exchange between processes costs, for machines that are larger than those at hand.

use super::Share;

/// What a network can do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// Seconds from one rank to another, for a message of no length.
    pub latency: f64,
    /// Bytes a second into or out of a machine.
    pub bandwidth: f64,
}

/// What there is to exchange.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Items.
    pub n: usize,
    /// Bytes of a label: 1 up to 256 blocks, 2 up to 65 536, else 4.
    pub width: usize,
    /// Rounds between two exchanges.
    pub every: usize,
    /// Entries of the schedule.
    pub moves: usize,
}

/// What an exchange costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traffic {
    /// Bytes that a rank of the largest group receives.
    pub rank_bytes: f64,
    /// Bytes that rank 0 receives beside those of its group.
    pub root_bytes: f64,
    /// Seconds of an exchange.
    pub seconds: f64,
}

impl Load {
    /// Bytes of one state of one chain: its labels, and its numbers at their longest.
    pub fn state_bytes(&self) -> f64 {
        (self.n * self.width + 100 + 40 * self.moves) as f64
    }
}

impl Share {
    /// Assumes that the ranks of a group stand next to each other, that their `all_gather` is a ring, so
    /// that what a machine receives crosses its link once, that rank 0 receives from one group after
    /// another, and that small collectives take a latency for each doubling of the ranks.
    pub fn traffic(&self, load: &Load, network: &Network) -> Traffic {
        let groups: Vec<usize> = (0..self.busy()).filter_map(|rank| self.group(rank)).collect();
        let sizes: Vec<usize> = groups.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
        let chains = |rank: usize| self.of(rank).iter().map(|(_, c)| c.len()).sum::<usize>();
        let mut of_groups = vec![0; sizes.len()];
        let (mut at, mut left) = (0, sizes.first().copied().unwrap_or(0));
        for rank in 0..self.busy() {
            if left == 0 {
                at += 1;
                left = sizes[at];
            }
            of_groups[at] += chains(rank);
            left -= 1;
        }
        let bytes = |chains: usize| chains as f64 * load.state_bytes() * load.every as f64;
        let largest = sizes.iter().copied().max().unwrap_or(1);
        let most = of_groups.iter().copied().max().unwrap_or(0);
        let rank_bytes = if largest > 1 { bytes(most - most / largest) } else { 0.0 };
        let root_bytes = bytes(of_groups[1..].iter().sum());
        let doublings = |ranks: usize| (ranks as f64).log2().ceil();
        // The ring, lengths before it and before rank 0 receives, and what rank 0 says.
        let steps = (largest - 1) as f64
            + doublings(largest)
            + doublings(sizes.len())
            + (sizes.len() - 1) as f64
            + doublings(self.busy());
        let seconds = steps * network.latency + (rank_bytes + root_bytes) / network.bandwidth;
        Traffic { rank_bytes, root_bytes, seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Settings;

    const FAST: Network = Network { latency: 2e-6, bandwidth: 12.5e9 };
    const SLOW: Network = Network { latency: 50e-6, bandwidth: 1.25e9 };

    fn share(ensembles: usize, chains: usize, ranks: usize) -> Share {
        Share::new(&Settings { ensembles, chains, ..Settings::default() }, ranks)
    }

    /// Counted by hand.
    #[test]
    fn small_cases() {
        let load = Load { n: 860, width: 1, every: 1, moves: 1 };
        let network = Network { latency: 1.0, bandwidth: 1000.0 };
        assert_eq!(load.state_bytes(), 1000.0);
        let traffic = |e, c, r| share(e, c, r).traffic(&load, &network);
        let alone = traffic(4, 8, 1);
        assert_eq!((alone.rank_bytes, alone.root_bytes, alone.seconds), (0.0, 0.0, 0.0));
        // Whole ensembles: rank 0 receives three of them; lengths and orders take two steps each.
        let whole = traffic(4, 8, 4);
        assert_eq!((whole.rank_bytes, whole.root_bytes), (0.0, 24_000.0));
        assert_eq!(whole.seconds, 24.0 + 3.0 + 2.0 + 2.0);
        // One ensemble on four ranks: everybody receives what three others have.
        let one = traffic(1, 8, 4);
        assert_eq!((one.rank_bytes, one.root_bytes), (6000.0, 0.0));
        assert_eq!(one.seconds, 6.0 + 3.0 + 2.0 + 2.0);
        let rarely = share(1, 8, 4).traffic(&Load { every: 10, ..load }, &network);
        assert_eq!(rarely.rank_bytes, 60_000.0);
    }

    /// The table of docs/CLUSTER.md is what this model says.
    #[test]
    fn a_thousand_ranks_as_in_the_documentation() {
        let mut table = String::new();
        for (ensembles, chains) in [(4, 250), (1, 1000), (125, 8), (1000, 1)] {
            for every in [1, 10] {
                let share = share(ensembles, chains, 1000);
                let load = Load { n: 1_000_000, width: 2, every, moves: 3 };
                let [fast, slow] = [FAST, SLOW].map(|network| share.traffic(&load, &network));
                table += &format!(
                    "| {ensembles} × {chains} | {every} | {:.2} GB | {:.2} GB | {:.0} ms | {:.0} ms |\n",
                    fast.rank_bytes / every as f64 / 1e9,
                    fast.root_bytes / every as f64 / 1e9,
                    fast.seconds / every as f64 * 1e3,
                    slow.seconds / every as f64 * 1e3,
                );
            }
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/CLUSTER.md");
        let page = std::fs::read_to_string(path).unwrap();
        assert!(page.contains(&table), "docs/CLUSTER.md should have:\n{table}");
    }
}
