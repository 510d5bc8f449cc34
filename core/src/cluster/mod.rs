//! A job of several processes: who starts them, watches them and ends them.
