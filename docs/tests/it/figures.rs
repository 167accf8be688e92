//! Figures of the README: they are those of the report and of the measurements on a real API server.

use kube_endpoints_testing::repository::text_of;

/// Returns the cells of the row of a table whose first cell starts with a text.
fn row<'a>(page: &'a str, start: &str) -> Vec<&'a str> {
    let line = page.lines().find(|line| line.starts_with(&format!("| {start}")));
    let line = line.unwrap_or_else(|| panic!("no row starts with {start:?}"));
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// Returns the median and the unit in `CPU 0.52 / 0.53 / 0.58 s`.
fn median(figure: &str) -> String {
    let words: Vec<&str> = figure.split_whitespace().collect();
    format!("{} {}", words[3], words[6])
}

#[test]
fn the_readme_has_the_figures_of_the_reports() {
    let readme = text_of("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let scale = text_of("docs/src/scale.md");
    let start = "start to everything written";
    let [_, go, ours] = row(&scale, start)[..] else { panic!("three columns") };
    let results = text_of("docs/src/scale/results.md");
    let (cpu, memory) = row(&results, start)[4].split_once("; ").expect("CPU and memory");
    let (our_cpu, our_memory) = ours.split_once(" / ").expect("CPU and memory");
    let (go_cpu, go_memory) = go.split_once(" / ").expect("CPU and memory");
    for sentence in [
        format!("took {our_cpu} of CPU time and {our_memory};"),
        format!("kube-controller-manager 1.36.2 took {go_cpu} and {go_memory} on the same machine"),
        format!("measures {} and {}.", median(cpu), median(memory)),
    ] {
        assert!(readme.contains(&sentence), "README.md has not: {sentence}");
    }
}
