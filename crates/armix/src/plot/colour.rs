//! Colours that can be told apart by everybody, on paper too.

/// A colour by its shares of red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

pub(super) const BLACK: Colour = Colour(0, 0, 0);
pub(super) const WHITE: Colour = Colour(255, 255, 255);
/// Behind what does not count.
pub(super) const SHADE: Colour = Colour(232, 232, 232);
/// Frames and reference lines.
pub(super) const GREY: Colour = Colour(150, 150, 150);

/// The palette of Okabe and Ito, which the colour-blind can tell apart; its pale yellow comes last.
pub(super) const OKABE_ITO: [Colour; 8] = [
    Colour(0, 114, 178),
    Colour(213, 94, 0),
    Colour(0, 158, 115),
    Colour(204, 121, 167),
    Colour(0, 0, 0),
    Colour(230, 159, 0),
    Colour(86, 180, 233),
    Colour(240, 228, 66),
];

/// Patterns of dashes in points, for print without colours.
const DASHES: [&[f64]; 4] = [&[], &[4.0, 1.2], &[1.5, 1.0], &[5.0, 1.2, 1.2, 1.2]];

/// The colour of a group. It comes again after eight groups, with other dashes.
pub(super) fn of_group(group: usize) -> Colour {
    OKABE_ITO[group % OKABE_ITO.len()]
}

/// The dashes of a group.
pub(super) fn dashes(group: usize) -> &'static [f64] {
    DASHES[(group + group / OKABE_ITO.len()) % DASHES.len()]
}

/// Eleven colours of the viridis map, evenly spaced.
const VIRIDIS: [Colour; 11] = [
    Colour(0x44, 0x01, 0x54),
    Colour(0x48, 0x24, 0x75),
    Colour(0x41, 0x44, 0x87),
    Colour(0x35, 0x5f, 0x8d),
    Colour(0x2a, 0x78, 0x8e),
    Colour(0x21, 0x91, 0x8c),
    Colour(0x22, 0xa8, 0x84),
    Colour(0x44, 0xbf, 0x70),
    Colour(0x7a, 0xd1, 0x51),
    Colour(0xbd, 0xdf, 0x26),
    Colour(0xfd, 0xe7, 0x25),
];

/// A colour of the viridis map for a value from 0 to 1.
pub(super) fn viridis(value: f64) -> Colour {
    let place = value.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let at = (place as usize).min(VIRIDIS.len() - 2);
    mixed(VIRIDIS[at], VIRIDIS[at + 1], place - at as f64)
}

/// A colour between two others; 0 gives the first, 1 the second.
pub(super) fn mixed(a: Colour, b: Colour, share: f64) -> Colour {
    let mix = |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
    Colour(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn groups_differ_in_colour_or_dashes() {
        let mut seen = HashSet::new();
        for group in 0..32 {
            let Colour(r, g, b) = of_group(group);
            assert!(seen.insert((r, g, b, format!("{:?}", dashes(group)))), "group {group}");
        }
    }

    #[test]
    fn the_map_goes_from_dark_to_bright() {
        assert_eq!(viridis(0.0), VIRIDIS[0]);
        assert_eq!(viridis(1.0), VIRIDIS[10]);
        assert_eq!(viridis(0.5), VIRIDIS[5]);
        let brightness =
            |c: Colour| 0.2126 * f64::from(c.0) + 0.7152 * f64::from(c.1) + 0.0722 * f64::from(c.2);
        let steps: Vec<f64> = (0..256).map(|i| brightness(viridis(f64::from(i) / 255.0))).collect();
        assert!(steps.windows(2).all(|w| w[0] <= w[1] + 1.0));
    }
}
