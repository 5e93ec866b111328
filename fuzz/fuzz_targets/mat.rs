//! MATLAB.
#![no_main]

armix_fuzz::target!("x.mat");
