//! Families against their formulas, which are written here once more, naively.

use super::*;
use libm::lgamma;
use std::f64::consts::PI;

const CLOSE: f64 = 1e-10;

fn close(left: f64, right: f64, equation: &str) {
    let error = (left - right).abs() / right.abs().max(1.0);
    assert!(error < CLOSE, "{equation}: {left} ≠ {right}");
}

/// A stream of numbers in [0, 1) that is the same always.
fn stream(mut seed: u64) -> impl FnMut() -> f64 {
    move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn sum_of<F: Family>(family: &F, values: &[f64]) -> Vec<F::Word> {
    let mut sum = vec![F::Word::default(); family.width()];
    values.iter().for_each(|&x| family.add(&mut sum, family.encode(x)));
    sum
}

/// All that a family promises, for one set of values, whose evidence is known.
fn conforms<F: Family>(family: &F, values: &[f64], naive: impl Fn(&[f64]) -> f64) {
    let sum = sum_of(family, values);
    close(family.ln_evidence(&sum), naive(values), "ln_evidence = formula");
    close(family.ln_evidence_naive(values), naive(values), "ln_evidence_naive = formula");
    let hypers: Vec<f64> = family.hypers().iter().map(|h| h.value).collect();
    close(family.ln_evidence_with(&hypers, &sum), naive(values), "ln_evidence_with = formula");
    let same = &F::with_hypers(std::slice::from_ref(family), &hypers)[0];
    assert_eq!(same.ln_evidence(&sum).to_bits(), family.ln_evidence(&sum).to_bits());
    let mut kept = vec![F::Kept::default(); family.kept_width()];
    let one = std::slice::from_ref(family);
    for split in 0..=values.len() {
        let (few, more) = values.split_at(split);
        let (few_sum, more_sum) = (sum_of(family, few), sum_of(family, more));
        let mut both = few_sum.clone();
        add_sum(&mut both, &more_sum);
        assert_eq!(both, sum, "sums do not depend on the order");
        let gain = naive(values) - naive(few);
        close(family.gain(&few_sum, &more_sum), gain, "gain");
        close(family.loss(&sum, &more_sum), gain, "loss");
        sub_sum(&mut both, &more_sum);
        assert_eq!(both, few_sum, "sub undoes add");
        let Some(&next) = more.first() else { break };
        let gain = naive(&values[..=split]) - naive(few);
        close(family.ln_predictive(&few_sum, next), gain, "ln_predictive");
        let row = [family.encode(next)];
        family.keep(&few_sum, &mut kept, 0);
        let base = F::base_of_row(one, &row);
        close(base + F::gain_of_row(one, &kept, 0, &row), gain, "gain_of_row");
        let mut with = few_sum.clone();
        family.add(&mut with, row[0]);
        family.keep(&with, &mut kept, 0);
        let at_home = base + F::gain_of_row_at_home(one, &with, &kept, 0, &row);
        close(at_home, gain, "gain_of_row_at_home");
        family.sub(&mut with, row[0]);
        assert_eq!(with, few_sum);
        assert_eq!(F::gain_of_row(one, &kept, 0, &[F::MISSING]), 0.0);
        assert_eq!(F::gain_of_row_at_home(one, &with, &kept, 0, &[F::MISSING]), 0.0);
    }
    let empty = vec![F::Word::default(); family.width()];
    assert_eq!(family.ln_evidence(&empty), 0.0, "no values have evidence 1");
}

/// The gains of a row are those of its cells, whatever is taken together on the way, in each of the blocks that lie side by
/// side, and of some more. `at` gives values of a column; every block has one member fewer than the one before.
fn rows_add_up<F: Family>(families: &[F], members: usize, at: impl Fn(usize, usize) -> f64) {
    let block = |lane: usize| -> Vec<Vec<F::Word>> {
        let values = |column: usize| (0..members - lane).map(|m| at(m, column)).collect::<Vec<_>>();
        families.iter().enumerate().map(|(column, f)| sum_of(f, &values(column))).collect()
    };
    let blocks: Vec<Vec<Vec<F::Word>>> = (0..2 * F::LANES).map(block).collect();
    let cell = |(column, family): (usize, &F)| family.encode(at(members, column));
    let mut row: Vec<F::Value> = families.iter().enumerate().map(cell).collect();
    let keep = |blocks: &[Vec<Vec<F::Word>>]| {
        let mut kept = Vec::new();
        for blocks in blocks.chunks_exact(F::LANES) {
            for (column, family) in families.iter().enumerate() {
                let start = kept.len();
                kept.resize(start + family.kept_width(), F::Kept::default());
                for (lane, sums) in blocks.iter().enumerate() {
                    family.keep(&sums[column], &mut kept[start..], lane);
                }
            }
        }
        kept
    };
    // The first row is full. The others have holes.
    for hole in [usize::MAX, 0, 5, families.len() - 1] {
        if hole < row.len() {
            row[hole] = F::MISSING;
        }
        let cells = || (0..row.len()).filter(|&column| row[column] != F::MISSING);
        let (full, base) = (hole > row.len(), F::base_of_row(families, &row));
        let mut with = blocks.clone();
        for sums in &mut with {
            cells().for_each(|column| families[column].add(&mut sums[column], row[column]));
        }
        let (kept, kept_with) = (keep(&blocks), keep(&with));
        let (mut all, mut all_of_full) = (vec![0.0; blocks.len()], vec![0.0; blocks.len()]);
        F::gains_of_row(families, &kept, &row, &mut all);
        F::gains_of_full_row(families, &kept, &row, &mut all_of_full);
        let half = kept.len() / 2;
        for (block, sums) in blocks.iter().enumerate() {
            let of_cell = |column: usize| {
                let family = &families[column];
                family.ln_predictive(&sums[column], family.decode(row[column]))
            };
            let (lane, from) = (block % F::LANES, block / F::LANES * half);
            let (kept, kept_with) = (&kept[from..][..half], &kept_with[from..][..half]);
            let expected: f64 = cells().map(of_cell).sum();
            let gain = F::gain_of_row(families, kept, lane, &row);
            close(base + gain, expected, "a row");
            assert_eq!(all[block].to_bits(), gain.to_bits(), "block {block} of a row");
            let with = with[block].concat();
            let home = F::gain_of_row_at_home(families, &with, kept_with, lane, &row);
            close(base + home, expected, "a row at home");
            if full {
                let gain = F::gain_of_full_row(families, kept, lane, &row);
                close(base + gain, expected, "a full row");
                assert_eq!(
                    all_of_full[block].to_bits(),
                    gain.to_bits(),
                    "block {block} of a full row"
                );
                let home = F::gain_of_full_row_at_home(families, &with, kept_with, lane, &row);
                close(base + home, expected, "a full row at home");
            }
        }
    }
}

#[test]
fn rows_of_many_columns() {
    for columns in [6, 73, 200] {
        let at = |i: usize, column: usize| (i * i * (column + 3) % 7) as f64;
        rows_add_up(&vec![Binary::new(0.8, 1.7, 20); columns], 9, |i, column| at(i, column) % 2.0);
        rows_add_up(&Categorical::new(&vec![7; columns], 0.6, 20), 9, at);
        // With a table that is long enough, and with some that are too short for some rows or all.
        for largest in [100, 20, 3] {
            let typical = vec![3.0; columns];
            rows_add_up(&Poisson::new(&typical, (1.4, 0.7), largest, largest), 9, at);
        }
        // Like the others; an outlier at home; and so far away that products are too large for a number.
        for far in [0.0, 1e3, 1e12] {
            let outlier = |column: usize| if column.is_multiple_of(3) { far } else { 0.0 };
            let value = |i: usize, column: usize| match i {
                9 => at(i, column) + outlier(column),
                _ => at(i, column),
            };
            let grid = |column: usize| Grid::new([0.0, 7.0 + outlier(column)].into_iter(), 20);
            let columns: Vec<_> = (0..columns).map(|column| (2.0, 1.5, grid(column))).collect();
            rows_add_up(&Gaussian::new(&columns, (0.3, 1.7, 0.9), 20), 9, value);
        }
    }
}

#[test]
fn binary() {
    let (a, b) = (0.8, 1.7);
    let ln_beta = |a: f64, b: f64| lgamma(a) + lgamma(b) - lgamma(a + b);
    let naive = |x: &[f64]| {
        let ones: f64 = x.iter().sum();
        ln_beta(a + ones, b + x.len() as f64 - ones) - ln_beta(a, b)
    };
    conforms(&Binary::new(a, b, 10), &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0], naive);
}

#[test]
fn categorical() {
    let (levels, beta) = (4, 0.6);
    let naive = |x: &[f64]| {
        let count = |l: usize| x.iter().filter(|&&x| x == l as f64).count() as f64;
        let all = levels as f64 * beta;
        (0..levels).map(|l| lgamma(beta + count(l)) - lgamma(beta)).sum::<f64>() + lgamma(all)
            - lgamma(all + x.len() as f64)
    };
    let family = &Categorical::new(&[levels], beta, 10)[0];
    conforms(family, &[2.0, 0.0, 3.0, 3.0, 2.0, 3.0], naive);
    // The probabilities of all levels add up to one.
    let sum = sum_of(family, &[2.0, 0.0, 3.0, 3.0]);
    let total: f64 = (0..levels).map(|l| family.ln_predictive(&sum, l as f64).exp()).sum();
    close(total, 1.0, "Σ p");
    assert_eq!(family.ln_predictive(&sum, 4.0), f64::NEG_INFINITY);
}

#[test]
fn poisson() {
    let (a, rate, typical) = (1.4, 0.7, 3.5f64);
    let naive = |x: &[f64]| {
        let (s, n, b) = (x.iter().sum::<f64>(), x.len() as f64, rate / typical);
        lgamma(a + s) - lgamma(a) + a * b.ln()
            - (a + s) * (b + n).ln()
            - x.iter().map(|x| lgamma(x + 1.0)).sum::<f64>()
    };
    // With tables that are long enough, and with some that are too short.
    for largest in [1000, 3] {
        let family = &Poisson::new(&[typical], (a, rate), largest, largest)[0];
        conforms(family, &[3.0, 0.0, 0.0, 7.0, 1.0, 40.0, 2.0], naive);
        let sum = sum_of(family, &[3.0, 0.0, 4.0]);
        let p = |x: f64| family.ln_predictive(&sum, x).exp();
        close((0..400).map(|x| p(x.into())).sum(), 1.0, "Σ p");
        close((0..400).map(|x| f64::from(x) * p(x.into())).sum(), family.mean(&sum), "mean");
    }
}

#[test]
fn gaussian() {
    let values = [3.25, -1.5, 3.0, 3.125, 40.0, 2.75, 3.0];
    for (location, spread) in [(2.0, 1.5), (-1e3, 1e-2), (0.0, 50.0)] {
        let (kappa, a, scale) = (0.3, 1.7, 0.9);
        let naive = |x: &[f64]| {
            let n = x.len() as f64;
            let mean = x.iter().sum::<f64>() / n.max(1.0);
            let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
            let b = scale * spread * spread;
            let away = kappa * n / (kappa + n) * (mean - location).powi(2);
            let (an, bn) = (a + n / 2.0, b + 0.5 * (squares + away));
            lgamma(an) - lgamma(a) + a * b.ln() - an * bn.ln() + 0.5 * (kappa / (kappa + n)).ln()
                - 0.5 * n * (2.0 * PI).ln()
        };
        let grid = Grid::new(values.iter().copied(), 10);
        let family = &Gaussian::new(&[(location, spread, grid)], (kappa, a, scale), 10)[0];
        conforms(family, &values, naive);
        for &x in &values {
            assert_eq!(family.decode(family.encode(x)), x, "short numbers stay as they are");
        }
        // The density integrates to one; its tail is as that of Student's distribution.
        let sum = sum_of(family, &values[..4]);
        let p = |x: f64| family.ln_predictive(&sum, x).exp();
        let mean = family.mean(&sum);
        // x = mean + sinh t, trapezoids.
        let h = 1e-3;
        let area: f64 = (-30_000..=30_000)
            .map(|k| f64::from(k) * h)
            .map(|t| h * p(mean + t.sinh()) * t.cosh())
            .sum();
        assert!((area - 1.0).abs() < 1e-8, "∫ p = {area}");
    }
}

/// Bounds of rows are above their gains, and near them where columns miss about as many cells; far outliers included.
#[test]
fn gaussian_bounds() {
    let mut uniform = stream(11);
    for (d, n, gaps) in [(16, 40, 0.1), (35, 300, 0.1), (50, 5, 0.5), (17, 0, 0.3)] {
        let mut cell = |centre: f64| {
            let missing = uniform() < gaps;
            let value = centre + 4.0 * uniform();
            if missing { f64::NAN } else { value }
        };
        let mut rows: Vec<Vec<f64>> =
            (0..n + 3).map(|_| (0..d).map(|_| cell(0.0)).collect()).collect();
        rows[n + 1] = (0..d).map(|_| cell(3.0)).collect();
        rows[n + 2] = (0..d).map(|_| cell(1e9)).collect();
        let columns: Vec<Vec<f64>> =
            (0..d).map(|c| rows.iter().map(|row| row[c]).collect()).collect();
        let values = |cells| Values { cells, levels: 0, reference: n.max(2) };
        let values: Vec<Values<'_>> = columns.iter().map(|cells| values(cells)).collect();
        let families = Gaussian::fit(&values, Gaussian::DEFAULTS);
        // Blocks of the first rows, of more and more of them, so that the last has all.
        let mut kept = vec![GaussianKept::default(); 2 * d];
        for slot in 0..8 {
            for (column, family) in families.iter().enumerate() {
                let first = columns[column][..n * slot / 7].iter().copied().filter(|x| !x.is_nan());
                let sum = sum_of(family, &first.collect::<Vec<_>>());
                family.keep(&sum, &mut kept[slot / 4 * d + column..][..1], slot % 4);
            }
        }
        for row in &rows[n..] {
            let encode = |(family, &x): (&Gaussian, &f64)| match x.is_nan() {
                true => Gaussian::MISSING,
                false => family.encode(x),
            };
            let row: Vec<f64> = families.iter().zip(row).map(encode).collect();
            let mut gains = [0.0; 8];
            Gaussian::gains_of_row(&families, &kept, &row, &mut gains);
            let likely = |floors: [f64; 8]| {
                let mut found = [0.0; 8];
                Gaussian::likely_gains_of_row(&families, &kept, &row, &[], &floors, &mut found);
                found
            };
            assert_eq!(likely(gains.map(|gain| gain - 1e-9 * gain.abs())), gains, "{d}, {n}");
            // One alone, and one that is worse than it must be.
            for at in 0..8 {
                let mut floors = [f64::INFINITY; 8];
                floors[at] = gains[at] - 1e-9 * gains[at].abs();
                assert_eq!(likely(floors)[at], gains[at], "{d}, {n}, {at}");
                floors[at] = gains[at] + 0.3 * gains[at].abs();
                let found = likely(floors)[at];
                assert!(n < 40 || found == f64::NEG_INFINITY, "{d}, {n}: the bound is far above");
            }
        }
    }
}

/// No count has a larger gain than its ceiling, in blocks of many and few counts, near it and far away, and in some block it comes near to it.
#[test]
fn poisson_ceilings() {
    for x in [0.0, 1.0, 2.0, 7.0, 30.0, 1000.0, 1e6] {
        let mut nearest = f64::INFINITY;
        for typical in [1e-3, 1.0, 25.0, 1e4] {
            let [family] = &Poisson::new(&[typical], (1.3, 0.8), 1 << 20, 1 << 40)[..] else {
                panic!("one column has one family");
            };
            let value = family.encode(x);
            let ceiling = Poisson::ceiling(&[value]);
            let base = Poisson::base_of_row(std::slice::from_ref(family), &[value]);
            for centre in [0.0, x / 2.0, x, 3.0 * x + 1.0] {
                for n in [0, 1, 5, 2000] {
                    let sum = sum_of(family, &vec![centre.round(); n]);
                    let below = ceiling + base - family.ln_predictive(&sum, x);
                    assert!(below > -1e-9 * ceiling.abs(), "{x} among {n} of {centre}: {below}");
                    nearest = nearest.min(below);
                }
            }
        }
        assert!(nearest < 1e-3, "{x}: {nearest} below the ceiling");
    }
    assert_eq!(Poisson::ceiling(&[Poisson::MISSING]), 0.0);
}

/// Values far from zero with a small spread lose nothing, and neither does an outlier at home.
#[test]
fn gaussian_does_not_cancel() {
    let near: Vec<f64> = (0..50).map(|k| f64::from(k % 7) / 8.0).collect();
    let far: Vec<f64> = near.iter().map(|x| x + 1048576.0).collect();
    let of = |values: &[f64], mean: f64| {
        let grid = Grid::new(values.iter().copied(), 100);
        let family = Gaussian::new(&[(mean, 1.0, grid)], (0.1, 2.0, 0.5), 100).remove(0);
        family.ln_evidence(&sum_of(&family, values))
    };
    close(of(&far, 1048576.25), of(&near, 0.25), "the same values elsewhere");
    let values = [1e7, 0.0, 0.25, 0.5];
    let grid = Grid::new(values.iter().copied(), 10);
    let family = Gaussian::new(&[(0.0, 1.0, grid)], (0.1, 2.0, 1e-3), 10).remove(0);
    let (sum, mut kept) = (sum_of(&family, &values), [GaussianKept::default()]);
    family.keep(&sum, &mut kept, 0);
    let row = [family.encode(1e7)];
    let gain = Gaussian::gain_of_row_at_home(std::slice::from_ref(&family), &sum, &kept, 0, &row);
    close(gain, family.ln_predictive(&sum_of(&family, &values[1..]), 1e7), "an outlier at home");
}

/// Draws have the means of their distributions, within 5 standard errors (false-alarm rate 6e-7 each).
#[test]
fn draws() {
    fn mean_of_values<F: Family>(family: &F, mean: f64, variance: f64) {
        let (mut uniform, count) = (stream(7), 40_000);
        let uniform: &mut dyn FnMut() -> f64 = &mut uniform;
        let mut total = 0.0;
        for _ in 0..count {
            let parameter = family.draw_parameter(uniform);
            total += family.draw_value(&parameter, uniform);
        }
        let count = f64::from(count);
        let error = (variance / count).sqrt();
        assert!((total / count - mean).abs() < 5.0 * error, "{}: {}", F::NAME, total / count);
    }
    let p: f64 = 0.8 / 2.5;
    mean_of_values(&Binary::new(0.8, 1.7, 1), p, p * (1.0 - p));
    mean_of_values(&Categorical::new(&[3], 0.6, 1)[0], 1.0, 2.0 / 3.0);
    // Negative binomial: mean a/b, variance a/b (1 + 1/b).
    let (a, b) = (1.4, 0.2);
    mean_of_values(&Poisson::new(&[3.5], (a, 0.7), 9, 9)[0], a / b, a / b * (1.0 + 1.0 / b));
    // Student: variance b (1 + 1/κ) / (a − 1).
    let grid = Grid::new([0.0].into_iter(), 1);
    let family = &Gaussian::new(&[(5.0, 2.0, grid)], (0.5, 4.0, 0.9), 1)[0];
    mean_of_values(family, 5.0, 0.9 * 4.0 * 3.0 / 3.0);
}
