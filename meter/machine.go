package meter

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Machine tells what machine this is, as far as can be read. The version of the
// Docker Engine is left empty.
func (h Host) Machine() stopwatt.Machine {
	info := h.cpuInfo()
	return stopwatt.Machine{
		Name: h.text("proc/sys/kernel/hostname"),
		Identity: stopwatt.MachineIdentity{
			ID:          h.identity(),
			CPUModel:    h.cpuModel(info),
			Cores:       h.cores(),
			Threads:     len(h.online()),
			Caches:      h.caches(),
			SMT:         h.smt(),
			Turbo:       h.turbo(),
			MemoryBytes: h.memory(),
			Virtual:     h.virtual(info),
			CPUInfo:     h.lastingCPUInfo(),
		},
		Epoch: stopwatt.MachineEpoch{
			Kernel:        h.kernel(),
			CommandLine:   h.text("proc/cmdline"),
			Microcode:     info["microcode"],
			Governor:      h.governor(),
			ClockSource:   h.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
			CgroupVersion: h.cgroupVersion(),
		},
	}
}

// kernel is the release of the kernel.
func (h Host) kernel() string { return h.text("proc/sys/kernel/osrelease") }

// identities are the files that name this machine and no other, the best first:
// a board's serial number outlives a new system, and is different on two boards
// that were given copies of one card, which /etc/machine-id is not. The serial
// number of a PC comes last, because only root may read it.
var identities = []string{
	"proc/device-tree/serial-number",
	"etc/machine-id",
	"var/lib/dbus/machine-id",
	"sys/class/dmi/id/product_uuid",
	"sys/class/dmi/id/product_serial",
}

// identity is a hash of the machine's number, empty when it has none. It is
// keyed, as machine-id(5) asks, so that it is of no use outside stopwatt.
func (h Host) identity() string {
	for _, name := range identities {
		number := h.text(name)
		if strings.Trim(number, "0-") == "" || number == "uninitialized" {
			continue
		}
		sum := hmac.New(sha256.New, []byte("stopwatt machine"))
		sum.Write([]byte(number))
		return hex.EncodeToString(sum.Sum(nil)[:16])
	}
	return ""
}

// cpuInfo reads what /proc/cpuinfo says.
func (h Host) cpuInfo() map[string]string {
	text, err := h.read("proc/cpuinfo")
	if err != nil {
		return nil
	}
	return parseCPUInfo(text)
}

// cpuModel is the model of the CPU, or of the board whose CPU does not say.
func (h Host) cpuModel(info map[string]string) string {
	candidates := []string{h.text("proc/device-tree/model"), info["model name"], info["Model"], info["Hardware"]}
	for _, model := range candidates {
		if model != "" {
			return strings.Join(strings.Fields(model), " ")
		}
	}
	if part := info["CPU part"]; part != "" {
		return "implementer " + info["CPU implementer"] + " part " + part
	}
	return ""
}

// online lists the processors that the kernel uses.
func (h Host) online() []int {
	cpus, err := parseRanges(h.text("sys/devices/system/cpu/online"))
	if err != nil {
		return nil
	}
	return cpus
}

// cores is how many cores these are on: threads of one core name the same
// siblings.
func (h Host) cores() int {
	files, _ := filepath.Glob(h.path("sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list"))
	return len(contents(files))
}

// governor is what sets the CPU's frequency; several, when cores differ.
func (h Host) governor() string {
	files, _ := filepath.Glob(h.path("sys/devices/system/cpu/cpufreq/policy[0-9]*/scaling_governor"))
	return strings.Join(contents(files), ", ")
}

// contents returns the different texts of some files, sorted.
func contents(files []string) []string {
	var texts []string
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			texts = append(texts, strings.TrimSpace(string(text)))
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// memory is the memory of the machine in bytes.
func (h Host) memory() int64 {
	text, err := h.read("proc/meminfo")
	if err != nil {
		return 0
	}
	kibibytes, err := parseMemTotal(text)
	if err != nil {
		return 0
	}
	return installed(kibibytes * 1024)
}

// installed is what was built in, when the kernel has so many bytes of it left:
// rounded up to a sixteenth of the next power of two. What a kernel keeps for
// itself changes with its version, and a new kernel is no new machine.
func installed(bytes int64) int64 {
	power := int64(1 << 20)
	for power < bytes {
		power *= 2
	}
	step := power / 16
	return (bytes + step - 1) / step * step
}

// makers are the names that hypervisors give to the machines they make up.
var makers = []string{"QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Bochs", "Parallels", "OpenStack",
	"Virtual Machine", "Google Compute Engine", "Amazon EC2", "DigitalOcean", "Hetzner", "Droplet", "vServer", "bhyve"}

// virtual tells whether the machine runs under a hypervisor: the CPU says so
// on x86, the device tree or the firmware elsewhere.
func (h Host) virtual(info map[string]string) bool {
	if slices.Contains(strings.Fields(info["flags"]), "hypervisor") || h.text("sys/hypervisor/type") != "" {
		return true
	}
	if h.text("proc/device-tree/hypervisor/compatible") != "" || h.text("proc/device-tree/compatible") == "linux,dummy-virt" {
		return true
	}
	made := h.text("sys/class/dmi/id/sys_vendor") + " " + h.text("sys/class/dmi/id/product_name")
	return slices.ContainsFunc(makers, func(maker string) bool { return strings.Contains(made, maker) }) &&
		!strings.Contains(made, ".metal")
}
