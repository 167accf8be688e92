//! Plots of measurements as SVG.

use anyhow::anyhow;
use plotters::{
    prelude::{
        BLACK, ChartBuilder, Color as _, IntoDrawingArea as _, IntoLogRange as _, LineSeries, Palette as _, Palette99,
        PathElement, SVGBackend, SeriesLabelPosition, WHITE,
    },
    style::{IntoFont as _, RGBColor},
};

use super::{growth::sizes, outcome::Outcome};

/// Name and points of a line.
type Line = (String, Vec<(f64, f64)>);

/// Title and axes of a plot.
struct Frame {
    title: &'static str,
    x: &'static str,
    y: &'static str,
    /// Whether the x axis is logarithmic.
    log: bool,
}

/// Returns file name and SVG of each plot that has points.
pub(crate) fn plots(outcomes: &[Outcome]) -> anyhow::Result<Vec<(&'static str, String)>> {
    let latency = Frame { title: "Readiness acknowledged to slice seen", x: "percent of all", y: "ms", log: false };
    let memory = Frame { title: "Memory until everything is written", x: "seconds", y: "MiB resident", log: false };
    let pods = Frame { title: "CPU of a change, by Pods", x: "Pods", y: "ms", log: true };
    let services = Frame { title: "CPU of a change, by Services of a namespace", x: "Services", y: "ms", log: true };
    let cpu_by_size = |what: &str| {
        let points: Vec<(f64, f64)> = sizes(outcomes, what).iter().map(|it| (as_f64(it.count), it.cpu)).collect();
        Some((String::new(), points)).filter(|(_, points)| points.len() > 1).into_iter().collect()
    };
    let curve = |it: &Outcome| {
        let curve = it.latencies.as_ref().filter(|_| it.under_attack.is_none())?.curve.clone();
        Some((it.name.clone(), curve))
    };
    let memory_over_time = |it: &Outcome| {
        let points = it.timeline.iter().map(|(at, _, resident)| (*at, *resident)).collect();
        matches!(it.name.as_str(), "start" | "resume" | "namespace" | "big" | "big-resume")
            .then(|| (it.name.clone(), points))
    };
    let all: [(&str, Frame, Vec<Line>); 4] = [
        ("latency.svg", latency, outcomes.iter().filter_map(curve).collect()),
        ("memory.svg", memory, outcomes.iter().filter_map(memory_over_time).collect()),
        ("growth-pods.svg", pods, cpu_by_size("pods")),
        ("growth-services.svg", services, cpu_by_size("services")),
    ];
    let drawn = all.into_iter().filter(|(_, _, lines)| !lines.is_empty());
    drawn.map(|(name, frame, lines)| Ok((name, draw(&frame, &lines)?))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

fn draw(frame: &Frame, lines: &[Line]) -> anyhow::Result<String> {
    let points = || lines.iter().flat_map(|(_, points)| points.iter().copied());
    let max = |of: fn((f64, f64)) -> f64| points().map(of).fold(f64::MIN_POSITIVE, f64::max);
    let min_x = points().map(|it| it.0).fold(f64::MAX, f64::min);
    let (x, y) = (max(|it| it.0), max(|it| it.1) * 1.1);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (720, 360)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area);
        chart.caption(frame.title, ("sans-serif", 18)).margin(16).x_label_area_size(40).y_label_area_size(56);
        macro_rules! draw {
            ($range:expr) => {{
                let mut chart = chart.build_cartesian_2d($range, 0.0..y)?;
                chart.configure_mesh().x_desc(frame.x).y_desc(frame.y).light_line_style(WHITE).draw()?;
                for (at, (name, points)) in lines.iter().enumerate() {
                    let (red, green, blue) = Palette99::pick(at).to_rgba().rgb();
                    let colour = RGBColor(red, green, blue);
                    let line = chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
                    if !name.is_empty() {
                        line.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
                    }
                }
                if lines.iter().any(|(name, _)| !name.is_empty()) {
                    let labels = &mut chart.configure_series_labels();
                    let labels = labels.position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8));
                    labels.border_style(BLACK.mix(0.3)).label_font(("sans-serif", 13).into_font()).draw()?;
                }
            }};
        }
        if frame.log {
            draw!((min_x..x).log_scale());
        } else {
            draw!(0.0..x);
        }
        area.present().map_err(|error| anyhow!("{error}"))?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plot_has_lines_with_names() {
        let lines = vec![
            ("ours".to_owned(), vec![(1.0, 2.0), (10.0, 3.0)]),
            ("theirs".to_owned(), vec![(1.0, 4.0), (10.0, 9.0)]),
        ];
        for log in [false, true] {
            let svg = draw(&Frame { title: "Costs", x: "Pods", y: "ms", log }, &lines).unwrap();
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
            for text in ["Costs", "Pods", "ours", "theirs"] {
                assert!(svg.contains(text), "{text}");
            }
            assert!(svg.matches("<polyline").count() >= 2, "{svg}");
        }
    }
}
