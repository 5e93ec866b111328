//! Packed files: gzip and zip.
#![no_main]

armix_fuzz::target!("x.edges.gz", "x.zip");
