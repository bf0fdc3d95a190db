package main

import (
	"strconv"
	"strings"
)

// A point in thousandths, so that every language computes and prints it alike.
type point struct{ x, y int32 }

// csvSVGPath draws the points of a CSV text as one path. The query is not looked at.
func csvSVGPath(_ string, body []byte) []byte {
	points := parsePoints(string(body))
	if points == nil {
		return nil
	}
	return drawPath(points)
}

// parsePoints reads the header "x,y", then a line "number,number" for each point. The last line may lack its newline;
// nothing else may be missing, or there: nil is returned then.
func parsePoints(text string) []point {
	text, found := strings.CutPrefix(text, "x,y\n")
	if !found {
		return nil
	}
	var points []point
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		left, right, found := strings.Cut(line, ",")
		x, xOK := thousandths(left)
		y, yOK := thousandths(right)
		if !found || !xOK || !yOK {
			return nil
		}
		points = append(points, point{x, y})
	}
	return points
}

// thousandths reads -?[0-9]{1,6}(\.[0-9]{1,3})?
func thousandths(text string) (value int32, ok bool) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, dotted := strings.Cut(digits, ".")
	if len(whole) < 1 || len(whole) > 6 || len(fraction) > 3 || dotted && fraction == "" {
		return 0, false
	}
	for _, part := range [2]string{whole, fraction} {
		for _, digit := range []byte(part) {
			if digit < '0' || digit > '9' {
				return 0, false
			}
			value = value*10 + int32(digit-'0')
		}
	}
	for range 3 - len(fraction) {
		value *= 10
	}
	if negative {
		value = -value
	}
	return value, true
}

// drawPath writes an SVG document that shows all the points. SVG's y grows downward, the CSV's upward.
func drawPath(points []point) []byte {
	lowest, highest := points[0], points[0]
	for _, p := range points {
		lowest = point{min(lowest.x, p.x), min(lowest.y, p.y)}
		highest = point{max(highest.x, p.x), max(highest.y, p.y)}
	}
	var svg []byte
	svg = append(svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="`...)
	svg = appendPair(svg, lowest.x, -highest.y)
	svg = append(svg, ' ')
	svg = appendPair(svg, highest.x-lowest.x, highest.y-lowest.y)
	svg = append(svg, `"><path fill="none" stroke="black" d="`...)
	for i, p := range points {
		if i == 0 {
			svg = append(svg, 'M')
		} else {
			svg = append(svg, " L"...)
		}
		svg = appendPair(svg, p.x, -p.y)
	}
	return append(svg, "\"/></svg>\n"...)
}

func appendPair(text []byte, x, y int32) []byte {
	text = appendThousandths(text, x)
	text = append(text, ' ')
	return appendThousandths(text, y)
}

// appendThousandths always prints three decimals: -1500 is -1.500.
func appendThousandths(text []byte, value int32) []byte {
	if value < 0 {
		text = append(text, '-')
		value = -value
	}
	text = strconv.AppendInt(text, int64(value/1000), 10)
	return append(text, '.', '0'+byte(value%1000/100), '0'+byte(value%100/10), '0'+byte(value%10))
}
