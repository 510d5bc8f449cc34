//! Where the libraries of a program are: as the dynamic linker would find them with the variables that ranks have.

use std::ffi::OsString;

use talisman_loader::Search;

/// With the variables of this process, and these (`NAME=VALUE`); of those with the same name the last one.
pub fn search(variables: &[String]) -> Search {
    Search::from_variables(|name| given(variables, name).or_else(|| std::env::var_os(name)))
}

fn given(variables: &[String], name: &str) -> Option<OsString> {
    let mut pairs = variables.iter().rev().filter_map(|variable| variable.split_once('='));
    pairs.find(|(own, _)| *own == name).map(|(_, value)| value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_ranks_come_before_those_of_the_process() {
        let given = ["LD_PRELOAD=liba.so", "LD_LIBRARY_PATH=/a", "LD_PRELOAD=libb.so"].map(String::from);
        let search = search(&given);
        assert_eq!((search.preload, search.library_path), (vec!["libb.so".into()], vec!["/a".into()]));
    }
}
