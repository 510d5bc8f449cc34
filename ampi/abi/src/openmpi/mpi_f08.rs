//! What Open MPI's library for `use mpi_f08` (libmpi_usempif08) wants of that for `mpif.h`: the same functions by other
//! names. It is loaded as the distribution has it; handles are integers inside of its types, and all else is given on
//! as it came.

/// The name that such a function has in the table; none if it is no such name.
pub fn inner_name(name: &str) -> Option<String> {
    // Persistent collectives came as an extension.
    let bare = name.strip_prefix("ompi_").or_else(|| name.strip_prefix("ompix_"))?;
    bare.strip_suffix("_f").map(|bare| format!("mpi_{bare}"))
}

#[cfg(test)]
mod tests {
    use super::inner_name;

    #[test]
    fn functions_of_the_inside_are_those_of_fortran() {
        assert_eq!(inner_name("ompi_send_f").as_deref(), Some("mpi_send"));
        assert_eq!(inner_name("ompix_bcast_init_f").as_deref(), Some("mpi_bcast_init"));
        assert_eq!([inner_name("ompi_mpi_int"), inner_name("mpi_send_f")], [None, None]);
    }
}
