//! Triangular factors of symmetric matrices, and their inverses.

use crate::special::fast_ln;

/// The numbers of a triangle with its diagonal.
pub(super) fn triangle(d: usize) -> usize {
    d * (d + 1) / 2
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

/// Calls `write` with row, column and number of every entry of W, the inverse of a factor that [`cholesky`] made, up to
/// the diagonal. `column` is room for a vector.
#[inline]
pub(super) fn invert(factor: &[f64], column: &mut [f64], mut write: impl FnMut(usize, usize, f64)) {
    let (d, mut right) = (column.len(), factor);
    for j in 0..d {
        // L w = eⱼ, from the diagonal on.
        column.fill(0.0);
        column[j] = 1.0;
        let mut rest = right;
        for k in j..d {
            let (l, next) = rest.split_at(d - k);
            let w = column[k] * l[0];
            write(k, j, w);
            column[k + 1..].iter_mut().zip(&l[1..]).for_each(|(x, l)| *x -= l * w);
            rest = next;
        }
        right = &right[d - j..];
    }
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
}
