package report

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// board is the machine of the examples.
func board() stopwatt.Machine {
	return stopwatt.Machine{
		Name: "odroid-h3",
		Identity: stopwatt.MachineIdentity{
			ID: "5e1c", CPUModel: "Intel(R) Celeron(R) N5105 @ 2.00GHz", Cores: 4, Threads: 4, Caches: "4 × L1d 32K, 1 × L2 1536K, 1 × L3 4096K",
			SMT: "none", Turbo: "off", MemoryBytes: 16 << 30, CPUInfo: "model name\t: Intel(R) Celeron(R) N5105 @ 2.00GHz\n",
		},
		Epoch: stopwatt.MachineEpoch{
			Kernel: "6.1.0-28-amd64", CommandLine: "root=/dev/sda1 quiet", Microcode: "0x24000026", Governor: "performance",
			ClockSource: "tsc", EngineVersion: "27.3.1", CgroupVersion: "2",
		},
	}
}

func findings() []stopwatt.Finding {
	const pad = "until the next boot"
	return []stopwatt.Finding{
		{Subject: "docker", Verdict: stopwatt.Fit, Says: "27.3.1, cgroup v2, overlay2, 41 GB free"},
		{Subject: "governor", Verdict: stopwatt.Doubtful, Says: "schedutil on 4 of 4 CPUs: speed follows load", Remedies: []stopwatt.Remedy{
			{When: pad, Line: "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
		}},
		{Subject: "virtual", Verdict: stopwatt.Doubtful, Says: "this is a virtual machine: others on its host make its figures waver, unseen from here (0.3 % of the CPU time was taken away since boot)"},
		{Subject: "energy_board", Verdict: stopwatt.Fit, Says: "ina226 0-0040: 4.18 W now, renewed every 140ms"},
		{Subject: "energy_cpu", Verdict: stopwatt.Unfit, Says: "RAPL is here (package-0) but only root may read it", Metrics: []string{"energy_cpu", "power_cpu"}, Remedies: []stopwatt.Remedy{
			{When: pad, Line: "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"},
			{Line: "echo 'z /sys/class/powercap/intel-rapl:*/energy_uj 0444' | sudo tee /etc/tmpfiles.d/stopwatt.conf"},
		}},
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	for file, write := range map[string]func(*bytes.Buffer) error{
		"doctor.txt": func(b *bytes.Buffer) error {
			return Findings(b, board(), findings(), "time", "energy_board", "energy_cpu")
		},
		"doctor.json": func(b *bytes.Buffer) error { return FindingsJSON(b, board(), findings(), "time", "energy_cpu") },
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, file, out.Bytes())
		})
	}
}

func TestFindingsSayHowManyAreNotWell(t *testing.T) {
	t.Parallel()
	of := func(verdicts ...stopwatt.Fitness) []stopwatt.Finding {
		var all []stopwatt.Finding
		for _, v := range verdicts {
			all = append(all, stopwatt.Finding{Verdict: v})
		}
		return all
	}
	for _, test := range []struct {
		findings []stopwatt.Finding
		want     string
	}{
		{nil, "All is well."},
		{of(stopwatt.Fit, stopwatt.Fit), "All is well."},
		{of(stopwatt.Doubtful), "1 warning."},
		{of(stopwatt.Doubtful, stopwatt.Unfit, stopwatt.Doubtful), "1 unfit, 2 warnings."},
		{of(stopwatt.Unfit, stopwatt.Unfit), "2 unfit, 0 warnings."},
	} {
		var out bytes.Buffer
		if err := Findings(&out, stopwatt.Machine{}, test.findings); err != nil || !strings.HasSuffix(out.String(), test.want+"\n") {
			t.Errorf("%v: %q does not end with %q", err, out.String(), test.want)
		}
	}
}

func TestRemediesAreOneLineAndAllElseIsNarrow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	name := hostileNames(random)
	for range 40 {
		var found []stopwatt.Finding
		remedies := map[string]bool{}
		for range random.IntN(6) {
			f := stopwatt.Finding{Subject: name(), Verdict: stopwatt.Fitness(name()), Says: name() + " " + name()}
			for range random.IntN(3) {
				r := stopwatt.Remedy{When: name(), Line: "sudo " + name() + name()}
				remedies[Clean(r.Line)] = true
				f.Remedies = append(f.Remedies, r)
			}
			found = append(found, f)
		}
		var text, encoded bytes.Buffer
		machine := stopwatt.Machine{Name: name(), Identity: stopwatt.MachineIdentity{CPUModel: name(), Cores: 2}}
		if err := Findings(&text, machine, found, name()); err != nil {
			t.Fatal(err)
		}
		var others []string
		for line := range strings.Lines(text.String()) {
			if at := strings.Index(line, "sudo "); at >= 0 && remedies[strings.TrimSuffix(line[at:], "\n")] {
				delete(remedies, strings.TrimSuffix(line[at:], "\n"))
				line = strings.Repeat(" ", 7) + "\n"
			}
			others = append(others, line)
		}
		if len(remedies) > 0 {
			t.Fatalf("no line ends with the remedies %v:\n%s", remedies, text.String())
		}
		narrow(t, strings.Join(others, ""), 80)
		if err := FindingsJSON(&encoded, machine, found, name()); err != nil || !json.Valid(encoded.Bytes()) {
			t.Fatalf("%v, no JSON: %s", err, encoded.String())
		}
	}
}
