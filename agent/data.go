//go:build linux

package agent

import (
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// hasPlaces tells whether some column's {name} stands in the request.
func hasPlaces(request stopwatt.Request, columns []string) bool {
	for _, column := range columns {
		place := "{" + column + "}"
		if strings.Contains(request.Path, place) || strings.Contains(string(request.Body), place) {
			return true
		}
		for _, value := range request.Headers {
			if strings.Contains(value, place) {
				return true
			}
		}
	}
	return false
}

// filled is the request with a row's values at their places: percent-encoded
// in the path, as they are elsewhere.
func filled(request stopwatt.Request, columns, row []string) stopwatt.Request {
	var plain, encoded []string
	for i, column := range columns {
		place := "{" + column + "}"
		plain = append(plain, place, row[i])
		encoded = append(encoded, place, percentEncoded(row[i]))
	}
	text := strings.NewReplacer(plain...)
	request.Path = strings.NewReplacer(encoded...).Replace(request.Path)
	request.Body = []byte(text.Replace(string(request.Body)))
	headers := make(map[string]string, len(request.Headers))
	for name, value := range request.Headers {
		headers[name] = text.Replace(value)
	}
	request.Headers = headers
	return request
}

// percentEncoded encodes all but the unreserved characters (RFC 3986, section
// 2.3), so that a value is one part of a path, or of a query.
func percentEncoded(value string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(value) {
		if isAlphanumeric(c) || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}

func isAlphanumeric(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
