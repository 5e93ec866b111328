//! Long arrays of numbers in little room: base64 of their little-endian bytes, inside JSON.

use crate::base64::base64;
use serde::Serialize;

/// An array of numbers, packed. JavaScript reads it into a typed array of the same type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Packed {
    /// What the bytes are.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The bytes in base64, with padding.
    pub data: String,
}

/// The type of the numbers in a [`Packed`] array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// 32-bit floating point.
    F32,
    /// Bytes.
    U8,
    /// 16-bit integers.
    U16,
    /// 32-bit integers.
    U32,
}

impl Packed {
    /// Packs floating point numbers.
    ///
    /// ```
    /// use armix::report::Packed;
    /// assert_eq!(Packed::f32(&[1.0]).data, "AACAPw==");
    /// ```
    pub fn f32(values: &[f32]) -> Self {
        Packed::from_bytes(Kind::F32, values.iter().flat_map(|v| v.to_le_bytes()))
    }

    /// Packs bytes.
    pub fn u8(values: &[u8]) -> Self {
        Packed::from_bytes(Kind::U8, values.iter().copied())
    }

    /// Packs 16-bit integers.
    pub fn u16(values: &[u16]) -> Self {
        Packed::from_bytes(Kind::U16, values.iter().flat_map(|v| v.to_le_bytes()))
    }

    /// Packs 32-bit integers.
    pub fn u32(values: &[u32]) -> Self {
        Packed::from_bytes(Kind::U32, values.iter().flat_map(|v| v.to_le_bytes()))
    }

    /// Packs pairs of 32-bit integers, one after the other.
    pub fn pairs(pairs: &[(u32, u32)]) -> Self {
        let flat = pairs.iter().flat_map(|&(a, b)| [a, b]);
        Packed::from_bytes(Kind::U32, flat.flat_map(u32::to_le_bytes))
    }

    fn from_bytes(kind: Kind, bytes: impl Iterator<Item = u8>) -> Self {
        Packed { kind, data: base64(&bytes.collect::<Vec<u8>>()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slow way back.
    fn decode(text: &str) -> Vec<u8> {
        let value = |letter: u8| match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            other => panic!("{other} is no letter of base64"),
        };
        let mut bytes = Vec::new();
        let (mut bits, mut held) = (0u32, 0);
        for letter in text.bytes().filter(|&letter| letter != b'=') {
            bits = bits << 6 | u32::from(value(letter));
            held += 6;
            if held >= 8 {
                held -= 8;
                bytes.push((bits >> held) as u8);
                bits &= (1 << held) - 1;
            }
        }
        bytes
    }

    #[test]
    fn arrays_come_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..bytes.len() {
            assert_eq!(decode(&Packed::u8(&bytes[..length]).data), &bytes[..length]);
        }
        let words = [0, 1, 255, 256, 65535];
        let back: Vec<u16> = (decode(&Packed::u16(&words).data).chunks(2))
            .map(|b| u16::from_le_bytes(b.try_into().unwrap()))
            .collect();
        assert_eq!(back, words);
        let integers = [0, 1, 65536, u32::MAX];
        let back: Vec<u32> = (decode(&Packed::u32(&integers).data).chunks(4))
            .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
            .collect();
        assert_eq!(back, integers);
        assert_eq!(Packed::pairs(&[(0, 1), (65536, u32::MAX)]), Packed::u32(&integers));
        let reals = [0.0, -1.5, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY];
        let back: Vec<f32> = (decode(&Packed::f32(&reals).data).chunks(4))
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect();
        assert_eq!(back, reals);
    }

    #[test]
    fn the_type_is_told_as_the_page_expects_it() {
        let json = serde_json::to_value(Packed::u16(&[1])).unwrap();
        assert_eq!(json, serde_json::json!({ "type": "u16", "data": "AQA=" }));
    }
}
