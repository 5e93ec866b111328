//! Triangular factors of symmetric matrices, and their inverses in a form that is fast to multiply with.

use crate::special::fast_ln;

/// Inverses are multiplied by tiles of so many rows and columns.
const SIDE: usize = 4;
const TILE: usize = SIDE * SIDE;

/// The numbers of a triangle with its diagonal.
pub(super) fn triangle(d: usize) -> usize {
    d * (d + 1) / 2
}

/// The length of vectors that are multiplied with inverses: zeros fill the last tile.
pub(super) fn padded(d: usize) -> usize {
    d.next_multiple_of(SIDE)
}

/// The numbers of an inverse in tiles.
pub(super) fn tiled(d: usize) -> usize {
    TILE * triangle(d.div_ceil(SIDE))
}

/// Factorises a matrix that is given below its diagonal, column after column, in place: A = L Lᵀ. The diagonal of L is
/// inverted. Says ln |A|.
///
/// A − `least` I is positive semi-definite, so that no pivot is smaller than `least`. Beside rows that are 10⁸ standard
/// deviations away rounding would make it so, or even 0.
pub(super) fn cholesky(matrix: &mut [f64], d: usize, least: f64) -> f64 {
    let (mut ln_det, mut start) = (0.0, 0);
    for j in 0..d {
        let length = d - j;
        let (done, rest) = matrix[start..].split_at_mut(length);
        let inverse = 1.0 / done[0].max(least).sqrt();
        ln_det -= 2.0 * fast_ln(inverse);
        done[0] = inverse;
        done[1..].iter_mut().for_each(|x| *x *= inverse);
        let mut at = 0;
        for k in 1..length {
            let factor = done[k];
            let column = &mut rest[at..at + length - k];
            column.iter_mut().zip(&done[k..]).for_each(|(x, l)| *x -= factor * l);
            at += length - k;
        }
        start += length;
    }
    ln_det
}

/// The inverse W of a factor that [`cholesky`] made, in tiles: those of its first rows, those of the next ones and so on,
/// each up to the diagonal and column after column. `column` is room for a padded vector.
pub(super) fn invert(factor: &[f64], d: usize, column: &mut [f64], inverse: &mut [f64]) {
    inverse.fill(0.0);
    let mut right = factor;
    for j in 0..d {
        // L w = eⱼ, from the diagonal on.
        column.fill(0.0);
        column[j] = 1.0;
        let mut rest = right;
        for k in j..d {
            let (l, next) = rest.split_at(d - k);
            let w = column[k] * l[0];
            column[k] = w;
            column[k + 1..].iter_mut().zip(&l[1..]).for_each(|(x, l)| *x -= l * w);
            rest = next;
        }
        for (tiles, rows) in column.chunks_exact(SIDE).enumerate().skip(j / SIDE) {
            inverse[TILE * triangle(tiles) + SIDE * j..][..SIDE].copy_from_slice(rows);
        }
        right = &right[d - j..];
    }
}

/// x = y − m, all of them padded.
#[inline(always)]
pub(super) fn difference(y: &[f64], m: &[f64], x: &mut [f64]) {
    let (y, m) = (y.as_chunks::<SIDE>().0, m.as_chunks::<SIDE>().0);
    for ((x, y), m) in x.as_chunks_mut::<SIDE>().0.iter_mut().zip(y).zip(m) {
        *x = std::array::from_fn(|lane| y[lane] - m[lane]);
    }
}

/// |W x|², for an inverse in tiles and a padded x.
#[inline]
pub(super) fn squared_norm(inverse: &[f64], x: &[f64]) -> f64 {
    let (mut squares, mut rest) = ([0.0; SIDE], inverse);
    for last in 1..=x.len() / SIDE {
        let (tiles, next) = rest.split_at(TILE * last);
        // Four rows, each with two sums that do not wait for each other.
        let (mut even, mut odd) = ([0.0; SIDE], [0.0; SIDE]);
        for (tile, x) in tiles.as_chunks::<TILE>().0.iter().zip(x.as_chunks::<SIDE>().0) {
            for row in 0..SIDE {
                even[row] += tile[row] * x[0];
                odd[row] += tile[SIDE + row] * x[1];
                even[row] += tile[2 * SIDE + row] * x[2];
                odd[row] += tile[3 * SIDE + row] * x[3];
            }
        }
        for row in 0..SIDE {
            let sum = even[row] + odd[row];
            squares[row] += sum * sum;
        }
        rest = next;
    }
    (squares[0] + squares[1]) + (squares[2] + squares[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ψ I + 10²⁰ vvᵀ with v = (1, 1): its last pivot is 2ψ, of which rounding leaves nothing.
    #[test]
    fn rounding_makes_no_matrix_singular() {
        let (psi, far) = (0.5, 1e20);
        let ln_det = cholesky(&mut [psi + far, far, psi + far], 2, psi);
        let exact = (2.0 * psi * far).ln();
        assert!((ln_det - exact).abs() < 1.0, "{ln_det}, not {exact}");
    }

    /// xᵀ A⁻¹ x by solving L u = x, one number after the other.
    fn by_solving(factor: &[f64], x: &[f64]) -> f64 {
        let (mut u, mut rest, mut sum) = (x.to_vec(), factor, 0.0);
        for k in 0..x.len() {
            let solved = u[k] * rest[0];
            (k + 1..x.len()).for_each(|i| u[i] -= rest[i - k] * solved);
            sum += solved * solved;
            rest = &rest[x.len() - k..];
        }
        sum
    }

    /// For matrices of all sizes around those of tiles, also where one direction is 10⁸ times as wide as the others.
    #[test]
    fn the_inverse_in_tiles_gives_what_solving_gives() {
        for (d, wide) in (1..=13).flat_map(|d| [(d, 1.0), (d, 1e8)]) {
            let entry = |i: usize, step: usize| ((i * i * step + 3 * i) % 17) as f64 / 17.0 - 0.4;
            let mut factor = Vec::new();
            for j in 0..d {
                for i in j..d {
                    let sum: f64 = (1..20).map(|s| entry(i + s, s) * entry(j + s, s)).sum();
                    let far = wide * wide * entry(i, 1) * entry(j, 1);
                    factor.push(sum + far + f64::from(u8::from(i == j)));
                }
            }
            cholesky(&mut factor, d, 1.0);
            let mut inverse = vec![f64::NAN; tiled(d)];
            invert(&factor, d, &mut vec![f64::NAN; padded(d)], &mut inverse);
            for step in 1..5 {
                let mut x: Vec<f64> = (0..d).map(|i| entry(i + 5, step)).collect();
                let exact = by_solving(&factor, &x);
                x.resize(padded(d), 0.0);
                let fast = squared_norm(&inverse, &x);
                let error = (fast - exact).abs() / exact.max(1e-3);
                assert!(error < 1e-13 * wide, "{fast}, not {exact}, for d = {d}, {wide}");
            }
        }
    }
}
