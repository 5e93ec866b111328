//! Steps through the bytes of a binary file: every step checks that the bytes are there.

use super::raw::check_count;
use crate::error::{Error, Result};

/// The bytes that are still to be read, and their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a> {
    pub(super) rest: &'a [u8],
    pub(super) big_endian: bool,
}

impl<'a> Bytes<'a> {
    pub(super) fn little(rest: &'a [u8]) -> Self {
        Bytes { rest, big_endian: false }
    }

    /// The next bytes, as many as are asked for.
    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(count).ok().and_then(|c| self.rest.split_at_checked(c));
        let (taken, rest) = split.ok_or_else(truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// The next N bytes, turned to little endian.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N as u64)?);
        if self.big_endian {
            bytes.reverse();
        }
        Ok(bytes)
    }
}

pub(super) fn truncated() -> Error {
    Error::new(
        "the file ends in the middle of its data: it is truncated or damaged; fetch or write it again",
    )
}

/// The numbers that binary files store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Number {
    /// Bytes of one number.
    pub(super) fn size(self) -> usize {
        match self {
            Number::I8 | Number::U8 => 1,
            Number::I16 | Number::U16 => 2,
            Number::I32 | Number::U32 | Number::F32 => 4,
            Number::I64 | Number::U64 | Number::F64 => 8,
        }
    }

    /// The number in these bytes, which are as many as its size.
    pub(super) fn value(self, bytes: &[u8], big_endian: bool) -> f64 {
        let little = self.little(bytes, big_endian);
        match self {
            Number::F32 => f64::from(f32::from_bits(little as u32)),
            Number::F64 => f64::from_bits(little),
            Number::U8 | Number::U16 | Number::U32 | Number::U64 => little as f64,
            _ => self.signed(little) as f64,
        }
    }

    /// The shortest text that gives this number again; `None` if it is not a number.
    pub(super) fn text(self, bytes: &[u8], big_endian: bool) -> Option<String> {
        let little = self.little(bytes, big_endian);
        match self {
            Number::F32 => {
                Some(f32::from_bits(little as u32)).filter(|x| !x.is_nan()).map(|x| x.to_string())
            }
            Number::F64 => {
                Some(f64::from_bits(little)).filter(|x| !x.is_nan()).map(|x| x.to_string())
            }
            Number::U8 | Number::U16 | Number::U32 | Number::U64 => Some(little.to_string()),
            _ => Some(self.signed(little).to_string()),
        }
    }

    fn signed(self, little: u64) -> i64 {
        let unused = 64 - 8 * self.size() as u32;
        ((little << unused) as i64) >> unused
    }

    fn little(self, bytes: &[u8], big_endian: bool) -> u64 {
        let mut little = [0; 8];
        for (at, &byte) in bytes.iter().take(self.size()).enumerate() {
            little[if big_endian { self.size() - 1 - at } else { at }] = byte;
        }
        u64::from_le_bytes(little)
    }
}

/// Numbers that stand one behind the other; bytes beyond the last whole number are left over.
pub(super) struct Numbers<'a> {
    pub(super) number: Number,
    pub(super) data: &'a [u8],
    pub(super) big_endian: bool,
}

impl Numbers<'_> {
    pub(super) fn len(&self) -> usize {
        self.data.len() / self.number.size()
    }

    pub(super) fn get(&self, at: usize) -> f64 {
        let size = self.number.size();
        self.number.value(&self.data[at * size..(at + 1) * size], self.big_endian)
    }

    /// A number that counts something.
    pub(super) fn count(&self, at: usize, what: &str) -> Result<u64> {
        let value = self.get(at);
        if value < 0.0 || value.fract() != 0.0 || value.is_nan() {
            return Err(Error::new(format!(
                "the file speaks of {value} {what}: it is damaged; write it again"
            )));
        }
        check_count(value as u64, what)?;
        Ok(value as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_both_orders() {
        assert_eq!(Number::I16.value(&[0xfe, 0xff], false), -2.0);
        assert_eq!(Number::I16.value(&[0xff, 0xfe], true), -2.0);
        assert_eq!(Number::U16.value(&[0xfe, 0xff], false), 65534.0);
        assert_eq!(Number::I8.text(&[0xff], true).unwrap(), "-1");
        assert_eq!(Number::I64.text(&i64::MIN.to_be_bytes(), true).unwrap(), i64::MIN.to_string());
        assert_eq!(Number::F32.text(&0.1f32.to_le_bytes(), false).unwrap(), "0.1");
        assert_eq!(Number::F64.value(&0.1f64.to_be_bytes(), true), 0.1);
        assert_eq!(Number::F64.text(&f64::NAN.to_be_bytes(), true), None);
    }

    #[test]
    fn bytes_that_are_not_there() {
        let mut bytes = Bytes::little(&[1, 0, 2]);
        assert_eq!(bytes.u16().unwrap(), 1);
        assert!(bytes.u16().unwrap_err().to_string().contains("truncated"));
        assert!(bytes.take(u64::MAX).is_err());
        assert_eq!(bytes.u8().unwrap(), 2);
    }
}
