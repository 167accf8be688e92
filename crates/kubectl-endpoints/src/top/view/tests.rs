//! Screens of 80 columns and 12 lines.
