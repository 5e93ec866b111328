//! Makes long lines short without changing how they look.

/// The smallest and the largest value of each of so many equal stretches, in the order in which
/// they come, as (position, value). Short lines stay whole. Values that are not finite end a piece:
/// every piece is a line of its own.
pub(super) fn pieces(values: &[f64], columns: usize) -> Vec<Vec<(usize, f64)>> {
    let mut pieces = vec![Vec::new()];
    let mut add = |at: usize| {
        let value = values[at];
        if value.is_finite() {
            pieces.last_mut().expect("there is always a piece").push((at, value));
        } else if pieces.last().is_some_and(|piece| !piece.is_empty()) {
            pieces.push(Vec::new());
        }
    };
    if values.len() <= 2 * columns {
        (0..values.len()).for_each(&mut add);
    } else {
        for column in 0..columns {
            let begin = column * values.len() / columns;
            let end = (column + 1) * values.len() / columns;
            extremes(values, begin, end).into_iter().for_each(&mut add);
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Where the smallest and the largest finite value of a stretch are, in order. A stretch without
/// finite values is told by its first.
fn extremes(values: &[f64], begin: usize, end: usize) -> Vec<usize> {
    let finite = || (begin..end).filter(|&at| values[at].is_finite());
    let least = finite().min_by(|&a, &b| values[a].total_cmp(&values[b]));
    let largest = finite().max_by(|&a, &b| values[a].total_cmp(&values[b]));
    match (least, largest) {
        (Some(a), Some(b)) if a == b => vec![a],
        (Some(a), Some(b)) => vec![a.min(b), a.max(b)],
        _ => vec![begin],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_stay_whole() {
        assert_eq!(pieces(&[3.0, 1.0], 1), [vec![(0, 3.0), (1, 1.0)]]);
        assert!(pieces(&[], 5).is_empty());
    }

    #[test]
    fn long_lines_keep_their_extremes() {
        let values: Vec<f64> =
            (0..100_000u32).map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 8)).collect();
        let thin = pieces(&values, 100);
        assert_eq!(thin.len(), 1);
        assert!(thin[0].len() <= 200);
        for column in 0..100 {
            let stretch = &values[column * 1000..(column + 1) * 1000];
            let kept = thin[0].iter().filter(|p| p.0 / 1000 == column).map(|p| p.1);
            let kept: Vec<f64> = kept.collect();
            for extreme in [f64::min, f64::max] {
                let all = stretch.iter().copied().reduce(extreme);
                assert_eq!(kept.iter().copied().reduce(extreme), all);
            }
        }
        assert!(thin[0].windows(2).all(|w| w[0].0 < w[1].0));
    }

    #[test]
    fn gaps_part_a_line() {
        let parts = pieces(&[1.0, f64::NAN, f64::NAN, 2.0, f64::NEG_INFINITY], 10);
        assert_eq!(parts, [vec![(0, 1.0)], vec![(3, 2.0)]]);
        let mut long = vec![1.0; 1000];
        long[300..700].fill(f64::NAN);
        assert_eq!(pieces(&long, 10).len(), 2);
    }
}
