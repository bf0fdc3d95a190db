//! Draws the points of a CSV text as one SVG path.

/// A point in thousandths, so that every language computes and prints it alike.
#[derive(Clone, Copy)]
struct Point {
    x: i32,
    y: i32,
}

pub fn svg_path(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    parse_points(text).map(|points| draw_path(&points))
}

/// Reads the header "x,y", then a line "number,number" for each of one or more points. The last line may lack its
/// newline; nothing else may be missing, or there.
fn parse_points(text: &str) -> Option<Vec<Point>> {
    let mut text = text.strip_prefix("x,y\n")?;
    let mut points = Vec::new();
    while !text.is_empty() {
        let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
        let (x, y) = line.split_once(',')?;
        points.push(Point { x: thousandths(x)?, y: thousandths(y)? });
        text = rest;
    }
    Some(points).filter(|points| !points.is_empty())
}

/// Reads -?[0-9]{1,6}(\.[0-9]{1,3})?
fn thousandths(text: &str) -> Option<i32> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match digits.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (digits, ""),
    };
    if whole.is_empty() || whole.len() > 6 || fraction.len() > 3 {
        return None;
    }
    let mut value = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i32::from(digit - b'0');
    }
    value *= [1000, 100, 10, 1][fraction.len()];
    Some(if digits.len() < text.len() { -value } else { value })
}

/// Writes an SVG document that shows all the points, of which there is at least one. SVG's y grows downward, the CSV's
/// upward.
fn draw_path(points: &[Point]) -> String {
    let (mut lowest, mut highest) = (points[0], points[0]);
    for point in points {
        lowest = Point { x: lowest.x.min(point.x), y: lowest.y.min(point.y) };
        highest = Point { x: highest.x.max(point.x), y: highest.y.max(point.y) };
    }
    let mut svg = String::new();
    svg.push_str("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"");
    push_pair(&mut svg, lowest.x, -highest.y);
    svg.push(' ');
    push_pair(&mut svg, highest.x - lowest.x, highest.y - lowest.y);
    svg.push_str("\"><path fill=\"none\" stroke=\"black\" d=\"");
    for (i, point) in points.iter().enumerate() {
        svg.push_str(if i == 0 { "M" } else { " L" });
        push_pair(&mut svg, point.x, -point.y);
    }
    svg.push_str("\"/></svg>\n");
    svg
}

fn push_pair(text: &mut String, x: i32, y: i32) {
    push_thousandths(text, x);
    text.push(' ');
    push_thousandths(text, y);
}

/// Always prints three decimals: -1500 is -1.500.
fn push_thousandths(text: &mut String, value: i32) {
    if value < 0 {
        text.push('-');
    }
    // Digits come last first, into the end of a buffer that holds the longest value: 2147483.647.
    let mut digits = [b'0'; 11];
    let mut rest = value.unsigned_abs();
    let mut at = digits.len();
    while rest > 0 || at > digits.len() - 5 {
        at -= 1;
        if at == digits.len() - 4 {
            digits[at] = b'.';
        } else {
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    }
    text.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}
