//! Benches: do the packs load that they run?

#[path = "../../benches/corpus/mod.rs"]
mod corpus;

#[test]
fn the_packs_of_benches_load() {
    let packs = [
        corpus::couple_ai(),
        corpus::writers_factory(true),
        corpus::writers_factory(false),
        corpus::dce(),
        corpus::dce_object(),
        corpus::one_object(),
    ];
    assert!(packs.iter().all(|program| program.modes().next().is_some()));
}
