//! Fuzz targets of the file readers: what they all call.

#[path = "../../crates/armix/tests/invariants/mod.rs"]
pub mod invariants;

pub use libfuzzer_sys;

/// A target that reads its input under a name with each of these endings.
#[macro_export]
macro_rules! target {
    ($($name:literal),+) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            $($crate::invariants::check_all($name, bytes);)+
        });
    };
}
