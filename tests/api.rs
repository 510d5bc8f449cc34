//! The programs of the programming model's description run, on every number of PEs and in every manner, with the same
//! output.

#![deny(warnings)]
#![allow(missing_docs)]

mod common;

mod pi {
    include!("programs/pi.rs");

    #[test]
    fn runs() {
        crate::common::same_everywhere::<__Main, _>(
            || (Options { slices: 1000 },),
            &["pi is about 3.141593"],
        );
    }
}

mod jacobi3d {
    include!("programs/jacobi3d.rs");

    #[test]
    fn runs() {
        crate::common::same_everywhere::<__Main, _>(
            || (Config { blocks: 3, cells: 4 },),
            &["sum 0.954310282"],
        );
    }
}

mod leanmd {
    include!("programs/leanmd.rs");

    #[test]
    fn runs() {
        crate::common::same_everywhere::<Driver, _>(|| (), &["energy 11.691702000"]);
    }
}

mod kinds {
    include!("programs/kinds.rs");

    #[test]
    fn runs() {
        let lines = ["Range { low: 0.0, high: 2.0 }", "2 [3.0, 3.0]", "all [0.0, 1.0, 2.0]", "3 reports"];
        crate::common::same_with_all_nodes::<Main, _>(|| (), &lines);
    }
}
