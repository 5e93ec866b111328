//! How much memory this process has taken, where the system tells.

/// The most memory that this process has had so far.
pub(crate) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// For people: in whole MiB.
pub(crate) fn in_mib(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
