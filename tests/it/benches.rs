//! Benches: do the packs load that they run, and does each counted scenario have a baseline?

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

#[test]
fn a_scenario_runs_and_has_a_baseline() {
    let baseline = include_str!("../../benches/baselines/instructions.tsv");
    let rows = baseline.lines().filter(|line| !line.starts_with('#')).skip(1);
    let names: Vec<&str> = rows.map(|row| row.rsplit_once('\t').unwrap().0).collect();
    let scenarios = corpus::scenarios::all();
    assert_eq!(names, scenarios.iter().map(|scenario| &scenario.name).collect::<Vec<_>>());
    for scenario in scenarios {
        (scenario.prepare)()();
    }
}
