package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serverOf is a server of an archive, as it stands on its day.
func serverOf(m *memory) *Server {
	return &Server{Archive: m, Alarms: m, Now: func() time.Time { return today }}
}

// ask asks for one address.
func ask(t *testing.T, s *Server, address string) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	s.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, address, nil))
	return answer
}

// addresses are a page of each kind.
func addresses(n names) map[string]string {
	suite := pastOf(n).runs[0].line.Suite
	last := n.implementations[len(n.implementations)-1] + "/" + n.workloads[0]
	first := n.implementations[0] + "/" + n.workloads[0]
	return map[string]string{
		"overview":     "/",
		"suite":        suiteAddress(suite),
		"suite-energy": suiteAddress(suite, "metric", "energy_board", "as", "percent"),
		"series":       seriesAddress(suite, "metric", "energy_board_gross", "case", last),
		"overlaid":     seriesAddress(suite, "metric", "time", "case", last, "case", first, "scale", "log"),
		"relation":     seriesAddress(suite, "metric", "time", "case", last, "against", n.implementations[0]),
		"compare":      compareAddress(suite, "a", "393", "b", "411"),
		"between":      compareAddress(suite, "from", n.implementations[0], "to", n.implementations[1]),
		"run":          "/runs/412",
		"trial":        "/runs/412/trials/1",
		"failed":       "/runs/412/trials/3",
		"alerts":       "/alerts",
		"machines":     "/machines",
		"machine":      machineAddress(boardFingerprint),
		"badge":        address("/badges/"+strings.TrimPrefix(suitePath(suite), "/s/")+".svg", "project", suite.Project, "metric", "time", "case", last),
	}
}

func TestEveryPageIsThere(t *testing.T) {
	t.Parallel()
	s := serverOf(pastOf(plainNames))
	for name, address := range addresses(plainNames) {
		answer := ask(t, s, address)
		if answer.Code != http.StatusOK {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}
}
