//! Writes reports of invented runs, to be looked at and for the browser check:
//! `cargo run --example report_pages -- FOLDER`.

use armix::builtin;
use armix::data::Graph;
use armix::diagnose::Verdict;
use armix::report::{
    self, Autocorrelation, Block, ChainTrace, Distances, Estimate, Feature, Interval, Limits,
    Matrix, Mode, Move, Network, Packed, Page, Quantity, Ranks, Shape, TracePlots, Truth,
};
use armix::rng::{Purpose, Rng};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let pages =
        [("small", small()), ("table", table()), ("large", large()), ("foreign", foreign())];
    for (name, page) in pages {
        std::fs::write(folder.join(format!("{name}.html")), report::html(&page))?;
    }
    Ok(())
}

/// Zachary's club under names that try to break the page.
fn small() -> Page {
    let graph = builtin::karate();
    let mut names: Vec<String> = (1..=34).map(|member| format!("Member {member}")).collect();
    names[0] = "<script>window.hacked=1</script>".into();
    names[1] = "\"><img src=x onerror=window.hacked=1>".into();
    names[2] = "</script><script>window.hacked=1</script>".into();
    names[3] = "A very long name that goes on and on ".repeat(8);
    names[4] = "Unbroken".repeat(30);
    names[5] = "Ольга Иванова".into();
    names[6] = "山田太郎".into();
    names[7] = "مريم".into();
    names[8] = "Ζωή & \u{2028} 'quotes' \\ 🦊".into();
    let invented =
        Invented { sizes: &[16, 12, 6], ensembles: 4, chains: 2, iterations: 500, apart: 0.0 };
    // The instructor's side, the officers' side, and those between.
    let order = [
        0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 16, 17, 19, 21, 14, 15, 18, 20, 22, 23, 26, 29, 30,
        32, 33, 27, 8, 9, 24, 25, 28, 31,
    ];
    let mut page = invented.page("karate <b>club</b>.gml", "vertex", names, &order, 1);
    add_network(&mut page, &graph);
    page.network = Some(Network { edges: Packed::pairs(&edges(&graph)) });
    page.truth = Some(Truth { name: "faction".into(), ari: 0.772, nmi: 0.7324, vi: 0.5213 });
    page.notes = vec!["2 loops and 1 link given twice were dropped <i>before</i> the run.".into()];
    page
}

/// A table that has not converged: one ensemble went elsewhere.
fn table() -> Page {
    let invented = Invented {
        sizes: &[40, 30, 20, 9, 1],
        ensembles: 3,
        chains: 3,
        iterations: 800,
        apart: 6.0,
    };
    let names = (1..=100).map(|row| format!("patient-{row:03}")).collect();
    let mut page = invented.page("symptoms.csv", "row", names, &shuffled(100), 2);
    page.verdict = Verdict::NotConverged;
    page.headline = "The ensembles disagree: do not trust the numbers below yet.".into();
    page.reasons = vec![
        "R̂ of the log joint between ensembles is 1.43, above 1.1".into(),
        "ensemble 3 stays below the others".into(),
    ];
    page.next = vec!["Run longer: armix continue --iterations 5000".into()];
    page.quantities[0].rhat = Some(1.4321);
    page.quantities[2].rhat = Some(f64::INFINITY);
    let columns =
        ["fever", "cough", "<em>rash</em>", "a column with quite a long name", "x5", "x6", "x7"];
    let mut rng = Rng::from_seed(Purpose::Test, 3);
    for block in &mut page.block_table {
        let feature = |column: &&str| Feature {
            column: column.to_string(),
            probability: rng.uniform(),
            overall: 0.2 + 0.6 * rng.uniform(),
        };
        block.features = columns.iter().map(feature).collect();
    }
    page
}

/// As large as pages usually get.
fn large() -> Page {
    let sizes: Vec<usize> = (0..40).map(|k| if k == 0 { 103 } else { 43 - k }).collect();
    let n = sizes.iter().sum();
    let mut rng = Rng::from_seed(Purpose::Test, 4);
    let invented =
        Invented { sizes: &sizes, ensembles: 4, chains: 8, iterations: 10_000, apart: 0.0 };
    let names = (0..n).map(|vertex| format!("neuron {vertex}")).collect();
    let mut page = invented.page("connectome.graphml", "vertex", names, &shuffled(n), 4);
    let block = |item: usize| page.estimate.block_of_item[item];
    let mut links = Vec::new();
    for a in 0..n {
        for b in 0..a {
            let density = if block(a) == block(b) { 0.3 } else { 0.01 };
            if rng.uniform() < density {
                links.push((b as u32, a as u32));
            }
        }
    }
    let graph = Graph::new(n, &links).expect("links between vertices");
    add_network(&mut page, &graph);
    page
}

/// A run of another program: labels, and little else.
fn foreign() -> Page {
    let invented = Invented { sizes: &[7, 3], ensembles: 1, chains: 1, iterations: 60, apart: 0.0 };
    let mut page = invented.page("labels.csv", "row", Vec::new(), &shuffled(10), 5);
    page.verdict = Verdict::TooShort;
    page.headline = "There is one chain, so that nothing can be compared.".into();
    page.reasons = vec!["60 iterations were recorded; at least 100 are needed".into()];
    page.next = vec!["Run at least 2 ensembles.".into()];
    for chain in &mut page.trace.chains {
        chain.log_joint = None;
        chain.fractions.clear();
    }
    for quantity in &mut page.quantities {
        let label = quantity.label.clone();
        *quantity = Quantity { name: quantity.name.clone(), label, ..Quantity::default() };
    }
    page.quantities.remove(0);
    page.limits = Limits::default();
    page.ranks.clear();
    page.autocorrelation.clear();
    page.moves.clear();
    page.similarity = None;
    page.modes.clear();
    page.distances = None;
    page.command.clear();
    page
}

/// A run that never was.
struct Invented<'a> {
    sizes: &'a [usize],
    ensembles: usize,
    chains: usize,
    iterations: u32,
    /// How far the last ensemble is from the others, in standard deviations.
    apart: f64,
}

impl Invented<'_> {
    fn page(
        &self,
        title: &str,
        item_word: &str,
        names: Vec<String>,
        order: &[u32],
        seed: u64,
    ) -> Page {
        let mut rng = Rng::from_seed(Purpose::Test, seed);
        let n: usize = self.sizes.iter().sum();
        let estimate = self.estimate(order, &mut rng);
        let block_table = self.block_table(&estimate);
        Page {
            title: title.into(),
            verdict: Verdict::Converged,
            headline: "The ensembles agree: the numbers below can be used.".into(),
            reasons: vec!["R̂ between ensembles of all quantities is at most 1.012".into()],
            next: vec!["Look at the blocks and their certainty.".into()],
            notes: Vec::new(),
            shape: Shape {
                n,
                item_word: item_word.into(),
                ensembles: self.ensembles,
                chains: self.chains,
                iterations: self.iterations as usize,
                burn_in: self.iterations as usize / 2,
                seed: u64::MAX - seed,
                model: if item_word == "row" { "bernoulli" } else { "irm" }.into(),
            },
            trace: self.trace(&mut rng),
            quantities: quantities(),
            limits: Limits { rhat: Some(1.1), rhat_rank: Some(1.05), ess: Some(400.0) },
            ranks: QUANTITIES.map(|(name, _)| self.ranks(name, &mut rng)).into(),
            autocorrelation: QUANTITIES.map(|(name, _)| self.autocorrelation(name, &mut rng)).into(),
            moves: moves(),
            blocks_posterior: (0..7)
                .map(|k| {
                    let weight = [0.02, 0.11, 0.44, 0.28, 0.11, 0.039, 0.001][k];
                    (self.sizes.len() as u32 - 1 + k as u32, weight)
                })
                .collect(),
            similarity: Some(self.similarity(&estimate, &mut rng)),
            adjacency: None,
            network: None,
            block_table,
            density_between: None,
            modes: (0..3)
                .map(|k| Mode {
                    weight: [0.71, 0.2, 0.09][k],
                    blocks: self.sizes.len() + k,
                    distance: [0.0412, 0.377, 0.9125][k],
                    log_joint: Some(-253.118 - k as f64),
                    ensembles: vec![[0.71, 0.2, 0.09][k]; self.ensembles],
                })
                .collect(),
            distances: Some(Distances {
                ensembles: (0..self.ensembles)
                    .map(|a| (0..self.ensembles).map(|b| if a == b { 0.4123 } else { 0.4391 }).collect())
                    .collect(),
            }),
            truth: None,
            estimate,
            names,
            provenance: vec![
                ("version".into(), "0.1.0".into()),
                ("data fingerprint".into(), "xxh3:8f2c0d6a11b45e97".into()),
                ("moves".into(), "arm-cells*5,arm,gibbs".into()),
                ("hostile".into(), "<script>window.hacked=1</script>".into()),
            ],
            command: format!("armix fit '{title}' --seed {} --iterations {}", u64::MAX - seed, self.iterations),
            citation: "Herlau, T., Mørup, M., Teh, Y. W., Schmidt, M. N.: Adaptive reconfiguration moves for Dirichlet mixtures.".into(),
            bibtex: "@article{herlau,\n  title = {Adaptive reconfiguration moves for {Dirichlet} mixtures},\n}\n".into(),
        }
    }

    /// The items in the given order, cut into blocks.
    fn estimate(&self, order: &[u32], rng: &mut Rng) -> Estimate {
        let n = order.len();
        let mut borders = Vec::new();
        let mut block_of_item = vec![0; n];
        let mut start = 0;
        for (k, &size) in self.sizes.iter().enumerate() {
            for &item in &order[start..start + size] {
                block_of_item[item as usize] = k as u32 + 1;
            }
            start += size;
            borders.push(start as u32);
        }
        let certainty: Vec<f32> =
            (0..n).map(|_| 1.0 - 0.6 * rng.uniform().powi(3) as f32).collect();
        let order = Packed::u32(order);
        let certainty = Packed::f32(&certainty);
        let loss = "vi".into();
        Estimate { loss, expected_loss: 0.38172, block_of_item, order, borders, certainty }
    }

    fn block_table(&self, estimate: &Estimate) -> Vec<Block> {
        let members = |number: u32| -> Vec<u32> {
            let numbers = estimate.block_of_item.iter().enumerate();
            numbers.filter(|&(_, &own)| own == number).map(|(item, _)| item as u32).collect()
        };
        (self.sizes.iter().enumerate())
            .map(|(k, &size)| Block {
                number: k as u32 + 1,
                size,
                members: members(k as u32 + 1).into_iter().take(200).collect(),
                more: size.saturating_sub(200),
                certainty: 0.97 / (1.0 + 0.05 * k as f64),
                density: None,
                features: Vec::new(),
            })
            .collect()
    }

    fn trace(&self, rng: &mut Rng) -> TracePlots {
        let points = self.iterations.min(1000);
        let iterations: Vec<u32> = (1..=points).map(|k| k * (self.iterations / points)).collect();
        let mut chains = Vec::new();
        for ensemble in 0..self.ensembles {
            let shift = if ensemble + 1 == self.ensembles { self.apart } else { 0.0 };
            for chain in 0..self.chains {
                chains.push(self.chain(ensemble, chain, shift, points, rng));
            }
        }
        TracePlots { iterations: Packed::u32(&iterations), log_joint_offset: -123_456.75, chains }
    }

    fn chain(
        &self,
        ensemble: usize,
        chain: usize,
        shift: f64,
        points: u32,
        rng: &mut Rng,
    ) -> ChainTrace {
        let blocks_at_rest = self.sizes.len() as f64;
        let n: usize = self.sizes.iter().sum();
        let mut log_joint = Vec::new();
        let mut blocks = Vec::new();
        let mut fractions = vec![Vec::new(); self.sizes.len().min(5)];
        let mut wander = 0.0;
        for point in 0..points {
            wander = 0.8 * wander + noise(rng);
            let far = (-f64::from(point) / (0.06 * f64::from(points))).exp();
            log_joint.push((3.0 * wander - 120.0 * far - 4.0 * shift) as f32);
            blocks.push((blocks_at_rest + 6.0 * far + 0.7 * wander).round().max(1.0) as f32);
            let mut share = 0.0;
            for (level, size) in fractions.iter_mut().zip(self.sizes) {
                share += *size as f64 / n as f64;
                level.push(
                    (share * (1.0 - 0.6 * far) + 0.008 * wander - 0.01 * shift).clamp(0.0, 1.0)
                        as f32,
                );
            }
        }
        ChainTrace {
            ensemble,
            chain,
            log_joint: Some(Packed::f32(&log_joint)),
            blocks: Packed::f32(&blocks),
            fractions: fractions.iter().map(|level| Packed::f32(level)).collect(),
        }
    }

    fn ranks(&self, quantity: &str, rng: &mut Rng) -> Ranks {
        let bins = 20;
        let expected = f64::from(self.iterations / 2) * self.chains as f64 / bins as f64;
        let ensembles = (0..self.ensembles)
            .map(|ensemble| {
                let lean = if ensemble + 1 == self.ensembles { self.apart / 6.0 } else { 0.0 };
                let tilt = |bin: usize| 1.0 + lean * (1.0 - 2.0 * bin as f64 / bins as f64);
                let count =
                    |bin| (expected * tilt(bin) * (1.0 + 0.08 * noise(rng))).round().max(0.0);
                (0..bins).map(count).collect()
            })
            .collect();
        Ranks { quantity: quantity.into(), ensembles, expected }
    }

    fn autocorrelation(&self, quantity: &str, rng: &mut Rng) -> Autocorrelation {
        let lags: Vec<u32> = (0..=60).collect();
        let mut chain = || -> Vec<f32> {
            let memory = 6.0 + 5.0 * rng.uniform();
            let fall = |lag: &u32| (-f64::from(*lag) / memory).exp();
            let mut noisy = |lag: &u32| fall(lag) + if *lag > 0 { 0.02 * noise(rng) } else { 0.0 };
            lags.iter().map(|lag| noisy(lag) as f32).collect()
        };
        let chains = (0..self.ensembles * self.chains).map(|_| chain()).collect();
        Autocorrelation { quantity: quantity.into(), lags, chains }
    }

    fn similarity(&self, estimate: &Estimate, rng: &mut Rng) -> Matrix {
        let n = estimate.block_of_item.len();
        let block_at =
            |position: usize| estimate.borders.partition_point(|&end| end as usize <= position);
        let mut values = vec![0.0; n * n];
        for a in 0..n {
            for b in 0..=a {
                let together = if a == b {
                    1.0
                } else if block_at(a) == block_at(b) {
                    0.75 + 0.25 * rng.uniform()
                } else if block_at(a).abs_diff(block_at(b)) == 1 {
                    0.3 * rng.uniform()
                } else {
                    0.03 * rng.uniform()
                };
                (values[a * n + b], values[b * n + a]) = (together as f32, together as f32);
            }
        }
        Matrix::of_shares(n, &values)
    }
}

/// Items in an order that is not the identity.
fn shuffled(n: usize) -> Vec<u32> {
    let mut rng = Rng::from_seed(Purpose::Test, n as u64);
    let mut order: Vec<u32> = (0..n as u32).collect();
    for at in (1..n).rev() {
        order.swap(at, rng.below(at as u64 + 1) as usize);
    }
    order
}

/// Noise of variance 1, near enough to normal.
fn noise(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0
}

const QUANTITIES: [(&str, &str); 3] =
    [("log_joint", "log joint"), ("blocks", "number of blocks"), ("largest", "largest block")];

fn quantities() -> Vec<Quantity> {
    let quantity = |k: usize, (name, label): (&str, &str)| Quantity {
        name: name.into(),
        label: label.into(),
        rhat: Some([1.0021, 1.0118, 1.0003][k]),
        rhat_rank: Some([1.0047, 1.0602, 1.0011][k]),
        ess_bulk: Some([1543.2, 388.7, 2210.4][k]),
        ess_tail: Some([1211.0, 640.3, 1999.5][k]),
        act: Some([6.481, 25.73, 4.52][k]),
        mcse: Some([0.1266, 0.0712, 0.000_41][k]),
        mean: Some([-123_461.25, 5.3312, 0.4718][k]),
        sd: Some([4.973, 1.404, 0.0193][k]),
    };
    QUANTITIES.into_iter().enumerate().map(|(k, names)| quantity(k, names)).collect()
}

fn moves() -> Vec<Move> {
    let rows = [
        ("gibbs", 1_000_000, 1_000_000, Some(1.0), 0, 12.418, 345_678_901),
        ("arm", 200_000, 8_412, Some(0.0421), 513, 3.77, 41_234_567),
        ("arm-cells", 1_000_000, 123_456, Some(0.1235), 2_048, 5.01, 61_803_398),
        ("split-merge", 0, 0, None, 0, 0.0, 0),
    ];
    rows.map(|(name, proposed, accepted, accept_rate, idle, seconds, work)| Move {
        name: name.into(),
        proposed,
        accepted,
        accept_rate,
        idle,
        seconds,
        work,
    })
    .into()
}

fn edges(graph: &Graph) -> Vec<(u32, u32)> {
    let vertices = 0..graph.n() as u32;
    let upwards = |u: u32| {
        let neighbours = graph.neighbours(u as usize).iter();
        neighbours.filter(move |&&v| u < v).map(move |&v| (u, v))
    };
    vertices.flat_map(upwards).collect()
}

/// The adjacency matrix and the densities of a network.
fn add_network(page: &mut Page, graph: &Graph) {
    let blocks = page.block_table.len();
    let number = |item: u32| page.estimate.block_of_item[item as usize];
    let mut order: Vec<u32> = (0..graph.n() as u32).collect();
    order.sort_by_key(|&item| number(item));
    let mut position = vec![0; graph.n()];
    for (at, &item) in order.iter().enumerate() {
        position[item as usize] = at as u32;
    }
    let edges = edges(graph);
    let links: Vec<(u32, u32)> =
        edges.iter().map(|&(u, v)| (position[u as usize], position[v as usize])).collect();
    let mut counts = vec![vec![0.0; blocks]; blocks];
    for &(u, v) in &edges {
        let (a, b) = (number(u) as usize - 1, number(v) as usize - 1);
        counts[a][b] += 1.0;
        counts[b][a] += 1.0;
    }
    let sizes: Vec<f64> = page.block_table.iter().map(|block| block.size as f64).collect();
    let density = |a: usize, b: usize| {
        let own = if a == b { 1.0 } else { 0.0 };
        (counts[a][b] + 1.0) / (sizes[a] * (sizes[b] - own) + 2.0)
    };
    let between: Vec<Vec<f64>> =
        (0..blocks).map(|a| (0..blocks).map(|b| density(a, b)).collect()).collect();
    for (k, block) in page.block_table.iter_mut().enumerate() {
        let mean = between[k][k];
        block.density = Some(Interval { mean, lower: mean * 0.8, upper: mean * 1.2 });
    }
    page.density_between = Some(between);
    page.adjacency = Some(Matrix::of_links(graph.n(), &links));
    page.estimate.order = Packed::u32(&order);
}
