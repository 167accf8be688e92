//! Report in the XML format of JUnit, as CI systems read it.

use std::{collections::BTreeMap, io, time::Duration};

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
    writer::ElementWriter,
};

use crate::{Entry, Report, Verdict};

/// Returns a report as JUnit XML: one test suite for each recording, and one for the hostile scenarios. `name` is that
/// of the whole run.
///
/// # Errors
/// None in practice: the text is written to memory.
pub fn junit(report: &Report, name: &str) -> io::Result<String> {
    let mut suites = BTreeMap::<&str, Vec<(&str, &Entry)>>::new();
    for (key, entry) in report.entries() {
        // A file that could not be played has no scenario.
        let (file, scenario) = key.split_once('/').unwrap_or((key, "start"));
        suites.entry(file).or_default().push((scenario, entry));
    }
    let all: Vec<_> = report.entries().map(|(_, entry)| entry).collect();
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let root = writer.create_element("testsuites").with_attribute(("name", name));
    with_totals(root, &all).write_inner_content(|writer| {
        for (file, entries) in &suites {
            write_suite(writer, report, file, entries)?;
        }
        Ok(())
    })?;
    writer.write_event(Event::Text(BytesText::new("\n")))?;
    String::from_utf8(writer.into_inner()).map_err(io::Error::other)
}

fn write_suite(
    writer: &mut Writer<Vec<u8>>,
    report: &Report,
    file: &str,
    entries: &[(&str, &Entry)],
) -> io::Result<()> {
    let all: Vec<_> = entries.iter().map(|(_, entry)| *entry).collect();
    let suite = writer.create_element("testsuite").with_attribute(("name", file));
    with_totals(suite, &all).write_inner_content(|writer| {
        writer.create_element("properties").write_inner_content(|writer| {
            let property = writer.create_element("property").with_attribute(("name", "comparison"));
            property.with_attribute(("value", valid(&report.about).as_str())).write_empty()?;
            Ok(())
        })?;
        for (scenario, entry) in entries {
            write_case(writer, file, scenario, entry)?;
        }
        Ok(())
    })?;
    Ok(())
}

fn write_case(writer: &mut Writer<Vec<u8>>, file: &str, scenario: &str, entry: &Entry) -> io::Result<()> {
    let Entry { verdict, time, notes } = entry;
    let time = seconds(*time);
    let case = writer.create_element("testcase").with_attribute(("classname", file));
    let case = case.with_attribute(("name", scenario)).with_attribute(("time", time.as_str()));
    case.write_inner_content(|writer| {
        match verdict {
            Verdict::Passed => {}
            Verdict::Failed(failure) => {
                let first = failure.reasons.first().and_then(|reason| reason.lines().next()).unwrap_or_default();
                let element = writer.create_element("failure").with_attribute(("message", valid(first).as_str()));
                let text = valid(&format!("{file}/{scenario}{failure}"));
                element.with_attribute(("type", "conformance")).write_text_content(BytesText::new(&text))?;
            }
            Verdict::Skipped(reason) => {
                writer.create_element("skipped").with_attribute(("message", valid(reason).as_str())).write_empty()?;
            }
        }
        if !notes.is_empty() {
            let text = valid(&notes.join("\n"));
            writer.create_element("system-out").write_text_content(BytesText::new(&text))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Adds the attributes with the numbers of tests and their total time.
fn with_totals<'a, W: io::Write>(element: ElementWriter<'a, W>, entries: &[&Entry]) -> ElementWriter<'a, W> {
    let count = |is: fn(&Verdict) -> bool| entries.iter().filter(|it| is(&it.verdict)).count().to_string();
    let time: Duration = entries.iter().map(|it| it.time).sum();
    let totals = [
        ("tests", entries.len().to_string()),
        ("failures", count(|verdict| matches!(verdict, Verdict::Failed(_)))),
        ("errors", "0".to_owned()),
        ("skipped", count(|verdict| matches!(verdict, Verdict::Skipped(_)))),
        ("time", seconds(time)),
    ];
    element.with_attributes(totals.iter().map(|(key, value)| (*key, value.as_str())))
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// Removes characters that XML 1.0 does not allow, such as the escape sequences of colours in a log.
fn valid(text: &str) -> String {
    let is_valid = |c: &char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    text.chars().filter(|c| is_valid(c) && !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}

#[cfg(test)]
mod tests {
    use quick_xml::{Reader, events::Event};

    use super::*;
    use crate::Failure;

    #[test]
    fn a_report() {
        let mut report = Report::default();
        report.about = "profile p".to_owned();
        let reasons = vec!["slices[0]: missing <1> & \u{1b}[31m\"2\"\nand more".to_owned()];
        let second = Duration::from_secs(1);
        report.insert("core/a", Entry::new(Verdict::Passed, second));
        report.insert("core/b", Entry::new(Verdict::Failed(Failure { step: 2, reasons }), second));
        report.insert("hostile/x/y", Entry::new(Verdict::Skipped("no hints".to_owned()), Duration::ZERO));
        let notes = vec!["writes are not counted".to_owned()];
        report.insert("hostile/z", Entry { notes, ..Entry::new(Verdict::Passed, second) });
        let xml = junit(&report, "slice-conformance").unwrap();
        let expect = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="slice-conformance" tests="4" failures="1" errors="0" skipped="1" time="3.000">
  <testsuite name="core" tests="2" failures="1" errors="0" skipped="0" time="2.000">
    <properties>
      <property name="comparison" value="profile p"/>
    </properties>
    <testcase classname="core" name="a" time="1.000">
    </testcase>
    <testcase classname="core" name="b" time="1.000">
      <failure message="slices[0]: missing &lt;1&gt; &amp; [31m&quot;2&quot;" type="conformance">core/b, step 2:
    slices[0]: missing &lt;1&gt; &amp; [31m&quot;2&quot;
    and more</failure>
    </testcase>
  </testsuite>
  <testsuite name="hostile" tests="2" failures="0" errors="0" skipped="1" time="1.000">
    <properties>
      <property name="comparison" value="profile p"/>
    </properties>
    <testcase classname="hostile" name="x/y" time="0.000">
      <skipped message="no hints"/>
    </testcase>
    <testcase classname="hostile" name="z" time="1.000">
      <system-out>writes are not counted</system-out>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(xml, expect);
        let mut reader = Reader::from_str(&xml);
        while !matches!(reader.read_event().unwrap(), Event::Eof) {}
    }
}
